"""Thinking on the opponent's time in matches: granted afterwards on clocks that count work, in threads and processes
on the wall clock."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.notation.pgn import game_text
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.game import play_game
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import run
from elolab.arena.players.builtin import BuiltinPlayer
from elolab.arena.players.player import Player, PlayerClock, Pondered, Reply
from elolab.arena.players.registry import make_player
from elolab.arena.players.threads import start_thread
from elolab.arena.records import GameJob, GameRecord, MoveRecord, Opening, Pairing, PlayerSpec
from elolab.arena.tournament_reader import load_tournament, spec_from_mapping
from elolab.engine.engine import Engine, PonderGrant, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from tests.support.portable_texts import read_games

pytestmark = pytest.mark.usefixtures("without_charts")

ROOT = Path(__file__).parents[3]
MOCK = str(Path(__file__).parents[2] / "support" / "mock_engines.py")
GAME = game_named("xiangqi")
NO_ADJUDICATION = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)
SHORT = replace(NO_ADJUDICATION, maximum_plies=16)
MIDDLE_GAME = ("h2e2", "h9g7", "h0g2", "i9h9", "b0c2", "c6c5")


# --- The search under a grant -----------------------------------------------------------------------------------------


def granted(milliseconds: float, is_hit: bool, speed: int = 1_000_000, **parameters: Any) -> Any:
    """The result of a search with 20 ms for its move, whose opponent took so long."""
    limits = Limits(move_time_ms=20, clock_kind="node", nodes_per_second=speed)
    engine = Engine("xiangqi", {"hash_mb": 1, **parameters})
    grant = PonderGrant(round(milliseconds * 1e6), is_hit)
    return engine.search(GAME.position(None, MIDDLE_GAME), limits, ponder=grant)


@pytest.mark.parametrize("interval", [16, 1000, 100_000])
def test_a_hit_comes_after_exactly_the_granted_nodes(interval: int) -> None:
    """The oracle is a search without clock: where the clock starts to run changes nothing before its end."""
    found = granted(15, True, poll_interval_nodes=interval)
    plain = Engine("xiangqi", {"hash_mb": 1}).search(GAME.position(None, MIDDLE_GAME), Limits(nodes=35_000))
    assert found.nodes == 35_000
    assert (found.move, found.score, found.depth) == (plain.move, plain.score, plain.depth)


def test_a_miss_ends_after_exactly_the_granted_nodes() -> None:
    assert [granted(15, False, poll_interval_nodes=interval).nodes for interval in (16, 100_000)] == [15_000, 15_000]


def test_a_slower_player_gets_fewer_nodes_for_the_same_time() -> None:
    assert granted(15, True, speed=200_000).nodes == 3_000 + 4_000
    assert granted(15, False, speed=200_000).nodes == 3_000


def test_time_since_the_start_counts_where_it_is_asked_to() -> None:
    assert granted(5, True, ponder_elapsed="from_start").nodes == 20_000, "the hit comes before the time is over"
    assert granted(50, True, ponder_elapsed="from_start").nodes == 50_000, "the time was over at the hit"


def test_a_grant_is_used_once() -> None:
    engine, position = Engine("xiangqi", {"hash_mb": 1}), GAME.position(None, MIDDLE_GAME)
    limits = Limits(move_time_ms=20, clock_kind="node", nodes_per_second=1_000_000)
    engine.search(position, limits, ponder=PonderGrant(5_000_000, False))
    assert engine.search(position, limits).nodes == 20_000


# --- The loop ---------------------------------------------------------------------------------------------------------


class Ponderer:
    """Plays a list of moves and expects a list of replies; notes what it was asked."""

    def __init__(self, moves: Sequence[str], expected: Sequence[str | None], milliseconds: int) -> None:
        self.spec = PlayerSpec(f"fake {id(self)}", "uci", Limits.parse("clock=10"), command=("x",), ponder=True)
        self.name = self.spec.name
        self.replies = list(zip(moves, expected, strict=True))
        self.elapsed_ns = milliseconds * 1_000_000
        self.asked: list[tuple[Any, ...]] = []

    def start(self) -> None:
        pass

    def announce_game(self, opening: Opening, stop: StopFlag) -> None:
        pass

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        pass

    def move(self, position: Any, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        self.asked.append(("move", len(moves)))
        move, expected = self.replies.pop(0)
        return Reply(move, 0, 1, 7, self.elapsed_ns, expected=expected)

    def ponder(self, position: Any, moves: Sequence[str], clock: PlayerClock | None) -> None:
        assert position.text == GAME.position(None, moves).text
        assert clock is not None
        self.asked.append(("ponder", *moves[-2:], clock.remaining_ms))

    def move_after_pondering(
        self, position: Any, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, pondered: Pondered
    ) -> Reply:
        self.asked.append((pondered.is_hit, pondered.opponent_ns // 1_000_000))
        move, expected = self.replies.pop(0)
        return Reply(move, 0, 1, 7, self.elapsed_ns, expected=expected)

    def stop_pondering(self) -> None:
        self.asked.append(("stop",))

    def dialogue(self) -> list[str]:
        return []

    def close(self) -> None:
        pass


def job_of(first: PlayerSpec, second: PlayerSpec, adjudication: Adjudication = SHORT) -> GameJob:
    pairing = Pairing(number=0, pair=0, first=0, second=1, opening=0)
    opening = Opening(GAME.start, () if first.protocol == "uci" else MIDDLE_GAME)
    return GameJob("xiangqi", Rules(), adjudication, pairing, first, second, opening, seed=1)


def test_the_loop_lets_players_ponder() -> None:
    red = Ponderer(["a0a1", "a1a0", "a0a1"], ["a9a8", "a8a9", "a8a9"], 20)
    black = Ponderer(["a9a8", "i9i8", "a8a9"], ["a1a0", None, "a1a1"], 30)
    record = play_game(job_of(red.spec, black.spec, replace(SHORT, maximum_plies=6)), (red, black), StopFlag())
    assert (record.reason, len(record.moves)) == ("maximum_length", 6)
    assert red.asked == [
        ("move", 0), ("ponder", "a0a1", "a9a8", 9980), (True, 30), ("ponder", "a1a0", "a8a9", 9960), (False, 30),
        ("ponder", "a0a1", "a8a9", 9940), ("stop",),
    ]  # fmt: skip
    assert black.asked == [("move", 1), ("ponder", "a9a8", "a1a0", 9970), (True, 20), ("move", 5)], "no reply expected"
    assert record.detail == {"pondering": [{"tries": 3, "hits": [2]}, {"tries": 1, "hits": [3]}]}


def test_nobody_ponders_on_an_illegal_reply_or_on_the_end_of_the_game() -> None:
    shuffle = [("a0a1", "a9a8"), ("a1a0", "a8a9")] * 2
    red = Ponderer([red for red, _ in shuffle], ["a9a1", "xyz", "a9a8", "a8a9"], 1)
    black = Ponderer([black for _, black in shuffle], [None] * 4, 1)
    record = play_game(job_of(red.spec, black.spec), (red, black), StopFlag())
    assert record.reason == "repetition"
    assert [entry for entry in red.asked if entry[0] == "ponder"] == [("ponder", "a0a1", "a9a8", 9997)], (
        "the last expected reply would end the game"
    )


def test_hits_are_marked_in_the_game_and_read_over() -> None:
    record = GameRecord(
        "0" * 32, Pairing(0, 0, 0, 1, 0), "A", "B", Opening(GAME.start),
        (MoveRecord("a0a1", 31, 12, 1000, 430.0), MoveRecord("a9a8", -5, 3, 10, 1.0)), "*", "unfinished", "engine",
        detail={"pondering": [{"tries": 1, "hits": []}, {"tries": 1, "hits": [1]}]},
    )  # fmt: skip
    text = game_text(record, "event", GAME)
    assert "{-0.05/3 0.001s 10n ponder hit}" in text
    assert "{+0.31/12 0.430s 1000n}" in text
    (game,) = read_games(text, "x.pgn", "xiangqi")
    assert [move.figures for move in game.moves] == list(record.moves)


# --- Built-in players on the node and the CPU clock -------------------------------------------------------------------

OPENINGS = """\
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C4NC1/9/RNBAKAB1R b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C1C5/9/RNBAKABNR b - - 0 1
"""
SPEEDS = (400_000, 250_000)
TOURNAMENT = f"""\
pairs = 2
ponder = true
openings = "three.epd"
[adjudication]
maximum_plies = 40
[[players]]
name = "fast"
limit = "clock=0.06+0.003,node_clock={SPEEDS[0]}"
set = {{ hash_mb = 1 }}
[[players]]
name = "slow"
limit = "clock=0.06+0.003,node_clock={SPEEDS[1]}"
set = {{ hash_mb = 1, ponder_elapsed = "from_start" }}
[[players]]
name = "waits"
ponder = false
limit = "clock=0.06+0.003,node_clock={SPEEDS[1]}"
set = {{ hash_mb = 1 }}
"""


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ponder")
    (folder / "three.epd").write_text(OPENINGS)
    (folder / "cup.toml").write_text(TOURNAMENT)
    return folder / "cup.toml"


@pytest.fixture(scope="module")
def played(tournament: Path) -> list[GameRecord]:
    """The games of the tournament, one at a time."""
    return play_tournament(tournament, 1)


def play_tournament(path: Path, concurrency: int) -> list[GameRecord]:
    out = path.parent / f"out {concurrency}"
    ended = run(load_tournament(path), out, concurrency=concurrency, oversubscribe=True, stream=io.StringIO())
    assert ended.exit_code == 0
    with Store(out, read_only=True) as store:
        return store.records()


@pytest.mark.integration
@pytest.mark.parametrize("concurrency", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_the_same_games_at_any_concurrency(tournament: Path, played: list[GameRecord], concurrency: int) -> None:
    again = play_tournament(tournament, concurrency)
    assert [game.digest for game in again] == [game.digest for game in played]
    assert [game.detail for game in again] == [game.detail for game in played]
    assert [game.moves for game in again] == [game.moves for game in played], "with their times"


@pytest.mark.integration
def test_hits_cost_only_the_time_after_them(played: list[GameRecord]) -> None:
    """The account of every game: nodes at the player's speed, less what the opponent's move took after a hit."""
    speeds = {"fast": SPEEDS[0], "slow": SPEEDS[1], "waits": SPEEDS[1]}
    hits = free = 0
    for game in played:
        before_ms = 0.0
        names = (game.first, game.second)
        first_mover = GAME.position(game.opening.position, game.opening.moves).side_to_move
        left_ms = [60.0, 60.0]  # as far as the stored times, rounded to microseconds, tell
        for number, entry in enumerate(game.moves):
            side = (first_mover + number) % 2
            assert entry.nodes is not None
            spent_ms = 1000 * entry.nodes / speeds[names[side]]
            if number in game.ponder_hits:
                hits += 1
                free += spent_ms <= before_ms
                spent_ms = max(0.0, spent_ms - before_ms)
            assert entry.time_ms == pytest.approx(spent_ms, abs=0.002)
            left_ms[side] += 3 - spent_ms
            assert left_ms[side] >= 3 - 0.1, "a clock on the node clock is never overdrawn"
            before_ms = entry.time_ms
    assert hits > 20
    assert free < hits


@pytest.mark.integration
def test_who_does_not_ponder_has_no_hits(played: list[GameRecord]) -> None:
    sides = {"fast": 0, "slow": 0, "waits": 0}
    for game in played:
        for name, side in zip((game.first, game.second), game.detail["pondering"], strict=True):
            sides[name] += side["tries"]
            assert len(side["hits"]) <= side["tries"]
    assert sides["waits"] == 0
    assert min(sides["fast"], sides["slow"]) > 50


def test_after_a_miss_the_opponents_time_has_been_spent_on_the_expected_position(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, Any, int]] = []
    search = Engine.search

    def spied(self: Engine, position: Any, limits: Limits, *arguments: Any, **named: Any) -> Any:
        result = search(self, position, limits, *arguments, **named)
        seen.append((position.text, named.get("ponder"), result.nodes))
        return result

    monkeypatch.setattr(Engine, "search", spied)
    limits = Limits.parse("move_time=0.01,node_clock=1000000")
    player = BuiltinPlayer(builtin("ponders", str(limits)), "xiangqi")
    player.new_game(Opening(GAME.start), StopFlag())
    expected, made = GAME.position(None, ("h2e2", "h9g7")), GAME.position(None, ("h2e2", "b9c7"))
    player.ponder(expected, ("h2e2", "h9g7"), None)
    pondered = player.move_after_pondering(made, ("h2e2", "b9c7"), None, StopFlag(), Pondered(False, 3_000_000))
    reply = pondered
    assert seen == [(expected.text, PonderGrant(3_000_000, False), 3000), (made.text, None, 10_000)]
    assert reply.elapsed_ns == 10_000_000


def builtin(name: str, limit: str, **changes: Any) -> PlayerSpec:
    parameters = tuple(resolve({"hash_mb": 1}, game="xiangqi").items())
    return PlayerSpec(name, "builtin", Limits.parse(limit), parameters=parameters, **{"ponder": True, **changes})


def play_builtin(first: PlayerSpec, second: PlayerSpec, stop: StopFlag | None = None) -> list[GameRecord]:
    stop = stop or StopFlag()
    with GameRunner(1, stop) as runner:
        return list(runner.run([job_of(first, second, replace(SHORT, maximum_plies=12))]))


@pytest.mark.integration
def test_the_cpu_clock_counts_no_time_of_other_threads() -> None:
    """Ponder search and move search come in turn: between two moves there is no second thread."""
    (record,) = play_builtin(builtin("A", "clock=0.3+0.01,cpu"), builtin("B", "clock=0.3+0.01,cpu"))
    assert record.reason in ("maximum_length", "repetition")
    assert record.detail["pondering"][0]["tries"] + record.detail["pondering"][1]["tries"] > 5
    assert record.ponder_hits


# --- Built-in players on the wall clock -------------------------------------------------------------------------------


def have_threads_of_players() -> None:
    """Start the threads in which players ponder: a process keeps them from its first game on."""
    wait([start_thread(time.sleep, 0.05) for _ in range(2)])


@pytest.mark.integration
def test_a_game_with_both_sides_thinking_at_once() -> None:
    have_threads_of_players()
    before = threading.active_count()
    (record,) = play_builtin(builtin("A", "clock=1+0.03"), builtin("B", "clock=1+0.03"))
    assert record.reason in ("maximum_length", "repetition")
    assert record.ponder_hits
    for number in record.ponder_hits:
        entry = record.moves[number]
        assert entry.nodes
        assert entry.time_ms >= 0
    assert threading.active_count() == before


def test_a_search_that_ended_before_the_hit_costs_nothing() -> None:
    player = BuiltinPlayer(builtin("A", "clock=10,depth=1"), "xiangqi")
    player.new_game(Opening(GAME.start), StopFlag())
    position = GAME.position(None, ("h2e2", "h9g7"))
    player.ponder(position, ("h2e2", "h9g7"), None)
    time.sleep(1.0)  # a search of one ply has ended by then
    reply = player.move_after_pondering(position, ("h2e2", "h9g7"), None, StopFlag(), Pondered(True, 1))
    assert (reply.elapsed_ns, reply.depth) == (0, 1)
    assert reply.move in position.legal_moves()


def test_a_stop_ends_a_game_that_ponders_and_all_its_threads() -> None:
    have_threads_of_players()
    stop, before = StopFlag(), threading.active_count()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    assert play_builtin(builtin("A", "clock=1000"), builtin("B", "clock=1000"), stop) == []
    timer.join()
    assert threading.active_count() == before


def test_a_stop_ends_a_search_after_its_hit() -> None:
    player, stop = BuiltinPlayer(builtin("A", "move_time=1000"), "xiangqi"), StopFlag()
    player.new_game(Opening(GAME.start), stop)
    position = GAME.position(None, ("h2e2", "h9g7"))
    player.ponder(position, ("h2e2", "h9g7"), None)
    stop.set()
    reply = player.move_after_pondering(position, ("h2e2", "h9g7"), None, stop, Pondered(True, 1))
    assert reply.move in position.legal_moves()
    player.close()


# --- Slots ------------------------------------------------------------------------------------------------------------


def test_a_game_in_which_both_sides_think_at_once_takes_two_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, running, worst = threading.Lock(), [0], [0]

    def occupied(self: GameRunner, game: Any, *processors: Any) -> None:
        weight = 2 if game.job.thinks_on_both_sides else 1
        with lock:
            running[0] += weight
            worst[0] = max(worst[0], running[0])
        time.sleep(0.005)
        with lock:
            running[0] -= weight

    monkeypatch.setattr(GameRunner, "_play_compiled", occupied)
    monkeypatch.setattr(GameRunner, "_play_with_players", occupied)
    wall, node = builtin("wall", "clock=1"), builtin("node", "clock=1,node_clock=1000")
    alone = replace(wall, ponder=False)
    jobs = [job_of(*pair) for pair in ((alone, alone), (wall, alone), (node, node), (alone, wall)) * 8]
    assert [job.thinks_on_both_sides for job in jobs[:4]] == [False, True, False, True]
    with GameRunner(3, StopFlag()) as runner:
        assert list(runner.run(jobs)) == []
    assert worst == [3]
    with GameRunner(1, StopFlag()) as runner:  # with a single slot it takes that
        assert list(runner.run(jobs)) == []


def test_one_game_may_be_asked_for_twice_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    both_there = threading.Barrier(2, timeout=10)

    def stays(self: GameRunner, *game: Any) -> None:
        both_there.wait()

    monkeypatch.setattr(GameRunner, "_play_compiled", stays)
    alone = replace(builtin("wall", "clock=1"), ponder=False)
    with GameRunner(2, StopFlag()) as runner:
        assert list(runner.run([job_of(alone, alone)] * 2)) == []
        assert runner.running() == []


# --- External engines -------------------------------------------------------------------------------------------------


@pytest.fixture
def external() -> Iterator[Any]:
    """Make a UCI player of the mock engine in some mode; all are closed afterwards."""
    made: list[Player] = []

    def make(mode: str, limit: str = "clock=20+1") -> Player:
        command = (sys.executable, "-I", "-S", MOCK, mode)
        player = make_player(PlayerSpec(mode, "uci", Limits.parse(limit), command=command, ponder=True), "xiangqi")
        made.append(player)
        return player

    yield make
    for player in made:
        player.close()


def play_external(first: Player, second: Player) -> GameRecord:
    return play_game(job_of(first.spec, second.spec), (first, second), StopFlag())


def said_to(player: Player) -> list[str]:
    return [line.split(" > ", 1)[1] for line in player.dialogue() if " > " in line]


def test_an_external_engine_is_told_of_hits(external: Any) -> None:
    red, black = external("good"), external("expects_right")
    record = play_external(red, black)
    assert record.reason == "repetition"
    assert record.detail["pondering"] == [{"tries": 3, "hits": [2, 4, 6]}, {"tries": 3, "hits": [3, 5, 7]}]
    said = said_to(red)
    assert "setoption name Ponder value true" in said
    assert [line.split()[:2] for line in said if line.startswith("go") or line == "ponderhit"] == [
        ["go", "wtime"], *[["go", "ponder"], ["ponderhit"]] * 3,
    ]  # fmt: skip
    assert said[said.index("ponderhit") - 2].endswith("moves a1a2 a10a9"), "with the expected reply"


def test_a_miss_of_an_external_engine(external: Any) -> None:
    player, stop = external("good"), StopFlag()
    player.new_game(Opening(GAME.start), stop)
    clock = PlayerClock(10**10, 0, None, 0, 0)
    player.ponder(GAME.position(None, ("a0a1", "a9a8")), ("a0a1", "a9a8"), clock)
    made = ("a0a1", "i9i8")
    pondered = player.move_after_pondering(GAME.position(None, made), made, clock, stop, Pondered(False, 1))
    reply = pondered
    assert reply.move == "a1a0"
    assert [line.split()[0] for line in said_to(player)[-6:]] == ["position", "go", "stop", "isready", "position", "go"]


@pytest.mark.parametrize(
    ("mode", "is_hit", "reason", "text"),
    [
        ("dies_pondering", True, "crash", "exited with code 7"),
        ("dies_pondering", False, "crash", "exited with code 7"),
        ("ignores_stop", False, "no_answer", "ignored the command stop"),
    ],
)
def test_faults_while_pondering_show_after_the_opponents_move(
    external: Any, mode: str, is_hit: bool, reason: str, text: str
) -> None:
    from elolab.arena.players.player import PlayerFault

    player, stop, line = external(mode), StopFlag(), ("a0a1", "a9a8")
    player.new_game(Opening(GAME.start), stop)
    clock = PlayerClock(5 * 10**8 if mode == "ignores_stop" else 10**10, 0, None, 0, 0)
    player.ponder(GAME.position(None, line), line, clock)
    with pytest.raises(PlayerFault, match=text) as caught:
        player.move_after_pondering(GAME.position(None, line), line, clock, stop, Pondered(is_hit, 1))
    assert caught.value.reason == reason


def test_after_a_miss_the_engine_has_its_own_time_to_stop(external: Any) -> None:
    player, stop, line = external("stops_slowly"), StopFlag(), ("a0a1", "a9a8")
    player.new_game(Opening(GAME.start), stop)
    clock = PlayerClock(10**10, 0, None, 0, 0)
    player.ponder(GAME.position(None, line), line, clock)
    pondered = player.move_after_pondering(GAME.position(None, line), line, clock, stop, Pondered(False, 1))
    reply = pondered
    assert reply.move == "a1a0"
    assert reply.elapsed_ns >= 400_000_000


def test_an_answer_before_the_hit_is_taken_and_free(external: Any) -> None:
    player, stop, line = external("answers_early"), StopFlag(), ("a0a1", "a9a8")
    player.new_game(Opening(GAME.start), stop)
    clock = PlayerClock(10**10, 0, None, 0, 0)
    player.ponder(GAME.position(None, line), line, clock)
    reply = player.move_after_pondering(GAME.position(None, line), line, clock, stop, Pondered(True, 1))
    assert reply.move == "a1a0"


def test_an_engine_that_cannot_ponder_is_refused(external: Any) -> None:
    record = play_external(external("no_ponder"), external("good"))
    assert record.reason == "startup_failure"
    assert record.detail["fault"]["text"] == (
        "no_ponder: ponder = true, but the engine has no option Ponder; leave ponder out"
    )


@pytest.mark.slow
def test_our_own_engine_ponders_over_uci_against_itself() -> None:
    command = (sys.executable, str(ROOT / "elolab"), "engine", "--protocol", "uci")
    limits = Limits.parse("clock=2+0.1")
    outside = PlayerSpec("outside", "uci", limits, command=command, ponder=True, start_timeout_ms=300_000)
    opening = Opening(GAME.start, MIDDLE_GAME)
    job = replace(job_of(outside, builtin("inside", "clock=2+0.1")), opening=opening)
    with GameRunner(2, StopFlag()) as runner:
        (record,) = runner.run([job])
    assert record.reason in ("maximum_length", "repetition"), record.detail  # on real clocks no two games are alike
    assert all(side["tries"] > 3 for side in record.detail["pondering"])
    assert record.ponder_hits


# --- Specifications ---------------------------------------------------------------------------------------------------


def specified(*players: dict[str, Any], **others: Any) -> Any:
    return spec_from_mapping({"pairs": 1, "players": list(players), **others}, "x.toml")


def test_pondering_is_chosen_for_all_and_for_each() -> None:
    spec = specified({"name": "a"}, {"name": "b", "ponder": False}, limit="clock=1", ponder=True)
    assert [player.ponder for player in spec.players] == [True, False]
    assert type(spec).from_content(spec.content()) == spec
    assert "ponder" in spec.players[0].content()
    assert "ponder" not in spec.players[1].content(), "games of the time before pondering keep their keys"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (("nodes=100", "clock=1"), "'a': ponder = true, but its limit 'nodes=100' has no time; give it a clock"),
        (("clock=1,cpu", "clock=1"), "is on the cpu clock and 'b' plays on wall clock"),
        (("clock=1,node_clock=9", "nodes=9"), "is on the node clock and 'b' plays on no clock; put all players"),
    ],
)
def test_pondering_without_the_opponents_time_is_refused(limits: tuple[str, str], text: str) -> None:
    with pytest.raises(UserError) as caught:
        specified({"name": "a", "limit": limits[0], "ponder": True}, {"name": "b", "limit": limits[1]})
    assert text in str(caught.value)
    assert str(caught.value).startswith("x.toml: player 'a'")
