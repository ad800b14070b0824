"""Faults as data: stored with the game, and a sentence in either language."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from elolab.arena.players.player import Fault, late_move_fault, stored_fault
from elolab.arena.statistics.faults import FORFEITS, FaultCount, fault_text
from elolab.engine.language import LANGUAGES, Catalogue, messages_of

ROOT = Path(__file__).parents[3]
NO_MOVE = Fault("no_move_in_time", waited="0.12", allowed=Fault("remaining_time", margin=100))


def test_a_fault_line_is_a_sentence() -> None:
    count = FaultCount("new", "time_forfeit", 1, 17, NO_MOVE)
    told = {language: fault_text(count, Catalogue("elolab.arena", language), language) for language in LANGUAGES}
    assert told == {
        "en": "new lost game 17 on time: no move after 0.12 s (remaining time plus 100 ms margin).",
        "zh": "new 第 17 局因超时判负：0.12 秒后仍未走子（剩余时间加 100 毫秒宽限）。",
    }


@pytest.mark.parametrize("fault", [
    NO_MOVE,
    Fault("and_exit", what=Fault("ended_moving"), exit=Fault("exit_signal", number=11, name="SIGSEGV")),
    Fault("words", text="braces {like} these"),
    late_move_fault(1234.5, 1000.04, 100),
])  # fmt: skip
def test_a_fault_is_the_same_after_it_was_stored(fault: Fault) -> None:
    read = Fault.read(json.loads(json.dumps(fault.data)))
    assert read == fault
    for language in LANGUAGES:
        assert read.text(language) == fault.text(language)


def test_a_fault_that_an_earlier_version_stored_is_its_english_text() -> None:
    stored = {"fault": {"player": "mine", "side": 0, "reason": "crash", "text": "mine: ended while it pondered"}}
    assert stored_fault(stored) == ("mine", Fault("words", text="ended while it pondered"))
    assert stored_fault({}) is None


def test_every_way_to_lose_by_a_fault_has_words() -> None:
    for language in LANGUAGES:
        keys = {key for key in messages_of("elolab.arena", language) if key.startswith("lost_by.")}
        assert keys == {f"lost_by.{reason}" for reason in FORFEITS}


@pytest.mark.integration
def test_every_kind_of_fault_in_the_code_is_a_message_with_its_fields() -> None:
    messages = messages_of("elolab.arena", "en")
    named, strings = {"did.words"}, set()
    for path in sorted((ROOT / "arena").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        strings |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Fault"):
                continue
            given = {keyword.arg for keyword in node.keywords}
            if isinstance(node.args[0], ast.Constant) and None not in given:
                key = f"did.{node.args[0].value}"
                named.add(key)
                assert set(re.findall(r"\{(\w+)", messages[key])) == given, (path, node.lineno)
    kinds = {key for key in messages if key.startswith("did.")}
    assert named <= kinds
    assert {key.removeprefix("did.") for key in kinds} <= strings  # those that the code chooses among
