"""The literature's claims as data: for each an experiment, and the rule by which it is confirmed or refuted.

A table of claims (configs/claims/*.toml) says for each claim what is measured and what the claim expects there. A claim
is confirmed if every measure that expects something is, refuted if one of them is, and undecided otherwise. Measures of
strength are comparisons of an ablation, with its verdicts and its allocation of games, Holm's correction within the
claim; the others are searches of fixed positions.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from statistics import NormalDist
from typing import Any

from engine.language import DEFAULT_LANGUAGE, LANGUAGES
from engine.settings.configuration import ConfigurationError, Table, nearest, read_toml
from engine.settings.limits import Limits
from engine.settings.parameters import Value, by_own_names, resolve
from tuning.ablation.spec import AblationSpec, ablation_from_mapping
from tuning.ablation.verdicts import POWER
from tuning.conditions import Conditions, describe, read_conditions
from tuning.keys.claims import CLAIM, CLAIMS, EXPECTED, MEASURE
from tuning.keys.conditions import CONDITIONS

CONFIRMED, REFUTED, UNDECIDED, SHOWN = "confirmed", "refuted", "undecided", "shown"

STRENGTH = ("elo", "interaction")
"""Kinds of measure that are played; the others are searches of fixed positions."""
COMPARED = ("elo", "nodes", "share_difference")
"""Kinds that compare two settings."""
EQUAL_NODES_PERCENT = 5.0
"""Costs whose interval lies within so many percent are equal."""
CLAIM_PATTERN = r"C\d+"


@dataclass(frozen=True)
class Budget:
    """How much a run may cost."""

    name: str
    """``quick`` or ``full``."""
    pairs: int
    """The most pairs of a comparison of weight 1."""
    rounds: int
    depth: int
    """Plies of searches of fixed positions."""
    positions: int
    limits: Mapping[str, str]
    """Limits of games by the name under which measures ask for them."""


@dataclass(frozen=True)
class Measure:
    """One experiment of a claim."""

    kind: str
    """A key of ``EXPECTED``."""
    label: str
    expect: str | None
    variant: tuple[tuple[str, Value], ...]
    """Every parameter."""
    reference: tuple[tuple[str, Value], ...]
    limits: Limits
    of: str = ""
    """The share that is measured, a key of ``SHARES``."""
    bound: int = 0
    """The bound that some shares have: own material in centipawns, or depth in plies."""
    threshold: float = 0.0
    """Percent (``growth`` and ``passes``: as they are)."""
    suite: str = "games"
    """Where its positions come from, one of ``tuning.keys.claims.SUITES``."""
    comparison: int = -1
    """Its place among the comparisons of its group, of an interaction among the factorials; -1 for what is neither."""
    group: int = -1
    """The claim's group of comparisons with a common margin."""

    @property
    def has_reference(self) -> bool:
        """Whether two settings are compared."""
        return self.kind in COMPARED


@dataclass(frozen=True)
class Claim:
    """One claim with its experiment."""

    id: str
    texts: Mapping[str, str]
    """What it says, by language."""
    source: str
    """Abbreviation of the text, as in ``engine.settings.parameters``."""
    basis: str
    """A key of ``tuning.keys.claims.BASES``."""
    rules: Mapping[str, str]
    """What decides it, in words, by language."""
    conditions: Conditions
    """With the preset that its measures change as the base."""
    measures: tuple[Measure, ...]
    groups: tuple[AblationSpec, ...]
    """Its comparisons of strength, by margin."""

    @property
    def text(self) -> str:
        """What it says, in English."""
        return self.texts[DEFAULT_LANGUAGE]


@dataclass(frozen=True)
class ClaimsSpec:
    """Everything that decides a run through the claims of a game."""

    name: str
    game: str
    conditions: Conditions
    """Game, openings, rules and seed, which all games have in common."""
    budget: Budget
    claims: tuple[Claim, ...]
    source: str
    """The file it was read from."""
    only: tuple[str, ...] = ()
    """The claims that were picked; empty for all of the file."""
    text: str = field(default="", compare=False, repr=False)
    """The plain data that it was read from, as JSON."""

    def content(self) -> dict[str, Any]:
        """What decides the run, as plain data."""
        return {
            "game": self.game,
            "seed": self.conditions.seed,
            "openings": self.conditions.openings,
            "budget": self.budget.name,
            "depth": self.budget.depth,
            "positions": self.budget.positions,
        }


