"""Results that try reports to the utmost, made up without an engine: one pair, all wins, 1 000 Elo, 80-letter names.

Each function gives a case by name. Names differ only where a careless cut would lose it: in the middle, or at the end.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing, PlayerSpec
from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.tuning.ablation.ablation_run import AblationResult
from elolab.tuning.ablation.ablation_spec import ablation_from_mapping
from elolab.tuning.ablation.depth_cost import DepthRow
from elolab.tuning.ablation.rows import AblationRow, CombinationRow, EffectRow
from elolab.tuning.claims.cells import common_columns
from elolab.tuning.claims.claims_results import CellResult, CellRow, ClaimsResult, EngineVerdict, PartResult
from elolab.tuning.claims.claims_spec import load_claims
from elolab.tuning.claims.part_verdicts import CONFIRMED, NEGLIGIBLE, OPEN, REFUTED, SHOWN, VERDICTS
from elolab.tuning.claims.registration import ClaimsRegistration
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.playoff import Decision
from elolab.tuning.study.result import RoundEnd, StudyResult
from elolab.tuning.study.space import Dimension
from elolab.tuning.study.study_spec import tuning_from_mapping
from elolab.tuning.study.validation.validation_games import PlannedValidation, judge
from tests.support.fake_tournament import by_chance, played

ROOT = Path(__file__).parents[2]
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
NAME_LENGTH = 80


def long_names(count: int, length: int = NAME_LENGTH) -> list[str]:
    """Names of one length that differ in one place: every other one at the end, the rest in the middle."""
    names = []
    for number in range(count):
        name = ("engine-under-test_with_a_very_long_and_telling_name-" * 3)[:length]
        place = length - 2 if number % 2 else length // 2
        names.append(f"{name[:place]}{number:02d}{name[place + 2 :]}")
    assert len(set(names)) == count
    return names


# Tournaments


def record(
    number: int, pair: int, sides: tuple[int, int], names: Sequence[str], result: str, **rest: Any
) -> GameRecord:
    """A short game; it may say how many ``plies``, its ``round`` and its ``reason``."""
    first, second = sides
    moves = tuple(MoveRecord("h2e2", 30, 5, 1000, 1.5) for _ in range(rest.get("plies", 40)))
    reason = rest.get("reason", "repetition" if result == "1/2-1/2" else "checkmate")
    return GameRecord(
        f"{number:032x}", Pairing(number, pair, first, second, pair, rest.get("round", 0)), names[first], names[second],
        Opening(START, (), f"line {pair}"), moves, result, reason, "0123456789ab",
    )  # type: ignore[arg-type]  # fmt: skip


def tournament(names: Sequence[str], format: str = "round_robin", pairs: int = 1, **changes: Any) -> TournamentSpec:
    players = tuple(PlayerSpec(name, "uci", Limits(nodes=1000), command=("some-engine",)) for name in names)
    spec = TournamentSpec(
        name="sample", game="xiangqi", format=format, players=players, pairs=pairs, seed=7, openings="xiangqi",
        rules=Rules(), adjudication=Adjudication(), source="x.toml",
    )  # fmt: skip
    return replace(spec, **changes)


Case = tuple[TournamentSpec, list[GameRecord], int]
"""A tournament, its games and how many were planned."""


def drawn_games(
    names: Sequence[str], strengths: Sequence[float], pairs: int, draws: float = 0.3, seed: int = 1
) -> list[GameRecord]:
    """Games of everybody against everybody by chance, at strengths in Elo."""
    chance = random.Random(seed)
    records: list[GameRecord] = []
    for pair in range(pairs):
        for one in range(len(names)):
            for other in range(one + 1, len(names)):
                for first, second in ((one, other), (other, one)):
                    expected = 1 / (1 + 10 ** ((strengths[second] - strengths[first]) / 400))
                    drawn = draws * 4 * expected * (1 - expected)
                    dice = chance.random()
                    result = "1/2-1/2" if dice < drawn else "1-0" if dice < drawn + (1 - drawn) * expected else "0-1"
                    plies = chance.choice((17, 60, 90, 140, 299))
                    reason = (
                        chance.choice(("checkmate", "resign_adjudication", "time_forfeit", "crash"))
                        if result != "1/2-1/2"
                        else chance.choice(("repetition", "maximum_plies"))
                    )
                    records.append(
                        record(
                            len(records),
                            pair * 1000 + one * 50 + other,
                            (first, second),
                            names,
                            result,
                            plies=plies,
                            reason=reason,
                        )
                    )
    return records


def won_by_first(names: Sequence[str], pairs: int) -> list[GameRecord]:
    """Every game won by player 0."""
    return [
        record(2 * pair + turn, pair, (turn, 1 - turn), names, "0-1" if turn else "1-0")
        for pair in range(pairs)
        for turn in (0, 1)
    ]


def tournaments() -> dict[str, Case]:
    """Cases by name."""
    short, long = ["default", "other engine"], long_names(40)
    one_pair, all_wins = won_by_first(short, 1), won_by_first(long[:2], 50)
    even = drawn_games(short, (30, 0), 100)
    few = drawn_games(long[:5], (1000, 500, 0, -1, -1), 6)
    same = drawn_games(long[:3], (0, 0, 0), 8, draws=1.0)
    many = drawn_games(long, [25 * place for place in range(40)], 1)
    test = SequentialSettings(0, 10, batch_pairs=4)
    decided = SequentialSettings(0, 150, batch_pairs=4)
    return {
        "nothing": (tournament(short, "match", 10), [], 20),
        "one-pair": (tournament(short, "match", 1), one_pair, 2),
        "all-wins": (tournament(long[:2], "match", 50), all_wins, 100),
        "match": (tournament(short, "match", 100), even, 200),
        "sprt": (tournament(short, "sprt", 100, sprt=test), even, 200),
        "sprt-one-pair": (tournament(short, "sprt", 100, sprt=test), one_pair, 2),
        "sprt-decided": (tournament(long[:2], "sprt", 50, sprt=decided), all_wins, 100),
        "five": (tournament(long[:5], pairs=6), few, 60),
        "same": (tournament(long[:3], pairs=8), same, len(same)),
        "forty": (tournament(long, pairs=1), many, len(many)),
        "swiss": placed("swiss", 9, pairs=10, rounds=5),
        "knockout": placed("knockout", 6, pairs=2),
    }  # fmt: skip


def placed(format: str, players: int, **keys: Any) -> Case:
    """A tournament of rounds, with long names."""
    entries = [{"name": name, "protocol": "uci", "command": "none"} for name in long_names(players, 60)]
    data = {"format": format, "limit": "nodes=100", "players": entries, "openings": "made up", **keys}
    spec = spec_from_mapping(data, "cup.toml")
    names = [player.name for player in spec.players]
    course = played(spec, by_chance(3))
    results = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
    records = [
        replace(
            record(
                one.pairing.number, one.pairing.pair, (one.pairing.first, one.pairing.second), names,
                results[one.score], round=one.pairing.round,
            ),
            pairing=one.pairing,
        )
        for one in course.results if one is not None and one.score is not None
    ]  # fmt: skip
    return spec, records, len(records)


# Ablations


def comparison_row(label: str, elo: float, error: float, verdict: str = "undecided", **changes: Any) -> AblationRow:
    """A row whose interval is ``elo`` ± ``error``, and the one for all half as wide again."""
    values: dict[str, Any] = {
        "label": label, "group": "leave_one_out", "variant": "null_move off", "reference": "", "limit": "nodes=1000",
        "elo": elo, "elo_error": error, "elo_low": elo - error, "elo_high": elo + error,
        "los": 0.5 * (1 + math.erf(elo / max(error, 1e-9))), "verdict": verdict, "simultaneous_low": elo - 1.5 * error,
        "simultaneous_high": elo + 1.5 * error, "games_needed": 1234 if verdict == "undecided" else None, "pairs": 100,
        "games": 200, "LL": 10, "LD": 20, "even": 40, "WD": 20, "WW": 10, "nodes_ratio": 1.5, "nodes_ratio_low": 1.3,
        "nodes_ratio_high": 1.7, "depth": 6, "positions": 40,
    }  # fmt: skip
    return AblationRow(**{**values, **changes})


def all_won_row(label: str, counts: Pentanomial, verdict: str = "better", **changes: Any) -> AblationRow:
    """A row of these counts, as they are estimated."""
    found = counts.estimate()
    names = ("LL", "LD", "even", "WD", "WW")
    shown = dict(zip(names, counts.counts, strict=True))
    return comparison_row(
        label, found.elo, found.elo_error, verdict, elo_low=found.elo_low, elo_high=found.elo_high, los=found.los,
        simultaneous_low=found.elo_low, simultaneous_high=math.inf, pairs=counts.pairs, games=2 * counts.pairs, **shown,
        **changes,
    )  # fmt: skip


def ablation_rows() -> dict[str, list[AblationRow]]:
    """Rows of comparisons by case."""
    long = long_names(40, 60)
    verdicts = ("better", "worse", "equivalent", "undecided", "")
    forty = [
        comparison_row(
            name, (-1) ** number * 3.0 * number, 4.0 + number, verdicts[number % 5],
            group="values" if number > 20 else "leave_one_out", nodes_ratio=1.04**number, nodes_ratio_low=1.03**number,
            nodes_ratio_high=1.05**number,
        )
        for number, name in enumerate(long)
    ]  # fmt: skip
    won = all_won_row("all won", Pentanomial((0, 0, 0, 0, 50)))
    pair = all_won_row("one pair", Pentanomial((0, 0, 0, 0, 1)), "undecided", nodes_ratio_high=math.inf)
    none = all_won_row("nothing played", Pentanomial((0, 0, 0, 0, 0)), "undecided", nodes_ratio=None)
    strong = comparison_row(
        "1 000 Elo", 1000.0, 120.0, "better", nodes_ratio=80.0, nodes_ratio_low=20.0, nodes_ratio_high=400.0
    )
    weak = comparison_row(
        "−1 000 Elo", -1000.0, 120.0, "worse", nodes_ratio=0.02, nodes_ratio_low=0.01, nodes_ratio_high=0.04
    )
    usual = [
        comparison_row(f"without {name}", -8.0 * place, 6.0, "worse" if place else "undecided")
        for place, name in enumerate(("null_move", "history", "killers", "lmr"))
    ]
    half_cut = comparison_row("wide", 5.0, 900.0)
    return {
        "forty": forty, "one": [pair], "won": [won], "none": [none, replace(none, label="nor here")],
        "mixed": [*usual, strong, weak, won, pair, half_cut],
        "usual": usual, "huge": [strong, weak],
    }  # fmt: skip


ABLATION: dict[str, Any] = {
    "pairs": 400, "limit": "nodes=1000", "name": "sample ablation",
    "leave_one_out": [{"features": ["null_move", "quiescence", "killers", "tempo"]}],
    "values": [
        {"parameter": "null_depth", "values": [2, 4, 6]},
        {"parameter": "lmr_base", "values": [0, 50, 100], "label": "reductions of late moves"},
    ],
    "interactions": [{"features": ["null_move", "tempo", "quiescence", "killers"]}],
    "factorial": [{"factors": {"killers": [0, 2], "tempo": [0, 9]}}],
}  # fmt: skip


def ablation(folder: Path, rows: Sequence[AblationRow] | None = None, **changes: Any) -> AblationResult:
    """A whole ablation with curves, factorials, interactions and depths; or of these rows."""
    if rows is not None:
        comparisons = [
            {
                "label": f"{number} {row.label}"[:60],
                "variant": {"tempo": number + 20},
                "reference": {"tempo": number + 100},
            }
            for number, row in enumerate(rows)
        ]
        spec = ablation_from_mapping(
            {"pairs": 400, "limit": "nodes=1000", "name": "sample", "comparisons": comparisons},
            "configs/ablations/sample.toml",
        )
        return AblationResult(
            spec,
            folder,
            1000,
            4000,
            1000,
            False,
            tuple(rows),
            digest="d" * 32,
            engine="e" * 12,
            depths=depth_rows_of(rows[:8]),
        )
    spec = ablation_from_mapping(ABLATION | changes, "configs/ablations/sample.toml")
    chance = random.Random(2)
    made = [
        comparison_row(
            one.label, elo := chance.gauss(-20, 60), 20.0,
            "worse" if elo < -20 else "better" if elo > 20 else "equivalent",
            group=one.group, variant=one.label, reference="the reference", pairs=40 if number % 3 else 400,
        )
        for number, one in enumerate(spec.comparisons)
    ]  # fmt: skip
    effects = [
        EffectRow(
            one.label, one.effect_label(effect), one.group, len(effect.factors), elo := chance.gauss(0, 30), 12.0,
            elo - 12, elo + 12, "undecided" if one.group == "factorial" else "better", elo - 20, elo + 20,
            300, 400, 1600,
        )
        for one in spec.factorials for effect in one.design.effects
    ]  # fmt: skip
    cells = [
        CombinationRow(
            one.label, *cell,
            *(f"{name} {levels[sign > 0]}" for (name, *levels), sign in zip(one.factors, cell, strict=True)),
            0.0 if cell == (-1, -1) else chance.gauss(0, 300), 0.0 if cell == (-1, -1) else 30.0,
        )
        for one in spec.factorials if len(one.factors) == 2 for cell in ((-1, -1), (-1, 1), (1, -1), (1, 1))
    ]  # fmt: skip
    return AblationResult(
        spec, folder, 9000, 20000, 9000, False, tuple(made), tuple(effects), tuple(cells), depth_rows_of(made),
        digest="d" * 32,
        engine="e" * 12,
    )  # fmt: skip


def depth_rows_of(rows: Sequence[AblationRow]) -> tuple[DepthRow, ...]:
    """Nodes to each depth of the rows' settings; the first two cost the same."""
    return tuple(
        DepthRow(row.label, depth, 40, 30.0 * (3 + max(0, place - 1) / 4) ** depth, 1.0, 3.0, 1e6)
        for place, row in enumerate(rows)
        for depth in range(1, 8)
    )


