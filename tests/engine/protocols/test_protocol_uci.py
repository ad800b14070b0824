"""UCI for Xiangqi in both dialects: scripted dialogues, and what ``go`` asks of the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TextIO

import pytest

from elolab.arena.protocols.uci_family import parse_information, parse_option
from elolab.engine.engine import Clock, Engine
from elolab.engine.games import game_named
from elolab.engine.protocols.engine_server import SearchTask
from elolab.engine.protocols.uci import UciCycloneServer, UciServer, format_score
from elolab.engine.rules import REPETITION_RULES, Ending
from elolab.engine.search.records import COUNTERS
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import parameters_of
from elolab.engine.values import MATE
from tests.support.conversation import TRANSCRIPTS, Conversation, Listener, play_transcript


def make(output: TextIO) -> UciServer:
    return UciServer("xiangqi", {}, output)


def make_cyclone(output: TextIO) -> UciServer:
    return UciCycloneServer("xiangqi", {}, output)


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("uci-*.txt")), ids=lambda path: path.stem)
def test_dialogue(path: Path) -> None:
    play_transcript(path, make_cyclone if path.stem == "uci-ranks-0" else make)


def test_the_cyclone_dialect_by_its_own_name() -> None:
    play_transcript(TRANSCRIPTS / "ucicyclone.txt", lambda output: UciCycloneServer("xiangqi", {}, output))


def test_chess() -> None:
    play_transcript(TRANSCRIPTS / "chess-uci.txt", lambda output: UciServer("chess", {}, output))


class Recorder(UciServer):
    """Notes the searches that are asked for instead of making them."""

    def start(self, task: SearchTask) -> None:
        self.task = task


def asked(*lines: str) -> Recorder:
    """A session that has heard some lines."""
    session = Recorder("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in lines:
        session.handle(line)
    return session


def test_the_option_for_the_rule_of_repetition_acts_on_the_position_too() -> None:
    """Check and chase in turn: the third occurrence is a draw by the Asian rule, and lost by the Chinese one."""
    moves = " ".join(["c10c9 d9d8 c9c10 d8d9"] * 2)
    position = f"position fen 1nR6/3k5/9/9/9/9/9/4K4/9/9 w moves {moves}"
    for lines in ((position, "setoption name Repetition Rule value ChineseRule"), (
        "setoption name Repetition Rule value ChineseRule", position)):  # fmt: skip
        session = asked(*lines)
        assert session.position is not None
        assert session.position.judge(session.rules) == Ending("0-1", "perpetual_attack")
        assert session.position.state.repetition == REPETITION_RULES.index("chinese")


@pytest.mark.parametrize(
    ("go", "limits", "clock"),
    [
        ("depth 7", Limits(depth=7), None),
        ("nodes 5000 depth 3", Limits(depth=3, nodes=5000), None),
        ("movetime 80", Limits(move_time_ms=80), None),
        ("wtime 900 btime 700 winc 9 binc 7", Limits(clock_ms=700, increment_ms=7), Clock(700, 900)),
        ("btime 700 movestogo 5", Limits(clock_ms=700), Clock(700, moves_to_go=5)),
        ("wtime 900 btime -7", Limits(clock_ms=0), Clock(0, 900)),
        ("wtime 900", Limits(), None),
        ("mate 3", Limits(depth=6), None),
        ("depth 0", Limits(depth=1), None),
        ("depth 4 nonsense", Limits(depth=4), None),
    ],
)
def test_limits_with_black_to_move(go: str, limits: Limits, clock: Clock | None) -> None:
    task = asked("position startpos moves h3e3", f"go {go}").task
    assert (task.limits, task.clock) == (limits, clock)


def test_red_reads_its_own_clock_and_the_ponder_option() -> None:
    session = asked("setoption name Ponder value true", "go ponder wtime 900 btime 700 winc 9 binc 7")
    assert session.task.clock == Clock(900, 700, ponders=True)
    assert session.task.limits == Limits(clock_ms=900, increment_ms=9)
    assert session.task.ponders
    assert not session.task.until_stopped


def test_moves_to_search_are_those_that_are_legal_up_to_the_next_keyword() -> None:
    task = asked("go searchmoves h3e3 a1a9 b3e3 depth 2").task
    assert task.search_moves == ("h2e2", "b2e2")
    assert task.limits == Limits(depth=2)


def lines_of(session: UciServer) -> list[str]:
    """What a session has said so far."""
    listener = session.output
    assert isinstance(listener, Listener)
    return [listener.lines.get() or "" for _ in range(listener.lines.qsize())]


def test_moves_to_search_of_which_none_is_legal_are_named_and_nothing_is_searched() -> None:
    session = asked("go searchmoves a1a9 e5e6 depth 2")
    assert not hasattr(session, "task")
    assert lines_of(session) == ["info string searchmoves: none is legal here: a1a9 e5e6", "bestmove 0000"]


@pytest.mark.parametrize(("server", "move"), [(UciCycloneServer, "h2e3"), (UciServer, "h3e4")])
def test_an_illegal_move_is_named_as_it_was_sent(server: type[UciServer], move: str) -> None:
    session = server("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    session.handle(f"position startpos moves {move}")
    (said,) = lines_of(session)
    assert said.startswith(f"info string illegal move '{move}' after 0 moves in position ")


@pytest.mark.parametrize("word", ["", "position "])
def test_in_the_cyclone_dialect_a_position_may_come_without_its_word(word: str) -> None:
    session = UciCycloneServer("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    session.handle(f"{word}startpos moves h2e2")
    assert session.position is not None
    after_a_cannon = session.position.text
    session.handle(f"{word}startpos")
    assert session.position.moves == []
    session.handle(f"{word}fen {after_a_cannon} moves h9g7")
    assert session.position.moves == ["h9g7"]
    assert session.position.start == after_a_cannon


def test_who_does_not_wait_after_stop_is_answered_all_the_same() -> None:
    listener = Listener()
    session = UciServer("xiangqi", {"hash_mb": 1}, listener)  # type: ignore[arg-type]
    session.open()
    for line in ("position startpos", "go infinite", "stop", "position startpos moves h2e2", "go depth 1"):
        session.handle(line)
    session.settle()
    answers = []
    while not listener.lines.empty():
        line = listener.lines.get() or ""
        assert "ignored" not in line
        answers += [line] if line.startswith("bestmove") else []
    assert len(answers) == 2


def test_with_debug_every_counter_is_told() -> None:
    session = UciServer("xiangqi", {"hash_mb": 1}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in ("debug on", "position startpos", "go depth 1"):
        session.handle(line)
    session.settle()
    *_, told, _ = lines_of(session)
    assert told.split()[2::2] == list(COUNTERS)


def test_the_last_line_is_of_the_iteration_that_found_it() -> None:
    """Of the one that was broken off, if it found something, or else of the last completed one."""
    engine = Engine("xiangqi", {"hash_mb": 1})
    conversation = Conversation(lambda output: UciCycloneServer("xiangqi", {"hash_mb": 1}, output))
    depths = []
    for nodes in (1000, 2000, 3000, 5000, 7000):
        engine.new_game()
        found = engine.search(game_named("xiangqi").position(), Limits(nodes=nodes))
        conversation.say("ucinewgame")
        conversation.say("position startpos")
        conversation.say(f"go nodes {nodes}")
        last = [line for line in conversation.hear_until("bestmove") if line.startswith("info depth")][-1]
        told, moves = parse_information(last), tuple(last.partition(" pv ")[2].split())
        (line,) = found.lines
        assert (told.depth, told.score, moves) == (line.iteration, line.score, line.principal_variation)
        depths.append((line.iteration, line.depth))
    conversation.close()
    assert any(depth == completed for depth, completed in depths)
    assert any(depth > completed for depth, completed in depths)


@pytest.mark.parametrize("go", ["depth 8", "nodes 40000", "depth 5 searchmoves h3e3 b1c3 h3e3 h1g3"])
def test_the_lines_of_an_iteration_come_together_the_best_first(go: str) -> None:
    conversation = Conversation(lambda output: UciServer("xiangqi", {}, output))
    for line in ("setoption name MultiPV value 5", "position startpos", f"go {go}"):
        conversation.say(line)
    *lines, _ = conversation.hear_until("bestmove")
    conversation.close()
    count = 3 if "searchmoves" in go else 5
    assert len(lines) % count == 0
    *iterations, last = [
        [parse_information(line) for line in lines[at : at + count]] for at in range(0, len(lines), count)
    ]
    assert [group[0].depth for group in iterations] == list(range(1, len(iterations) + 1))
    for group in iterations:
        scores = [line.score for line in group]
        assert scores == sorted(scores, key=lambda score: -int(score or 0))
        assert len({(line.depth, line.nodes) for line in group}) == 1
    assert max(line.depth for line in last) >= len(iterations)
    numbers = [re.findall(r"multipv (\d+)", line) for line in lines]
    assert numbers == [[str(at % count + 1)] for at in range(len(lines))]


def test_an_endless_search_waits_for_stop() -> None:
    assert asked("go").task.until_stopped
    assert asked("go infinite").task.until_stopped
    assert not asked("go depth 1").task.until_stopped


@pytest.mark.parametrize("score", [0, 31, -250, MATE - 1, MATE - 5, 4 - MATE, 2 - MATE])
def test_scores_are_read_back_as_they_were(score: int) -> None:
    assert parse_information(f"info depth 3 score {format_score(score)} nodes 7 pv h3e3").score == score


def test_every_parameter_is_an_option_that_a_reader_understands() -> None:
    listener = Listener()
    session = UciServer("xiangqi", {"tempo": 33}, listener)  # type: ignore[arg-type]
    session.handle("uci")
    options = {}
    while (line := listener.lines.get(timeout=1)) != "uciok":
        assert line is not None
        option = parse_option(line)
        if option is not None:
            options[option.name] = option
    for row in parameters_of("xiangqi"):
        option = options[session.other_names.get(row.name, row.protocol_name)]
        kinds = {"switch": "check", "integer": "spin", "choice": "combo", "weights": "string"}
        assert option.kind == kinds[row.kind]
        if row.kind == "integer":
            assert (option.low, option.high) == row.legal
        if row.kind == "choice":
            assert option.choices == row.legal
    assert options["Tempo"].default == "33"
    assert options["NullMove"].default == "true"
    assert options["TimeStrategy"].default == "elephanteye"
