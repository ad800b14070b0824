"""The signature of the benchmark notices every setting of the table, and whatever is added to it."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.engine import bench
from elolab.engine.settings.parameters import BY_NAME, PARAMETERS, Value, format_value
from tests.support.cases import for_each

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import signature_mutations


@for_each(PARAMETERS, name=lambda row: row.name)
def test_variants_hold_every_value_of_every_setting_where_it_acts(row) -> None:  # type: ignore[no-untyped-def]
    if row.name in bench.NOT_IN_THE_SIGNATURE:
        return
    bare = [mutation.kind for mutation in signature_mutations.mutations_of(row) if not mutation.ways]
    assert not bare, f"{row.name}: no variant of engine/bench.py exercises {', '.join(bare)}"


def test_exempt_rows_exist_and_have_a_reason() -> None:
    assert set(bench.NOT_IN_THE_SIGNATURE) <= set(BY_NAME)
    assert all(len(reason) > 20 for reason in bench.NOT_IN_THE_SIGNATURE.values())


@pytest.mark.integration
@pytest.mark.parametrize(
    ("row", "ways", "seen"),
    [
        # A setting that acts is noticed, one that depends on something switched off is not.
        ("killers", (("bold", 0),), "bold with 0"),
        ("aspiration_growth", (("guarded", 9000), ("gradual", 9000)), "gradual with 9000"),
        ("time_share", (("clock", 100),), None),
        ("time_share", (("share", 10),), "share with 10"),
    ],
)
def test_a_mutation_is_noticed_where_the_setting_acts(
    row: str, ways: tuple[tuple[str, Value], ...], seen: str | None
) -> None:
    assert signature_mutations.is_noticed(signature_mutations.Mutation(row, "test", ways)) == seen


@pytest.mark.parametrize(
    "name",
    [
        "arena_cost", "make_tactics", "othello_speed", "perft_speed", "search_speed", "signature_mutations",
        "win_probability",
    ],
)  # fmt: skip
def test_a_benchmark_explains_itself_and_refuses_words_it_does_not_know(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = importlib.import_module(name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        script.main()
    assert script.__doc__.strip() in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [name, *(["folder"] if name == "make_tactics" else []), "wrong"])
    with pytest.raises(SystemExit, match="2"):
        script.main()
    assert "'wrong'" in capsys.readouterr().err


def test_the_fit_of_win_probabilities_takes_its_words_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game, a number of games, both or none."""
    script, asked = importlib.import_module("win_probability"), []
    monkeypatch.setattr(script, "report", lambda *words: asked.append(words))
    for words in ("othello 30", "30", ""):
        monkeypatch.setattr(sys, "argv", ["win_probability", *words.split()])
        script.main()
    assert asked == [
        ("othello", 30), ("xiangqi", 30), ("othello", 30), ("chess", 30), ("xiangqi", 4000), ("othello", 4000),
        ("chess", 4000),
    ]  # fmt: skip


