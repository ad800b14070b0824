"""The Python game loop: clocks, arbiter, adjudication, and every fault an external engine can commit."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elolab.arena.play.game import GameClock, play_game
from elolab.arena.players.player import Player, PlayerClock, PlayerFault, Reply
from elolab.arena.players.process import GAMES_DIRECTORIES
from elolab.arena.players.registry import make_player
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.arena.statistics.faults import FORFEITS
from elolab.engine.compiled.kernel import new_record
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.play import CLOCKS_DTYPE, set_clock, spend_clock
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

MOCK = str(Path(__file__).parents[2] / "support" / "mock_engines.py")
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
NO_ADJUDICATION = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)
SHUFFLE = ("a0a1", "a9a8", "a1a0", "a8a9")


def mock_spec(mode: str = "good", limit: str = "nodes=100", **changes: Any) -> PlayerSpec:
    settings = changes.pop("settings", {})
    words = tuple(f"{name}={value}" for name, value in settings.items())
    command = (sys.executable, "-I", "-S", MOCK, mode, *words)
    spec = PlayerSpec(mode, "uci", Limits.parse(limit), command=command, start_timeout_ms=10_000)
    return replace(spec, **changes)


def job_of(
    first: PlayerSpec,
    second: PlayerSpec,
    opening: Opening | None = None,
    adjudication: Adjudication = NO_ADJUDICATION,
    rules: Rules | None = None,
) -> GameJob:
    pairing = Pairing(number=0, pair=0, first=0, second=1, opening=0)
    return GameJob("xiangqi", rules or Rules(), adjudication, pairing, first, second, opening or Opening(START), seed=1)


PlayJob = Callable[..., GameRecord]


@pytest.fixture
def players() -> Iterator[dict[PlayerSpec, Player]]:
    """The players of a test by specification; all are closed, and their processes gone, afterwards."""
    made: dict[PlayerSpec, Player] = {}
    yield made
    groups = [player.process_id for player in made.values() if getattr(player, "process_id", None)]
    for player in made.values():
        player.close()
    assert not [group for group in groups if group_is_alive(group)]


@pytest.fixture
def play(players: dict[PlayerSpec, Player]) -> PlayJob:
    """Play a job with players that are kept from game to game."""

    def play_one(job: GameJob, stop: StopFlag | None = None) -> GameRecord:
        for spec in (job.first, job.second):
            if spec not in players:
                players[spec] = make_player(spec, "xiangqi")
        return play_game(job, (players[job.first], players[job.second]), stop or StopFlag())

    return play_one


def group_is_alive(group: int) -> bool:
    listing = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    return any(line.split()[0] == str(group) and "Z" not in line.split()[1] for line in listing.splitlines())


def moves_of(record: GameRecord) -> list[str]:
    return [entry.move for entry in record.moves]


# --- Clocks -----------------------------------------------------------------------------------------------------------


def clock_of(limit: str, protocol: str = "builtin", margin_ms: int = 100) -> GameClock:
    return GameClock(PlayerSpec("A", protocol, Limits.parse(limit), margin_ms=margin_ms))


def told(remaining_ms: int, *others: int | None) -> PlayerClock:
    return PlayerClock(remaining_ms * 1_000_000, *others)  # type: ignore[arg-type]


def test_a_clock_with_increment() -> None:
    clock, opponent = clock_of("clock=10+0.5"), clock_of("nodes=5")
    clock.after_move(1_000_000_000)
    assert clock.remaining_ns == 9_500_000_000
    assert clock.before_move(opponent) == told(9500, 500, None, 0, 0)
    assert opponent.before_move(clock) is None
    assert clock.before_move(clock_of("clock=3+0.2")) == told(9500, 500, 3000, 200, 0)


def test_a_clock_that_is_refilled_after_so_many_moves() -> None:
    clock, opponent = clock_of("clock=2/10+1"), clock_of("clock=3/10")
    seen = []
    for _ in range(4):
        before = clock.before_move(opponent)
        assert before is not None
        seen.append((before.remaining_ms, before.moves_to_go, before.opponent_moves_to_go))
        clock.after_move(3_000_000_000)
        opponent.after_move(0)
    assert seen == [(10_000, 2, 3), (8_000, 1, 2), (16_000, 2, 1), (14_000, 1, 3)]


@pytest.mark.parametrize("protocol", ["builtin", "uci"])
def test_the_last_nanosecond_counts_and_the_margin_is_that_of_all_players(protocol: str) -> None:
    clock_of("clock=1", protocol, margin_ms=0).after_move(1_000_000_000)
    with pytest.raises(PlayerFault) as caught:
        clock_of("clock=1", protocol, margin_ms=0).after_move(1_000_000_001)
    assert caught.value.reason == "time_forfeit"
    clock = clock_of("clock=1+2", protocol)
    clock.after_move(1_100_000_000)
    assert (clock.remaining_ms, clock.overruns, clock.worst_overrun_ns) == (2000, 1, 100_000_000)
    with pytest.raises(PlayerFault, match=r"after 1\.1 s, with only 1 s left plus a margin of 100 ms"):
        clock_of("clock=1", protocol).after_move(1_100_000_001)


@pytest.mark.parametrize("protocol", ["builtin", "uci"])
def test_a_time_a_move_binds_all_players(protocol: str) -> None:
    clock_of("move_time=0.1", protocol, margin_ms=50).after_move(150_000_000)
    with pytest.raises(PlayerFault):
        clock_of("move_time=0.1", protocol, margin_ms=50).after_move(150_000_001)


def test_a_clock_of_nodes_has_no_margin_and_a_search_ends_itself_there() -> None:
    with pytest.raises(PlayerFault):
        clock_of("clock=1,node_clock=1000").after_move(1_000_000_001)
    clock_of("move_time=0.1,node_clock=1000").after_move(10**12)


@settings(max_examples=60, deadline=None)
@given(
    limit=st.sampled_from(
        ["clock=1+0.1", "clock=2/1", "move_time=0.2", "clock=1,cpu", "clock=1+0.1,node_clock=9", "depth=3"]
    ),
    margin_ms=st.sampled_from([0, 100]),
    moves_ms=st.lists(st.integers(0, 700), max_size=8),
)
def test_both_game_loops_charge_moves_alike(limit: str, margin_ms: int, moves_ms: list[int]) -> None:
    clock, record = clock_of(limit, margin_ms=margin_ms), new_record(CLOCKS_DTYPE)
    set_clock(record, 1, Limits.parse(limit), margin_ms)
    for elapsed_ms in moves_ms:
        elapsed_ns = elapsed_ms * 1_000_000
        if not spend_clock.py_func(record, 1, np.int64(elapsed_ns)):
            with pytest.raises(PlayerFault):
                clock.after_move(elapsed_ns)
            return
        clock.after_move(elapsed_ns)
        assert (record.overruns[1], record.worst_overrun_ns[1]) == (clock.overruns, clock.worst_overrun_ns)
        assert not clock.runs or record.remaining_ns[1] == clock.remaining_ns


class FakePlayer:
    """Plays a list of moves, each at a price, and notes what it was told."""

    def __init__(self, limit: str, moves: Sequence[str], elapsed_ms: Sequence[int], score: int | None = 0) -> None:
        self.spec = PlayerSpec(f"fake {id(self)}", "uci", Limits.parse(limit), command=("x",))
        self.name = self.spec.name
        self.moves, self.elapsed_ms, self.score = list(moves), list(elapsed_ms), score
        self.clocks: list[PlayerClock | None] = []
        self.lines: list[list[str]] = []
        self.closed = 0

    def start(self) -> None:
        pass

    def announce_game(self, opening: Opening, stop: StopFlag) -> None:
        pass

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        pass

    def move(self, position: Any, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        self.clocks.append(clock)
        self.lines.append(list(moves))
        number = len(self.clocks) - 1
        return Reply(self.moves[number], self.score, 1, 7, self.elapsed_ms[number] * 1_000_000)

    def dialogue(self) -> list[str]:
        return ["0.1 < bestmove"]

    def close(self) -> None:
        self.closed += 1


def play_fakes(first: FakePlayer, second: FakePlayer, **changes: Any) -> GameRecord:
    return play_game(job_of(first.spec, second.spec, **changes), (first, second), StopFlag())


RED, BLACK = ("a0a1", "a1a0") * 20, ("a9a8", "a8a9") * 20


def test_each_player_sees_its_own_clock_and_all_the_moves() -> None:
    first = FakePlayer("clock=10+1", RED, [2000, 3000, 100, 100])
    second = FakePlayer("clock=20", BLACK, [500, 600, 100, 100])
    record = play_fakes(first, second)
    assert (record.result, record.reason) == ("1/2-1/2", "repetition")
    assert first.clocks[:2] == [told(10_000, 1000, 20_000, 0, 0), told(9000, 1000, 19_500, 0, 0)]
    assert second.clocks[:2] == [told(20_000, 0, 9000, 1000, 0), told(19_500, 0, 7000, 1000, 0)]
    assert second.lines[1] == ["a0a1", "a9a8", "a1a0"]
    assert [entry.time_ms for entry in record.moves[:3]] == [2000, 500, 3000]
    assert (first.closed, second.closed) == (0, 0)


def test_time_runs_out_in_the_loop() -> None:
    record = play_fakes(FakePlayer("clock=10", RED, [0] * 9), FakePlayer("clock=1", BLACK, [600, 600]))
    assert (record.result, record.reason, len(record.moves)) == ("1-0", "time_forfeit", 4)


def test_an_overrun_within_the_margin_is_noted() -> None:
    record = play_fakes(FakePlayer("clock=10", RED, [0] * 9), FakePlayer("clock=1+1", BLACK, [1050, 0, 0, 0]))
    assert record.reason == "repetition"
    assert record.detail == {"overruns": [{"moves": 0, "worst_ms": 0.0}, {"moves": 1, "worst_ms": 50.0}]}


# --- Arbiter and adjudication -----------------------------------------------------------------------------------------


def test_the_opening_is_part_of_the_history_but_not_of_the_record() -> None:
    first, second = FakePlayer("nodes=1", RED, [0] * 20), FakePlayer("nodes=1", BLACK, [0] * 20)
    record = play_fakes(first, second, opening=Opening(START, SHUFFLE))
    assert (record.reason, moves_of(record)) == ("repetition", list(SHUFFLE))
    assert first.lines[0] == list(SHUFFLE)
    assert record.opening.moves == SHUFFLE


def test_after_an_odd_opening_the_second_player_begins() -> None:
    first, second = FakePlayer("nodes=1", RED[1:], [0] * 20), FakePlayer("nodes=1", BLACK, [0] * 20)
    record = play_fakes(first, second, opening=Opening(START, ("a0a1",)))
    assert moves_of(record)[0] == "a9a8"
    assert record.reason == "repetition"


def test_maximum_length_counts_from_the_opening() -> None:
    adjudication = replace(NO_ADJUDICATION, maximum_plies=3)
    first, second = FakePlayer("nodes=1", RED, [0] * 20), FakePlayer("nodes=1", BLACK, [0] * 20)
    record = play_fakes(first, second, adjudication=adjudication, opening=Opening(START, SHUFFLE))
    assert (record.result, record.reason, len(record.moves)) == ("1/2-1/2", "maximum_length", 3)


def test_adjudication_reads_the_movers_scores() -> None:
    adjudication = Adjudication(resign_score=500, resign_moves=2, draw_moves=0, maximum_plies=0)
    first, second = FakePlayer("nodes=1", RED, [0] * 20, score=-600), FakePlayer("nodes=1", BLACK, [0] * 20, score=700)
    record = play_fakes(first, second, adjudication=adjudication)
    assert (record.result, record.reason) == ("0-1", "resign_adjudication")
    silent = FakePlayer("nodes=1", BLACK, [0] * 20, score=None)
    first = FakePlayer("nodes=1", RED, [0] * 20, score=-600)
    assert play_fakes(first, silent, adjudication=adjudication).reason == "repetition"


class OfferingPlayer(FakePlayer):
    """Offers a draw with every move."""

    def move(self, position: Any, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        return (super().move(position, moves, clock, stop))._replace(offers_draw=True)

    def hear_draw_offer(self) -> None:
        pass


class DeafPlayer(FakePlayer):
    """Has no words for draws."""

    def hear_draw_offer(self) -> None:
        pass


@pytest.mark.parametrize(
    ("score", "after", "reason", "moves"),
    [(15, 0, "draw_agreement", 2), (16, 0, "repetition", 8), (None, 0, "repetition", 8), (-900, 0, "draw_agreement", 2),
     (15, 1, "draw_agreement", 2), (15, 2, "draw_agreement", 4), (15, 3, "draw_agreement", 4)],
)  # fmt: skip
def test_an_offer_is_accepted_up_to_the_margin_once_so_many_plies_are_over(
    score: int | None, after: int, reason: str, moves: int
) -> None:
    adjudication = replace(NO_ADJUDICATION, draw_score=15, draw_after_ply=after)
    first, second = OfferingPlayer("nodes=1", RED, [0] * 20), DeafPlayer("nodes=1", BLACK, [0] * 20, score)
    record = play_fakes(first, second, adjudication=adjudication)
    assert (record.result, record.reason, len(record.moves)) == ("1/2-1/2", reason, moves)


def test_the_rules_of_the_arbiter_come_before_adjudication() -> None:
    adjudication = replace(NO_ADJUDICATION, maximum_plies=8)
    record = play_fakes(
        FakePlayer("nodes=1", RED, [0] * 20), FakePlayer("nodes=1", BLACK, [0] * 20), adjudication=adjudication
    )
    assert record.reason == "repetition"


def test_a_game_that_is_over_before_it_begins() -> None:
    mated = "R3k4/1R7/9/9/9/9/9/9/9/3K5 b - - 0 1"
    record = play_fakes(FakePlayer("nodes=1", [], []), FakePlayer("nodes=1", [], []), opening=Opening(mated))
    assert (record.result, record.reason, record.moves) == ("1-0", "checkmate", ())


def test_a_game_longer_than_a_position_can_remember_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_named("xiangqi"), "max_game_plies", 5)
    record = play_fakes(FakePlayer("nodes=1", RED, [0] * 20), FakePlayer("nodes=1", BLACK, [0] * 20))
    assert (record.result, record.reason, len(record.moves)) == ("1/2-1/2", "maximum_length", 5)


def test_the_record_is_complete() -> None:
    first, second = FakePlayer("nodes=1", RED, [0] * 20), FakePlayer("nodes=1", BLACK, [0] * 20)
    job = job_of(first.spec, second.spec)
    record = play_game(job, (first, second), StopFlag())
    assert (record.key, record.first, record.second) == (job.key, first.name, second.name)
    assert record.moves[0].score == 0
    assert (record.moves[0].depth, record.moves[0].nodes) == (1, 7)
    assert record.final_position.startswith("rnbakabnr/9/1c5c1/")
    assert record.engine_identity
    assert record.started_at.startswith("20")
    assert record.detail == {}


def test_an_illegal_move_loses_and_the_player_is_closed() -> None:
    first, second = FakePlayer("nodes=1", ["a0a9"], [0]), FakePlayer("nodes=1", BLACK, [0])
    record = play_fakes(first, second)
    assert (record.result, record.reason, record.moves) == ("0-1", "illegal_move", ())
    fault = record.detail["fault"]
    assert (fault["player"], fault["side"], fault["moves"]) == (first.name, 0, 0)
    assert "a0a9" in fault["text"]
    assert record.detail["dialogue"] == ["0.1 < bestmove"]
    assert (first.closed, second.closed) == (1, 0)


def test_an_answer_that_came_twice_is_told_from_other_illegal_moves() -> None:
    hint = "; the move repeats its previous one, so it may have answered the previous search twice or late"
    for moves, is_again in ((["a0a1", "a0a1"], True), (["a0a1", "a0a2"], False)):
        record = play_fakes(FakePlayer("nodes=1", moves, [0, 0]), FakePlayer("nodes=1", BLACK, [0]))
        assert (record.reason, len(record.moves)) == ("illegal_move", 2)
        assert record.detail["fault"]["text"].endswith(hint) == is_again


# --- Faults of external engines ---------------------------------------------------------------------------------------


def test_a_crash_while_the_opponent_thinks_is_noticed_at_the_next_move(play: PlayJob) -> None:
    record = play(job_of(mock_spec("leave", settings={"at": 1}), mock_spec()))
    assert (record.result, record.reason, len(record.moves)) == ("0-1", "crash", 2)
    assert "exited with code 0" in record.detail["fault"]["text"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"mode": "exit_at_start"}, "cannot find my network file"),
        ({"mode": "silent", "start_timeout_ms": 300}, "handshake within 0.3 s"),
        ({"command": ("no-such-engine",)}, "no such program"),
        ({"options": (("Hsh", "1"),)}, "did you mean 'Hash'"),
    ],
)
def test_a_player_that_cannot_start_is_named(play: PlayJob, changes: dict[str, Any], text: str) -> None:
    broken = mock_spec(name="broken", **changes)
    for job in (job_of(broken, mock_spec()), job_of(mock_spec(), broken)):
        record = play(job)
        assert (record.result, record.reason, record.moves) == ("*", "startup_failure", ())
        assert record.detail["fault"]["player"] == "broken"
        assert text in record.detail["fault"]["text"]
    assert play(job_of(mock_spec(), mock_spec(name="other"))).reason == "repetition"


@pytest.mark.parametrize(
    "thinker",
    [
        mock_spec("until_stop", settings={"at": 2}, watchdog_ms=30_000),
        mock_spec("silent", start_timeout_ms=60_000),
    ],
)
def test_the_stop_flag_gives_the_game_up(play: PlayJob, thinker: PlayerSpec) -> None:
    stop = StopFlag()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    began = time.monotonic()
    record = play(job_of(thinker, mock_spec()), stop)
    timer.join()
    assert (record.result, record.reason, record.detail) == ("*", "stopped", {})
    assert time.monotonic() - began < 5.0


def test_processes_are_kept_after_a_game(play: PlayJob, players: dict[PlayerSpec, Player]) -> None:
    first, second = mock_spec(), mock_spec(name="other")
    play(job_of(first, second))
    before = [players[spec].process_id for spec in (first, second)]  # type: ignore[attr-defined]
    play(job_of(second, first))
    assert [players[spec].process_id for spec in (first, second)] == before  # type: ignore[attr-defined]
    assert None not in before


# --- Against the compiled loop and a real engine ----------------------------------------------------------------------


def builtin_spec(name: str, limit: str, **parameters: Any) -> PlayerSpec:
    from elolab.engine.settings.parameters import resolve

    values = resolve(parameters, game="xiangqi")
    return PlayerSpec(name, "builtin", Limits.parse(limit), parameters=tuple(values.items()))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("nodes=300", "nodes=300"),
        ("depth=3", "nodes=200"),
        ("clock=2+0.01,node_clock=20000", "clock=20/1+0.01,node_clock=20000"),
        ("clock=0.03,node_clock=20000", "nodes=100"),
        ("move_time=0.02,node_clock=20000", "depth=2"),
    ],
)
def test_both_loops_play_the_same_game(play: PlayJob, first: str, second: str) -> None:
    from elolab.engine.play import CompiledGames, PlayerSettings

    games = CompiledGames("xiangqi")
    for number, opening in enumerate(
        (Opening(START, ("h2e2", "h9g7", "h0g2")), Opening(START), Opening(START, SHUFFLE))
    ):
        adjudication = Adjudication(
            resign_score=600, resign_moves=3, draw_moves=6, draw_after_ply=40, maximum_plies=120
        )
        job = job_of(builtin_spec("A", first), builtin_spec("B", second, null_move=number != 1), opening, adjudication)
        record = play(job)
        game = games.play(
            opening.position,
            opening.moves,
            PlayerSettings(dict(job.first.parameters), job.first.limits),
            PlayerSettings(dict(job.second.parameters), job.second.limits),
            job.rules,
            job.adjudication,
            StopFlag(),
        )
        python = [(entry.move, entry.score, entry.depth, entry.nodes) for entry in record.moves]
        compiled = list(zip(game.moves, game.scores, game.depths, game.nodes, strict=True))
        assert python == compiled
        assert (record.result, record.reason) == (game.result, game.reason)
        assert record.final_position == game.final_position


FAIRY_STOCKFISH = shutil.which("fairy-stockfish") or shutil.which("fairy-stockfish", path=":".join(GAMES_DIRECTORIES))
needs_fairy_stockfish = pytest.mark.skipif(
    FAIRY_STOCKFISH is None, reason="fairy-stockfish is not installed (apt install fairy-stockfish)"
)


def fairy_spec(limit: str, name: str = "fairy", **options: str) -> PlayerSpec:
    wanted = (("Use NNUE", "false"), ("Hash", "1"), *options.items())
    return PlayerSpec(name, "uci", Limits.parse(limit), command=("fairy-stockfish",), options=wanted)


@pytest.mark.integration
@needs_fairy_stockfish
def test_fairy_stockfish_plays_itself_and_the_moves_have_figures(play: PlayJob) -> None:
    adjudication = Adjudication(maximum_plies=60)
    opening = Opening(START, ("h2e2", "h9g7", "h0g2"))
    record = play(job_of(fairy_spec("nodes=500"), fairy_spec("nodes=800", "other"), opening, adjudication))
    assert record.reason not in FORFEITS
    assert len(record.moves) > 10
    for entry in record.moves:
        assert entry.score is not None
        assert entry.depth
        assert entry.nodes


@pytest.mark.integration
@needs_fairy_stockfish
@pytest.mark.parametrize("limit", ["clock=1+0.02", "move_time=0.03", "depth=3"])
def test_fairy_stockfish_against_the_built_in_engine(play: PlayJob, limit: str) -> None:
    adjudication = Adjudication(maximum_plies=12)
    builtin, fairy = builtin_spec("ours", "nodes=500"), fairy_spec(limit)
    for job in (job_of(builtin, fairy, None, adjudication), job_of(fairy, builtin, None, adjudication)):
        record = play(job)
        assert record.reason not in FORFEITS
        assert len(record.moves) > 10


@pytest.mark.integration
@needs_fairy_stockfish
def test_the_wrong_rank_base_is_an_illegal_move_that_names_the_base(play: PlayJob) -> None:
    record = play(job_of(fairy_spec("nodes=100", ranks="0"), fairy_spec("nodes=100", "other")))
    assert (record.result, record.reason) == ("0-1", "illegal_move")
    assert "ranks counted from 0" in record.detail["fault"]["text"]