# Studies

STUDY: dict[str, Any] = {
    "name": "sample study", "limit": "nodes=1000", "base": "default",
    "parameters": ["null_depth", "lmr_base", "evaluation", "lmr_min_depth"],
    "budget": {"games": 2000}, "validation": {"maximum_pairs": 400, "slow": "fixed", "slow_pairs": 60},
}  # fmt: skip


def candidates(dimension: Dimension) -> Sequence[Any]:
    """All values of a list, or all whole values of a range."""
    if dimension.choices:
        return dimension.choices
    assert dimension.is_whole
    return range(int(dimension.low), int(dimension.high) + 1, int(dimension.step))


def study(folder: Path, kind: str = "usual") -> StudyResult:
    """A study by kind: ``usual``, ``huge`` (effects of 1 000 Elo), ``few`` (one result), ``trials`` or ``base``."""
    data = STUDY | ({"sampler": "tpe", "trials": 20} if kind == "trials" else {})
    spec = tuning_from_mapping(data, "configs/tuning/sample.toml")
    space, chance = spec.space, random.Random(5)
    observations = Observations(space)
    size = 4000.0 if kind == "huge" else 120.0
    sets = [
        space.effective_values(tuple(chance.choice(candidates(dimension)) for dimension in space.dimensions))
        for _ in range(60)
    ]

    def strength(values: Sequence[Any]) -> float:
        points = space.coordinates(tuple(values))
        return -size * sum(
            (point - 0.6) ** 2 for point, one in zip(points, space.dimensions, strict=True) if not one.choices
        )

    for one, other in zip(sets[::2], sets[1::2], strict=True):
        expected = 1 / (1 + 10 ** ((strength(other) - strength(one)) / 400))
        wins = sum(chance.random() < expected for _ in range(20))
        observations.add(one, other, Pentanomial((20 - wins, 0, 0, 0, wins)))
        if kind == "few":
            break
    model = fit(observations)
    best = max(sets, key=lambda values: float(model.gain([values])[0][0]))
    gain, deviation = model.difference(best, space.default_values)
    decision = (
        Decision(space.default_values, True, 0.0, 0.0, 0.0, 0)
        if kind == "base"
        else Decision(best, False, gain, deviation, gain + 3, 40)
    )
    rounds = tuple(
        RoundEnd(
            number, sets[number], Pentanomial((1, 2, 3, 2, 1)),
            (-1) ** number * (900.0 if kind == "huge" else 60.0) / (1 + number / 4), 10 * (number + 1),
        )
        for number in range(1 if kind == "few" else 24)
    )  # fmt: skip
    counts = Pentanomial((0, 0, 0, 0, 50)) if kind in ("huge", "few") else Pentanomial((20, 60, 120, 90, 30))
    stages = (
        PlannedValidation(spec.validation.limits, "sprt", 400),
        PlannedValidation(spec.validation.slow_limits, "fixed", 60),
    )
    verdicts = () if decision.is_base else tuple(judge(spec.validation, stage, counts) for stage in stages)
    return StudyResult(
        spec, folder, rounds, 24, 2000, decision=decision, model=model, observations=observations, verdicts=verdicts,
        digest="d" * 32, engine="e" * 12, own_seconds=3.0, games_seconds=100.0,
        games_before_validation=2000,
    )  # fmt: skip


