"""What players forfeited games by, counted and told."""

from __future__ import annotations

from elolab.arena.players.player import Fault
from elolab.arena.records import GameRecord, Opening, Pairing
from elolab.arena.statistics.faults import (
    FAULTS_SHOWN,
    FORFEITS,
    FaultCount,
    FaultStreaks,
    fault_sentences,
    fault_text,
    faults_of,
    time_loss_warnings,
)
from elolab.arena.statistics.standings import tables_of, tables_text
from elolab.engine.language import LANGUAGES, Catalogue
from elolab.engine.rules import REASONS

KILLED = "ended when it had to move: killed by signal 6 (SIGABRT); the end of its error output: bad_alloc"


def words(text: str) -> Fault:
    return Fault("words", text=text)


def game(number: int, result: str, reason: str, faulty: str = "", text: str = "") -> GameRecord:
    detail = {"fault": {"player": faulty, "side": 0, "reason": reason, "text": f"{faulty}: {text}"}} if faulty else {}
    names = ("one", "two") if number % 2 == 0 else ("two", "one")
    pairing = Pairing(number, number // 2, names.index("one"), names.index("two"), 0)
    start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
    return GameRecord(
        f"{number:032}", pairing, *names, Opening(start), (), result, reason, "engine", "", 1.0, start, detail
    )


GAMES = [
    game(0, "0-1", "crash", "one", KILLED),
    game(1, "1-0", "checkmate"),
    game(2, "1-0", "crash", "two", "ended when it had to move: exited with code 3"),
    game(3, "1-0", "crash", "one", "ended when it had to move: exited with code 0"),
    game(4, "1-0", "time_forfeit"),  # of two built-in players: the loser's
    game(5, "1/2-1/2", "repetition"),
]


def test_faults_are_counted_by_player_and_reason() -> None:
    assert faults_of(GAMES) == (
        FaultCount("one", "crash", 2, 0, words(KILLED)),
        FaultCount("two", "crash", 1, 2, words("ended when it had to move: exited with code 3")),
        FaultCount("two", "time_forfeit", 1, 4, None),
    )
    assert set(FORFEITS) <= set(REASONS)


def test_only_games_in_a_row_of_one_player_stop_a_run() -> None:
    bad, good = game(0, "0-1", "crash", "one", KILLED), game(1, "1-0", "checkmate")
    other = game(2, "1-0", "crash", "two", "exited")
    for games, reason in (([bad, bad, good, bad, bad], ""), ([bad, bad, other, bad], ""), ([bad] * 3, "one"),
                          ([other, other, other], "two"), ([good] * 9, "")):  # fmt: skip
        streaks = FaultStreaks(3)
        for record in games:
            streaks.add(record)
        assert streaks.reason.startswith(
            f"player {reason!r} failed in 3 games in a row; {reason} lost game" * bool(reason)
        )
        assert bool(streaks.reason) == bool(reason)
    never = FaultStreaks(0)
    for _ in range(100):
        never.add(bad)
    assert not never.reason


def test_the_cause_stands_in_the_standings() -> None:
    for language in LANGUAGES:
        text = tables_text(tables_of("xiangqi", ("one", "two"), GAMES), None, language).replace("\n", " ")
        assert "killed by signal 6 (SIGABRT); the end of its error output: bad_alloc" in text
        assert "exited with code 3" in text
    assert "crash" not in tables_text(tables_of("xiangqi", ("one", "two"), GAMES[1:2]))


def test_of_many_faults_the_first_are_told_and_the_others_counted() -> None:
    faults = [FaultCount(f"player {number}", "crash", 1, number, words(KILLED)) for number in range(FAULTS_SHOWN + 3)]
    say = Catalogue("elolab.arena")
    assert fault_sentences(faults, say, "en") == [
        *(fault_text(fault, say, "en") for fault in faults[:FAULTS_SHOWN]), say("fault.more", count=3)
    ]  # fmt: skip
    assert len(fault_sentences(faults[:FAULTS_SHOWN], say, "en")) == FAULTS_SHOWN


def test_what_has_no_cause_is_told_without() -> None:
    told = fault_text(FaultCount("two", "time_forfeit", 1, 4, None), Catalogue("elolab.arena"), "en")
    assert told == "two lost game 4 on time."


def test_more_than_one_game_in_a_hundred_lost_on_time_is_warned_of() -> None:
    def faults(**lost: int) -> list[FaultCount]:
        return [
            FaultCount("crashing", "crash", 50, 0, None), *(
                FaultCount(name, "time_forfeit", games, 0, None) for name, games in lost.items()
            ),
        ]  # fmt: skip

    english, chinese = (Catalogue("elolab.arena", language) for language in ("en", "zh"))
    assert time_loss_warnings(faults(), 100, english) == []
    assert time_loss_warnings(faults(a=1), 100, english) == []
    assert time_loss_warnings(faults(a=1), 99, english)
    assert time_loss_warnings([], 0, english) == []
    assert time_loss_warnings(faults(a=7, b=11), 32, english) == [
        "18 of 32 games (56.2 %) were lost on time (b 11, a 7): do not trust the Elo. Play fewer games at a time, or "
        "give the players a larger margin."
    ]
    (told,) = time_loss_warnings(faults(a=1), 2, chinese)
    assert told.startswith("2 局中有 1 局（50 %）超时判负（a 1 局）：Elo 不可信。")
    (many,) = time_loss_warnings(faults(a=6, b=5, c=4, d=3, e=2, f=1), 100, english)
    assert "(a 6, b 5, c 4, d 3, 2 more players)" in many