def test_a_row_that_nothing_reads_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # A stand-in for a new row that is not used yet: without its variants, the share of the time is one.
    plain = {name: entry for name, entry in bench.CLOCKED.items() if entry[2].get("time_strategy") != "share"}
    monkeypatch.setattr(signature_mutations, "CLOCKED", plain)
    monkeypatch.setattr(sys, "argv", ["signature_mutations.py", "time_share"])
    assert signature_mutations.main() == 1
    assert "time_share (default), time_share (a number)" in capsys.readouterr().err


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A stand-in for a new row: no variant names it."""
    for variant, overrides in list(bench.VARIANTS.items()):
        kept = {key: value for key, value in overrides.items() if key != name}
        monkeypatch.setitem(bench.VARIANTS, variant, kept)
    for variant, (limits, ponders, overrides) in list(bench.CLOCKED.items()):
        kept = {key: value for key, value in overrides.items() if key != name}
        monkeypatch.setitem(bench.CLOCKED, variant, (limits, ponders, kept))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("singular_depth", {"singular_depth=3": {"singular_depth": 3}, "singular_depth=9": {"singular_depth": 9}}),
        ("null_return", {"null_return=beta": {"null_move": True, "null_return": "beta"}}),
        ("single_reply_extension", {"single_reply_extension=on": {"single_reply_extension": True}}),
        ("lmr_base", {}),  # acts by default
        ("poll_interval_nodes", {}),
    ],
)
def test_a_row_that_no_variant_exercises_gets_variants_of_its_own(
    monkeypatch: pytest.MonkeyPatch, name: str, expected: dict[str, dict[str, Value]]
) -> None:
    assert bench.derived_variants() == {}
    without(monkeypatch, name)
    assert bench.derived_variants([BY_NAME[name]]) == expected


def test_what_acts_on_a_clock_is_exercised_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {name: entry for name, entry in bench.CLOCKED.items() if name != "allotted"}
    monkeypatch.setattr(bench, "CLOCKED", dict(others))
    monkeypatch.setattr(bench, "VARIANTS", dict(bench.VARIANTS))
    known = set(bench.VARIANTS)
    bench.add_derived_variants()
    limits = bench.DERIVED_LIMITS
    derived = {name: entry for name, entry in bench.CLOCKED.items() if name not in others}
    assert set(bench.VARIANTS) == known
    assert derived == {
        "time_strategy=othello": (limits, False, {"time_strategy": "othello"}),
        "time_move_cap=325": (limits, False, {"time_strategy": "othello", "time_move_cap": 325}),
        "time_move_cap=775": (limits, False, {"time_strategy": "othello", "time_move_cap": 775}),
    }


def test_numbers_are_moved_within_their_legal_range() -> None:
    row = dataclasses.replace(BY_NAME["killers"], legal=(0, 2))
    assert signature_mutations.others(row, 2) == (1,)
    assert signature_mutations.others(row, 0) == (1,)
    assert signature_mutations.others(BY_NAME["lmr_divisor"], 200) == (240, 160, 360)
    assert signature_mutations.others(BY_NAME["null_store"], "all") == ("off", "verified")


def test_the_benchmark_on_the_node_clock_is_the_same_every_time() -> None:
    first, second = ([search.nodes for search in bench.searches_of("xiangqi", "iteration")] for _ in range(2))
    assert first == second
    assert len(first) == bench.CLOCKED_PLIES * bench.CLOCKED_POSITIONS


@pytest.mark.integration
def test_the_signature_is_the_one_on_record(golden: Callable[[str, str], None]) -> None:
    found = list(bench.searches())
    nodes: dict[tuple[str, str], int] = {}
    for search in found:
        nodes[search.game, search.variant] = nodes.get((search.game, search.variant), 0) + search.nodes
    rows = [f"{game} {variant}: {count}" for (game, variant), count in nodes.items()]
    totals = [f"{name}: {number}" for name, number in bench.signatures(found).items()]
    golden("bench.txt", "\n".join([*rows, *totals, ""]))


def test_given_settings_are_searched_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def benched(*words: str) -> dict[str, Any]:
        assert command_line.main(["bench", "--json", *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    plain = [search.nodes for search in bench.searches_of("xiangqi", "plain")]
    values = {name: value for name, value in bench.VARIANTS["plain"].items() if BY_NAME[name].games != ("chess",)}
    settings = [f"{name}={format_value(value)}" for name, value in values.items()]
    found = benched("--set", *settings)
    assert [search["nodes"] for search in found["searches"]] == plain
    assert found["bench"] == sum(plain)
    assert list(found["nodes_per_second"]) == ["xiangqi"]
    assert found["nodes_per_second"]["xiangqi"] > 0
    small = benched("--preset", "othello-mtdf", "--game", "othello", "--set", "hash=1")
    assert {search["game"] for search in small["searches"]} == {"othello"}
    assert command_line.main(["bench", "--preset", "fenon", "--game", "othello"]) == 2
    assert "no section [othello]" in capsys.readouterr().err


def test_the_columns_of_all_variants_line_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    search = bench.BenchSearch("othello", "default", "------ X", 10, 10225, -12, 0.5, False)
    variants = (*bench.VARIANTS, *bench.CLOCKED)
    found = [dataclasses.replace(search, variant=variant) for variant in variants]
    monkeypatch.setattr(bench, "searches", lambda games: iter(found))
    assert command_line.main(["bench", "--game", "othello"]) == 0
    lines = capsys.readouterr().out.splitlines()[: len(found)]
    assert [line[8:].startswith(variant) for line, variant in zip(lines, variants, strict=True)] == [True] * len(found)
    assert len({line.index(" depth 10     10225 nodes") for line in lines}) == len({len(line) for line in lines}) == 1


@pytest.mark.slow
def test_the_signature_notices_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["signature_mutations.py"])
    assert signature_mutations.main() == 0