# Claims


def claims(folder: Path) -> ClaimsResult:
    """Every part of the claims of Xiangqi with made-up cells: shares of 0 and 100 %, intervals without an end."""
    spec = load_claims(ROOT / "configs" / "claims" / "xiangqi.toml", "quick")
    units = {"elo": "Elo", "interaction": "Elo", "nodes": "×", "share": "%", "share_difference": "points"}
    results = []
    for place, (claim, part) in enumerate((one, part) for one in spec.claims for part in one.parts):
        cells = []
        for number, cell in enumerate(part.cells):
            unit = units.get(part.kind, "cases")
            effect, low, high = {
                "×": (1.2, 0.9, math.inf) if number % 2 else (0.03, 0.02, 0.05),
                "%": (0.0, 0.0, 2.0) if number % 2 else (100.0, 95.0, 100.0),
                "cases": (0.0, 0.0, 3.6),
            }.get(unit, (1200.0, 90.0, math.inf) if place % 2 else (12.0, -4.0, 30.0))
            verdict = (CONFIRMED, REFUTED, NEGLIGIBLE, OPEN)[(place + number) % 4] if part.expect else SHOWN
            row = CellRow(
                **common_columns(claim, part, cell), unit=unit, effect=effect,
                median_unbiased=effect - 1 if unit == "Elo" else None, low=low, high=high, verdict=verdict,
                p_value=0.01 if verdict not in (OPEN, SHOWN) else None, cases=1 if number % 3 else 60, hits=0,
                games=40 if unit == "Elo" else 0, looks=1, looks_planned=10, ended="" if verdict == OPEN else "decided",
                games_needed=1000 if verdict == OPEN and unit == "Elo" else None, positions_needed=None,
            )  # fmt: skip
            cells.append(CellResult(cell, row))
        verdict = VERDICTS[place % 4] if part.expect else SHOWN
        own = EngineVerdict(verdict, 0.01, verdict != OPEN, place % 2 == 0)
        results.append(PartResult(claim, part, tuple(cells), dict.fromkeys(part.engines, own), place % 3 == 0))
    return ClaimsResult(spec, folder, False, tuple(results), ClaimsRegistration({}, ()), "d" * 32, "e" * 12)
