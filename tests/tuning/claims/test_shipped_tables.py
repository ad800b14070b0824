"""The shipped tables of claims: all that the literature claims is asked, then and now, in both languages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from elolab.engine.settings.configuration import read_toml
from elolab.tuning.claims.claims_spec import ClaimsSpec, load_claims
from elolab.tuning.keys.claims import EXPECTED

FOLDER = Path(__file__).parents[3] / "configs" / "claims"
TABLES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
ASKED = {
    "xiangqi": {*range(1, 29)},
    "othello": {1, 2, 3, 4, 9, 10, 11, 12, 16, 17, 20, 23, 24, 28, 29},
    "endgames": {5, 6, 7, 25, 26},
    "modern": {*range(31, 45)},
    "supplement": {3, 18, 21, 25},
    "restated": {3, 14, 23, 26},
    "othello-restated": {3, 12, 16},
    "chess": {1, 2, 3, 4, 23, 24},
}
"""Claims of the literature by their numbers; those of today begin at 31."""


@cache
def table(name: str) -> dict[str, Any]:
    return read_toml(FOLDER / f"{name}.toml")


@cache
def spec(name: str) -> ClaimsSpec:
    return load_claims(FOLDER / f"{name}.toml", "full")


def test_every_claim_is_asked() -> None:
    assert set(TABLES) == set(ASKED)
    for name in TABLES:
        assert {int(claim["id"][1:]) for claim in table(name)["claims"]} == ASKED[name]


@pytest.mark.integration
def test_each_kind_of_measure_is_used() -> None:
    assert {part.kind for name in TABLES for part in spec(name).parts} == set(EXPECTED)


@pytest.mark.integration
@pytest.mark.parametrize("name", TABLES)
def test_the_quick_budget_can_be_asked(name: str) -> None:
    quick = load_claims(FOLDER / f"{name}.toml", "quick")
    assert quick.budget.positions < 1000 <= spec(name).budget.positions
    for part in quick.parts:
        assert {cell.engine for cell in part.cells} | set(part.not_asked) == {"then", "now"}


@pytest.mark.parametrize("name", TABLES)
def test_both_budgets_have_the_same_limits(name: str) -> None:
    """So what can be asked in one can be asked in the other."""
    quick, full = (table(name)["budgets"][budget]["limits"] for budget in ("quick", "full"))
    assert list(quick) == list(full)


@pytest.mark.integration
@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_asked_in_both_engines_at_several_limits(name: str) -> None:
    parts = spec(name).parts
    assert parts
    for part in parts:
        engines = {cell.engine for cell in part.cells}
        limits = {str(cell.limits) for cell in part.cells if not cell.is_time}
        assert engines | set(part.not_asked) == {"then", "now"}
        assert name != "modern" or engines == {"now"}
        # One limit is enough where a question has no scale: mates, exact scores, controls, and what is dear.
        if part.kind in ("elo", "nodes", "share_difference") and part.id != "C7d":
            assert len(limits) >= 2, part.id


@pytest.mark.parametrize("name", TABLES)
def test_every_text_is_in_both_languages(name: str) -> None:
    for entry in (*table(name)["claims"], *(part for claim in table(name)["claims"] for part in claim["parts"])):
        for key in ("claim", "not_then", "not_now"):
            if key not in entry and f"{key}_zh" not in entry:
                continue
            assert not re.search(r"[\u4e00-\u9fff]", entry[key]), entry["id"]
            assert re.search(r"[\u4e00-\u9fff]", entry[f"{key}_zh"]), entry["id"]


@pytest.mark.parametrize("game", ["xiangqi", "othello", "chess"])
def test_no_part_of_a_game_has_the_name_of_another(game: str) -> None:
    """So that a part can be repeated by its name alone."""
    claims = [claim for name in TABLES if table(name)["game"] == game for claim in table(name)["claims"]]
    ids = [part["id"] for claim in claims for part in claim["parts"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.integration
def test_the_full_budgets_together_stay_affordable() -> None:
    """Nodes of all games at most, some hundred moves each: at a million a second below a hundred processor hours."""
    nodes = 0.0
    for name in TABLES:
        for part in spec(name).parts:
            for cell in part.cells:
                per_move = cell.limits.nodes or 0
                nodes += sum(2 * comparison.pairs for comparison in cell.comparisons) * 100 * per_move
    assert 0 < nodes < 100 * 3600 * 1e6
