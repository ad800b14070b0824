"""GGF: games of the server, its variants refused, times and values, passes, cut games."""

from __future__ import annotations

import pytest

from elolab.arena.notation.archives.archive import ArchiveFile, Entry, Reading
from elolab.arena.notation.archives.formats import entries
from elolab.arena.notation.pgn import PortableGame, PortableGameError
from elolab.engine.games import game_named

GAME = game_named("othello")
SAIO = (
    "(;GM[Othello]PC[GGS/os]DT[2003.12.15_13:24:03.MST]PB[Saio1200]PW[Saio3000]RB[2197.01]RW[2199.72]TI[05:00//02:00]"
    "TY[8]RE[+0.000]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[d3//0.01]"
    "W[c5//0.01]B[e6//0.01]W[d2//0.01]B[c6//0.01]W[d6//0.01]B[b5//0.01]W[f5//0.01]B[e7//0.01]W[f6//0.01]B[f4//0.01]"
    "W[f3//0.01]B[g4//0.01]W[d7//0.01]B[g3//0.01]W[g5//0.01]B[h6//0.01]W[h5//0.01]B[h4//0.01]W[e8//0.01]B[c7//0.01]"
    "W[h3//0.01]B[c3//0.01]W[h7//0.01]B[e3//0.01]W[b6//0.01]B[g6//5.42]W[f7//0.01]B[d8//0.01]W[c2//0.01]B[d1//0.01]"
    "W[c4//0.01]B[b4//0.01]W[a5//0.01]B[f8//0.01]W[f2//0.01]B[e2//0.01]W[a4//17.38]B[a3//19.10]W[b3//0.01]B[f1//4.90]"
    "W[g7//0.01]B[b7//0.01]W[c8//0.01]B[a6//0.01]W[a7//0.01]B[c1//0.01]W[b2//0.01]B[a8//0.01]W[b8//0.01]B[a2//0.01]"
    "W[e1//0.01]B[h8//0.01]W[g8//0.01]B[h2//0.01]W[g1//0.01]B[h1//3.80]W[g2//0.01]B[pass]W[a1//0.01]B[b1//0.01];)"
)
MATCH = (
    "2 (;GM[Othello]PC[GGS/os]DT[2009.07.01_02:52:45.MDT]PB[edax]PW[Roxane]RB[2691.38]RW[2693.68]TI[05:00//02:00]"
    "TY[s8r18]RE[-10.000]BO[8 --**O--- --**---- --*OO--- ****OO-- ---O*--- --O-*--- -------- -------- *]"
    "B[f1/-6.00/26.00]W[C5/8.00/25.36]B[d6/-8.00/9.00]W[B6/8.00/15.61]B[f5/-8.00/26.00]W[D7/8.00/23.46]"
    "B[b5/-8.00/29.00]W[F3/8.00/20.17]B[e2/-10.00/31.00]W[A5/10.00/0.01]B[e7/-10.00/34.00]W[C7/10.00/0.05]"
    "B[f6/-10.00/36.00]W[A3/10.00/15.05]B[d8/-10.00/26.00]W[G5/10.00/75.49]B[g6/-10.00/34.00]W[F8/10.00]B[f7/-10.00]"
    "W[H6/10.00/4.31]B[a6/-10.00]W[A7/10.00]B[b3/-10.00]W[G4/10.00]B[f2/-10.00]W[C8/10.00]B[h3/-10.00]W[H4/10.00]"
    "B[b8/-10.00]W[A2/10.00]B[g3/-10.00]W[G8/10.00]B[b2/-10.00]W[A1/10.00]B[b1/-10.00]W[G2/10.00]B[h5/-10.00]"
    "W[G1/10.00]B[h1/-10.00]W[H2/10.00]B[e8/-10.00]W[A8/10.00]B[b7/-10.00]W[G7]B[h7/-10.00]W[H8];)"
    "(;GM[Othello]PC[GGS/os]DT[2009.07.01_02:52:45.MDT]PB[Roxane]PW[edax]RB[2693.68]RW[2691.38]TI[05:00//02:00]"
    "TY[s8r18]RE[-10.000]BO[8 --**O--- --**---- --*OO--- ****OO-- ---O*--- --O-*--- -------- -------- *]"
    "B[F1/-8.00/26.32]W[C5/6.00/13.00]B[D6/-8.00/26.69]W[B6/8.00/28.00]B[F5/-8.00/22.41]W[D7/8.00/31.00]"
    "B[G3/-8.00/43.46]W[F6/8.00/27.00]B[B5/-8.00/53.10]W[G5/8.00/30.00]B[G4/-9.00/54.71]W[F3/10.00/32.00]"
    "B[A7/-10.00/0.02]W[B2/10.00/9.00]B[B3/-10.00/0.09]W[A5/10.00/29.00]B[A6/-10.00/27.62]W[A3/10.00]B[F2/-10.00]"
    "W[B1/10.00]B[E2/-10.00]W[H4/10.00]B[F7/-10.00]W[E7/10.00]B[C8/-10.00]W[A8/10.00]B[C7/-10.00]W[H3/10.00]"
    "B[G6/-10.00]W[B8/10.00]B[B7/-10.00]W[D8/10.00]B[H5/-10.00]W[G1/10.00]B[E8/-10.00]W[G2/10.00]B[A1/-10.00]"
    "W[A2/10.00]B[H1/-10.00]W[H2/10.00]B[PA]W[F8/10.00]B[G7/-10.00]W[H8/10.00]B[H7/-10.00]W[H6/10.00]B[G8];)"
)
"""Games played on GGS, as the server's archive has them."""
HEAD = "(;GM[Othello]TY[8]"
BOARD = "BO[8 ---------------------------O*------*O--------------------------- *]"