def load_claims(path: Path, budget: str, only: Sequence[str] = ()) -> ClaimsSpec:
    """Read a table of claims for a budget; ``only`` picks claims by id. Raises ``UserError`` for the first mistake."""
    return claims_from_mapping(read_toml(path), str(path), budget, only)


def claims_from_text(text: str, where: str, budget: str, only: Sequence[str]) -> ClaimsSpec:
    """The specification whose plain data was kept as JSON (``ClaimsSpec.text``)."""
    return claims_from_mapping(json.loads(text), where, budget, only)


def claims_from_mapping(data: Mapping[str, Any], where: str, budget: str, only: Sequence[str] = ()) -> ClaimsSpec:
    """Check a table of claims given as plain data; ``where`` is its file."""
    table = Table(data, where, CLAIMS)
    game = table.choice("game")
    spent = _budget(table.table("budgets"), budget)
    shared = {
        "game": game,
        "seed": table.whole("seed"),
        "openings": table.text("openings", game),
        "adjudication": table.mapping("adjudication"),
    }
    entries = table.array("claims", "tables [[claims]]")
    ids = [str(entry.get("id", "")) for entry in entries if isinstance(entry, Mapping)]
    for name in only:
        if name not in ids:
            known = ", ".join(ids)
            raise ConfigurationError(f"{where}: there is no claim {name!r}{nearest(name, ids)}; it has {known}")
    claims = [
        _claim(entry, f"{where}: [[claims]] {number}", shared, spent)
        for number, entry in enumerate(entries, start=1)
        if not only or (isinstance(entry, Mapping) and entry.get("id") in only)
    ]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise ConfigurationError(f"{where}: two claims are called {twice!r}; give each an id of its own")
    return ClaimsSpec(
        name=table.text("name", f"claims-{game}-{budget}"),
        game=game,
        conditions=read_conditions(Table({**shared, "limit": spent.limits["play"]}, where, CONDITIONS), "claims"),
        budget=spent,
        claims=tuple(claims),
        source=where,
        only=tuple(only),
        text=json.dumps(data, default=str),
    )


def _budget(table: Table, name: str) -> Budget:
    own = table.table(name)
    limits = own.mapping("limits")
    for key, text in limits.items():
        Limits.parse(str(text))
        limits[key] = str(text)
    if "play" not in limits:
        raise ConfigurationError(f"{own.where}: limits: play is missing, expected the limit of games: nodes=1000")
    return Budget(
        name, own.whole("pairs"), own.whole("rounds"), own.whole("depth"), own.whole("positions"), limits
    )


def _claim(entry: object, where: str, shared: Mapping[str, Any], budget: Budget) -> Claim:
    table = Table(entry, where, CLAIM)
    name = table.text("id", expected="an id such as C1")
    if not re.fullmatch(CLAIM_PATTERN, name):
        raise table.error("id", "an id such as C1")
    where = f"{PurePath(where.partition(':')[0])}: {name}"
    shared = {**shared, "base": table.text("base"), "limit": budget.limits["play"]}
    conditions = read_conditions(Table(shared, where, CONDITIONS), name)
    measures: list[Measure] = []
    mappings: dict[float, dict[str, list[dict[str, Any]]]] = {}
    for number, given in enumerate(table.array("measures", "tables [[claims.measures]]"), start=1):
        measure = Table(given, f"{where}: measure {number}", MEASURE)
        if measure.choice("only", budget.name) != budget.name:
            continue
        kind = measure.choice("kind")
        if kind not in STRENGTH:
            measures.append(_suite_measure(measure, kind, conditions, budget))
            continue
        margin = measure.number("margin")
        group = mappings.setdefault(margin, {})
        if kind == "elo":
            tables, found = group.setdefault("comparisons", []), _comparison(measure, budget)
        else:
            tables, found = group.setdefault("factorial", []), _factorial(measure, budget)
        tables.append(found)
        expect = _expected(measure, kind)
        measures.append(Measure(kind, "", expect, (), (), Limits(), comparison=len(tables) - 1,
                                group=list(mappings).index(margin)))  # fmt: skip
    groups = [
        ablation_from_mapping(
            {**shared, "name": name, "pairs": budget.pairs, "rounds": budget.rounds, "margin": margin,
             "nodes_to_depth": {"depth": 0}, **tables},
            where,
        )
        for margin, tables in mappings.items()
    ]  # fmt: skip
    for one in measures:
        if one.kind in STRENGTH and one.expect == "equivalent":
            groups[one.group] = _beyond_margin(groups[one.group], one)
    for place, one in enumerate(measures):
        if one.kind == "elo":
            comparison = groups[one.group].comparisons[one.comparison]
            measures[place] = replace(
                one, label=comparison.label, variant=comparison.variant, reference=comparison.reference,
                limits=comparison.limits,
            )  # fmt: skip
        if one.kind == "interaction":
            factorial = groups[one.group].factorials[one.comparison]
            first = groups[one.group].comparisons[factorial.comparisons[0]]
            measures[place] = replace(one, label=factorial.label, limits=first.limits)
    if not any(one.expect for one in measures):
        raise ConfigurationError(f"{where}: no measure expects anything; give at least one of them expect = ...")
    return Claim(
        name, _translations(table, "claim"), table.text("source"), table.choice("basis"),
        _translations(table, "rule"), conditions, tuple(measures), tuple(groups),
    )  # fmt: skip


