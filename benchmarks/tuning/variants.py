"""Ablations of elolab's method: the change of its regret when a constant of the method has another value."""

from __future__ import annotations

import ast
import math
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from elolab.tuning import study

Regrets = Callable[[str, int, str], Sequence[float]]
"""A function of a landscape, a budget in games and a variant; it returns one regret per seed, in Elo."""


@contextmanager
def constant(variant: str) -> Iterator[None]:
    """Context manager that gives a constant of ``elolab.tuning.study`` another value; ``variant`` is NAME=VALUE.

    The constant is changed in every module that imports it. Raises ``SystemExit`` if no module has it.
    """
    name, _, value = variant.partition("=")
    modules = [import_module(one.name) for one in pkgutil.walk_packages(study.__path__, f"{study.__name__}.")]
    before = {module: vars(module)[name] for module in [*modules, sys.modules["methods"]] if name in vars(module)}
    if not before or not name.isupper():
        raise SystemExit(f"--variant {variant}: no constant of elolab.tuning.study has the name {name}")
    for module in before:
        setattr(module, name, ast.literal_eval(value))
    try:
        yield
    finally:
        for module, usual in before.items():
            setattr(module, name, usual)


def print_variants(names: Sequence[str], budgets: Sequence[int], variants: Sequence[str], regrets: Regrets) -> None:
    """Print the regret of the unchanged method, and its change by each variant, on common landscapes and seeds."""
    print("mean regret in Elo ± its standard error, and its change by every variant, on the same seeds")
    width = max(18, *(len(variant) + 2 for variant in variants))
    print(f"{'landscape':<12}{'games':>7}{'unchanged':>16}" + "".join(f"{variant:>{width}}" for variant in variants))
    changes: list[list[tuple[float, float]]] = []
    for name in names:
        for games in budgets:
            usual = np.array(regrets(name, games, ""))
            row = [np.array(regrets(name, games, variant)) - usual for variant in variants]
            changes.append([(one.mean(), one.std() / math.sqrt(len(one))) for one in row])
            texts = "".join(f"{f'{mean:+.2f} ± {error:.2f}':>{width}}" for mean, error in changes[-1])
            kept = f"{usual.mean():.2f} ± {usual.std() / math.sqrt(len(usual)):.2f}"
            print(f"{name:<12}{games:>7}{kept:>16}{texts}", flush=True)
    means = np.array(changes).mean(axis=0)[:, 0]
    errors = np.sqrt((np.array(changes)[:, :, 1] ** 2).sum(axis=0)) / len(changes)
    texts = "".join(f"{f'{mean:+.2f} ± {error:.2f}':>{width}}" for mean, error in zip(means, errors, strict=True))
    print(f"{'mean':<35}{texts}")