def read(text: str, plies: int | None = None) -> list[Entry]:
    return list(entries(ArchiveFile("a.ggf", text.encode()), Reading(GAME, plies=plies)))


def game(text: str) -> PortableGame:
    (entry,) = read(text)
    assert isinstance(entry, PortableGame), entry
    return entry


def lead(found: PortableGame) -> int:
    """Black's discs less White's after the last move."""
    board = GAME.position(found.start, [entry.move for entry in found.moves]).text[:64]
    return board.count("X") - board.count("O")


def test_a_game_of_the_server() -> None:
    found = game(SAIO)
    assert (found.start, len(found.moves), found.result, lead(found)) == (GAME.start, 61, "1/2-1/2", 0)
    assert [ply for ply, entry in enumerate(found.moves) if entry.move == "pass"] == [58]
    assert found.moves[37].comment == "17.380s"
    assert dict(found.tags) == {
        "Site": "GGS/os", "Date": "2003.12.15", "Black": "Saio1200", "White": "Saio3000", "BlackElo": "2197.01",
        "WhiteElo": "2199.72", "TimeControl": "05:00//02:00", "DiscDifference": "+0",
    }  # fmt: skip


def test_two_boards_of_a_match_from_a_drawn_position() -> None:
    found = [entry for entry in read(MATCH) if isinstance(entry, PortableGame)]
    assert [(entry.result, lead(entry)) for entry in found] == [("0-1", -10), ("0-1", -10)]
    assert {entry.start for entry in found} == {"--XXO-----XX------XOO---XXXXOO-----OX-----O-X------------------- X"}
    figures = found[0].moves[1].figures
    assert figures is not None
    assert (figures.score, figures.time_ms) == (800, 25360)
    assert found[0].moves[-2].comment == "-10.00"
    assert found[1].tag("GameType") == "s8r18"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}{BOARD}B[d3]", "a.ggf: game 1: truncated or damaged after B[d3]: expected ;) or NAME[value]"),
        (f"{HEAD}{BOARD}B[d3]W[c5", "a.ggf: game 1: truncated or damaged after B[d3]: expected ;) or NAME[value], not"),
        (f"{HEAD}{BOARD}B[d3]W[d4];)", "a.ggf: game 1, ply 2: illegal move 'd4' after 1 move in"),
        (f"{HEAD}{BOARD}B[d3]B[c3];)", "a.ggf: game 1, ply 2: 'c3' is Black's, but White is to move in position"),
        (f"{HEAD}BO[10 --- *];)", "a.ggf: game 1: BO[10 ...]: a board of that size; expected 8"),
        (f"{HEAD}BO[8 --- *];)", "a.ggf: game 1: BO[8 --- *...]: 4 characters; expected 64"),
        ("(;GM[Othello]TY[8k]" + BOARD + ";)", "a.ggf: game 1: a game with a komi (TY[8k]KM[0]) is not by the rules"),
        (f"{HEAD}KM[-2.5]{BOARD};)", "a.ggf: game 1: a game with a komi (TY[8]KM[-2.5]) is not by the rules"),
        ("(;GM[Othello]TY[s8r20a]" + BOARD + ";)", "a.ggf: game 1: TY[s8r20a] is anti-Othello"),
        (f"(;GM[Amazons]{BOARD};)", "a.ggf: game 1: GM[Amazons]: expected GM[Othello]"),
        (f"{HEAD}RE[won]{BOARD};)", "a.ggf: game 1: RE[won]: expected a lead in discs"),
    ],
)
def test_what_is_wrong_is_one_line_and_the_next_game_goes_on(text: str, words: str) -> None:
    error, following = read(text + SAIO)
    assert isinstance(error, PortableGameError)
    assert words in str(error)
    assert "\n" not in str(error)
    assert following == game(SAIO)


@pytest.mark.parametrize(
    ("properties", "result", "termination"),
    [
        ("RE[?]", "*", ""),
        ("", "*", ""),
        ("RE[0]", "*", ""),
        ("RE[+64.00:r]", "1-0", "resignation"),
        ("RE[-2.00:t]", "0-1", "time"),
        ("RE[0.00:s]", "1/2-1/2", "agreement"),
    ],
)
def test_results_of_games_that_end_early(properties: str, result: str, termination: str) -> None:
    found = game(f"{HEAD}{properties}{BOARD}B[d3];)")
    assert (found.result, found.tag("Termination")) == (result, termination)


def test_passes_that_are_left_out_are_put_in() -> None:
    assert game(SAIO.replace("B[pass]", "")).moves == tuple(game(SAIO).moves)


def test_reading_stops_at_the_plies_wanted() -> None:
    (found,) = read(f"{HEAD}{BOARD}B[d3]W[c5]B[a1];)", plies=2)
    assert isinstance(found, PortableGame)
    assert len(found.moves) == 2