def _expected(measure: Table, kind: str) -> str | None:
    """What a claim expects of a measure of this kind; ``None`` if nothing."""
    if "expect" not in measure:
        return None
    others = {word for words in EXPECTED.values() for word in words if word not in EXPECTED[kind]}
    return str(measure.choice("expect", but=others))


def _translations(table: Table, key: str) -> dict[str, str]:
    """The text under a key in every language."""
    keys = {language: key if language == DEFAULT_LANGUAGE else f"{key}_{language}" for language in LANGUAGES}
    return {language: table.text(own) for language, own in keys.items()}


def _beyond_margin(group: AblationSpec, measure: Measure) -> AblationSpec:
    """The group with the measure's question changed: only a difference larger than the margin counts as one."""
    place = measure.comparison
    if measure.kind == "elo":
        comparisons = list(group.comparisons)
        comparisons[place] = replace(comparisons[place], beyond_margin=True)
        return replace(group, comparisons=tuple(comparisons))
    factorials = list(group.factorials)
    factorials[place] = replace(factorials[place], beyond_margin=True)
    return replace(group, factorials=tuple(factorials))


def _limit(measure: Table, budget: Budget, key: str, default: str) -> str:
    text = str(measure.text(key, default))
    return budget.limits.get(text, text)


def _comparison(measure: Table, budget: Budget) -> dict[str, Any]:
    """A comparison as an ablation's file would declare it."""
    data: dict[str, Any] = {
        "variant": _settings(measure, "variant"),
        "reference": _settings(measure, "reference"),
        "limit": _limit(measure, budget, "limit", "play"),
        "pairs": _pairs(measure, budget),
    }
    if "label" in measure:
        data["label"] = measure.text("label")
    if "reference_limit" in measure:
        data["reference_limit"] = _limit(measure, budget, "reference_limit", "play")
    if "ponder" in measure:
        data["ponder"] = measure.switch("ponder")
    return data


def _factorial(measure: Table, budget: Budget) -> dict[str, Any]:
    """The 2 x 2 factorial of an interaction as an ablation's file would declare it."""
    data: dict[str, Any] = {
        "factors": measure.mapping("factors"),
        "limit": _limit(measure, budget, "limit", "play"),
        "pairs": _pairs(measure, budget),
    }
    if len(data["factors"]) != 2:
        raise measure.error("factors", "a table of two parameters with two values each")
    if "set" in measure:
        data["set"] = measure.mapping("set")
    if "label" in measure:
        data["label"] = measure.text("label")
    return data


def _settings(measure: Table, side: str) -> dict[str, Any]:
    """The settings of a side over those that both have in common."""
    common, own = (by_own_names(measure.mapping(key), f"{measure.where}: {key}") for key in ("set", side))
    return {**common, **own}


def _pairs(measure: Table, budget: Budget) -> int:
    return max(4, round(budget.pairs * measure.number("weight")))


