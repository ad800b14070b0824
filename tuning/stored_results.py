"""Results of runs, read from their folders for reports; a run may be finished, stopped or in progress.

Reading resumes the run with the stop flag set: it reads the stored games and plays none. This happens in a copy of the
folder, so that the folder stays unchanged and a process that is adding games is not disturbed.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.run import RunError, RunOptions
from elolab.engine.engine import StopFlag

KEPT_FILES = ("weights-*.toml", "positions-*.npz", "matches.jsonl")
"""Patterns of the names of files that a run's result is read from, in addition to the store of games."""


def result_in(directory: Path) -> Any:
    """The result of the run in a folder: a ``StudyResult``, ``AblationResult``, ``ClaimsResult`` or ``FitResult``.

    ``None`` for other kinds of runs, such as tournaments. Raises ``UserError`` if the folder holds no games, or too few
    for a result.
    """
    if not (directory / STORE_NAME).is_file():
        raise RunError(f"{directory}: no run in it (there is no {STORE_NAME})", "name the folder of a run")
    with Store(directory, read_only=True) as store:
        known = store.metadata_names()
        kind = next((kind for kind in _READERS if kind in known), None)
        if kind is None:
            return None
        name, read = _READERS[kind]
        recorded = store.metadata(name)
        if recorded is None:
            raise RunError(
                f"{directory}: an older version of elolab began this run without recording its specification",
                "give the original command again",
            )
        with _copied(store) as copy:
            return read(recorded, copy, directory)


def _options() -> RunOptions:
    stop = StopFlag()
    stop.set()
    return {"stop": stop, "stream": io.StringIO(), "accept_engine_change": True}


@contextmanager
def _copied(store: Store) -> Iterator[Path]:
    """Context manager for a temporary folder with a copy of the files that a run's result is read from."""
    from elolab.tuning.study.result import STUDY_NAME

    with tempfile.TemporaryDirectory(prefix="elolab-report-") as name:
        copy, directory = Path(name), store.directory
        store.copy_to(copy)
        if (directory / STUDY_NAME).is_file():
            address = f"{(directory / STUDY_NAME).resolve().as_uri()}?mode=ro"
            try:
                with (
                    closing(sqlite3.connect(address, uri=True)) as study,
                    closing(sqlite3.connect(copy / STUDY_NAME)) as other,
                ):
                    study.backup(other)
            except sqlite3.Error:  # it is rebuilt from the games
                (copy / STUDY_NAME).unlink(missing_ok=True)
        for pattern in KEPT_FILES:
            for path in directory.glob(pattern):
                shutil.copyfile(path, copy / path.name)
        yield copy


def _study(recorded: Any, copy: Path, directory: Path) -> Any:
    from elolab.tuning.study.study_spec import matches_from_mapping, tuning_from_text
    from elolab.tuning.study.tuning_run import play_study
    from elolab.tuning.study.validation.preset import written_preset

    spec = tuning_from_text(*recorded) if isinstance(recorded[0], str) else matches_from_mapping(*recorded)
    result = play_study(spec, copy, **_options())
    preset = written_preset(spec, directory) if result.confirmed and not spec.is_by_matches else None
    return replace(result, directory=directory, preset=preset, own_seconds=None, games_seconds=None)


def _ablation(recorded: Any, copy: Path, directory: Path) -> Any:
    from elolab.tuning.ablation.ablation_run import ablate
    from elolab.tuning.ablation.ablation_spec import ablation_from_mapping

    text, where = recorded
    return replace(ablate(ablation_from_mapping(json.loads(text), where), copy, **_options()), directory=directory)


def _claims(recorded: Any, copy: Path, directory: Path) -> Any:
    from elolab.tuning.claims.claims_run import run_claims
    from elolab.tuning.claims.claims_spec import claims_from_mapping

    text, *others = recorded
    return replace(run_claims(claims_from_mapping(json.loads(text), *others), copy, **_options()), directory=directory)


def _fit(recorded: Mapping[str, Any], copy: Path, directory: Path) -> Any:
    from elolab.tuning.evaluation.evaluation_fit import fit_evaluation, fit_from_plain

    spec = fit_from_plain(recorded)
    result = fit_evaluation(replace(spec, start=str(copy / "weights-0.toml")), copy, **_options())
    return result.moved(spec, directory)


_READERS: Mapping[str, tuple[str, Callable[[Any, Path, Path], Any]]] = {
    "tuning": ("tuning file", _study),
    "tuning by matches": ("file of a tuning by matches", _study),
    "ablation": ("ablation file", _ablation),
    "claims": ("claims file", _claims),
    "evaluation fit": ("evaluation fit, as asked for", _fit),
}
"""For each kind of run: its specification's key in the store's metadata, and the function that reads its result."""