def _suite_measure(measure: Table, kind: str, conditions: Conditions, budget: Budget) -> Measure:
    game, base = conditions.game, conditions.base_values
    sides = []
    for side in ("variant", "reference"):
        own = _settings(measure, side)
        sides.append((own, tuple(resolve({**base, **own}, f"{measure.where}: {side}", game).items())))
    if kind in ("nodes", "share_difference") and sides[0][1] == sides[1][1]:
        raise ConfigurationError(f"{measure.where}: compares a set of parameters with itself; change one of the two")
    share = kind in ("share", "share_difference", "occurs")
    depth = measure.whole("depth")
    text = _limit(measure, budget, "limit", f"depth={max(1, budget.depth + depth if depth <= 0 else depth)}")
    default = describe(sides[0][0]) or conditions.base_name
    if kind in ("nodes", "share_difference"):
        default += f" against {describe(sides[1][0]) or conditions.base_name}"
    return Measure(
        kind=kind,
        label=measure.text("label", default),
        expect=_expected(measure, kind),
        variant=sides[0][1],
        reference=sides[1][1],
        limits=Limits.parse(text),
        of=measure.choice("of") if share else "",
        bound=measure.whole("bound"),
        threshold=measure.number("threshold"),
        suite=measure.choice("suite"),
    )


# Verdicts


def outcome_of_interval(kind: str, expect: str | None, low: float, high: float, threshold: float) -> str:
    """What an interval says of an expectation: of ratios of nodes, and of shares and their differences in percent."""
    if expect is None:
        return SHOWN
    if kind == "nodes" and expect == "equal":
        inside, outside = _equal_nodes()
        if inside <= low and high <= outside:
            return CONFIRMED
        return REFUTED if high < inside or low > outside else UNDECIDED
    border = _border(kind, threshold)
    if expect in ("less", "below"):
        return CONFIRMED if high < border else REFUTED if low > border else UNDECIDED
    return CONFIRMED if low > border else REFUTED if high < border else UNDECIDED


def positions_needed(
    kind: str, expect: str, effect: float, low: float, high: float, threshold: float, positions: int
) -> int | None:
    """Positions beyond these that would decide an open measure, if its estimate is right; ``None`` if none would.

    With probability ``POWER``, as the interval shrinks with the square root of the positions; or for certain where a
    share was seen never or always, for as long as it stays so.
    """
    if kind == "share" and effect in (0, 100):
        reach, distance = max(high - effect, effect - low) / 100, abs(effect - threshold) / 100
        # As in ``suite_measures.share_of``: what so many positions leave possible falls with their number.
        if 0 < reach < 1 and 0 < distance < 1:
            return max(1, math.ceil(positions * math.log1p(-reach) / math.log1p(-distance)) - positions)
    borders = [_border(kind, threshold)]
    if kind == "nodes":  # ratios, whose intervals are symmetrical in their logarithms
        if not 0 < low <= high < math.inf:
            return None
        effect, low, high = math.log(effect), math.log(low), math.log(high)
        borders = [0.0] if expect != "equal" else [math.log(border) for border in _equal_nodes()]
    distance, half = min(abs(effect - border) for border in borders), (high - low) / 2
    if not 0 < half < math.inf or distance == 0:
        return None
    deviations = NormalDist().inv_cdf(0.975)
    scale = (deviations + NormalDist().inv_cdf(POWER)) / deviations
    return max(1, math.ceil(positions * (scale * half / distance) ** 2) - positions)


def _border(kind: str, threshold: float) -> float:
    """The value that parts what the claim expects from what it does not."""
    return {"nodes": 1.0, "share_difference": 0.0}.get(kind, threshold)


def _equal_nodes() -> tuple[float, float]:
    """The ratios of nodes between which costs are equal."""
    return 1 - EQUAL_NODES_PERCENT / 100, 1 + EQUAL_NODES_PERCENT / 100


def outcome_of_verdict(expect: str | None, verdict: str, low: float, high: float, margin: float) -> str:
    """What a verdict on strength says of an expectation; ``low``, ``high``: simultaneous interval in Elo."""
    if expect is None:
        return SHOWN
    if expect == "equivalent":
        return CONFIRMED if verdict == "equivalent" else UNDECIDED if verdict == "undecided" else REFUTED
    if expect == "not_worse":
        if verdict == "worse":
            return REFUTED
        return CONFIRMED if verdict in ("better", "equivalent") or low > -margin else UNDECIDED
    if verdict == "undecided":
        return UNDECIDED
    return CONFIRMED if verdict == expect else REFUTED


def verdict_of_outcomes(outcomes: Sequence[str]) -> str:
    """The verdict on a claim from those of its measures."""
    deciding = [outcome for outcome in outcomes if outcome != SHOWN]
    if REFUTED in deciding:
        return REFUTED
    return CONFIRMED if deciding and all(outcome == CONFIRMED for outcome in deciding) else UNDECIDED
