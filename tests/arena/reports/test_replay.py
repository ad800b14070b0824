"""The replay of games on a page: which games, boards and names against the engine's, variations, copies, Othello."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from elolab.arena.notation.pgn import game_text, portable_game, portable_text
from elolab.arena.notation.played_tags import played_as
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.arena.reports.packed_games import GamePacker
from elolab.arena.reports.render import asset, board_script
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.games import game_named
from elolab.engine.games.xiangqi.move_names import NOTATIONS, format_move_name
from tests.arena.reports.test_report import START, acted, body_of, game, loaded, sample, specification
from tests.support.browser import Browser
from tests.support.report_files import write_report

MANY_PAWNS = (
    "4k4/9/2P1P4/2P1P4/9/9/9/9/9/3K5 w - - 0 1",
    "4k4/9/2P6/2P6/2P6/9/9/9/9/3K5 w - - 0 1",
    "4k4/9/2P6/2P6/2P6/2P6/4P4/9/9/3K5 w - - 3 40",
    "3k5/9/9/9/9/4p4/2p1p4/2p6/9/4K4 b - - 0 7",
    "4k4/4a4/2N1ba3/2N6/2R3b2/2B6/2R6/3A5/9/2BAK4 w - - 0 1",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("run"), specification(), sample(), planned_games=12)


def othello_records() -> list[GameRecord]:
    start = game_named("othello").start
    moves = (
        MoveRecord("d3", 250, 5, 100, 1.0, "d3 c3 c4"),
        MoveRecord("c3", 6400, 6, 90, 1.0, "c3 c4 a1"),
        MoveRecord("c4", -1600, None, None, 1.0),
    )
    return [
        GameRecord(f"{number:032x}", Pairing(number, 0, *seats, 0), *names, Opening(start), moves, result,
                   "final_score", "0123456789ab")
        for number, (seats, names, result) in enumerate(
            (((0, 1), ("default", "other"), "1-0"), ((1, 0), ("other", "default"), "0-1"))
        )
    ]  # fmt: skip


def othello_specification() -> TournamentSpec:
    players = tuple(
        replace(player, name=name, parameters=())
        for player, name in zip(specification().players[:2], ("default", "other"), strict=True)
    )
    return replace(specification(), game="othello", players=players, openings="othello")


@pytest.fixture(scope="module")
def othello_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = othello_specification()
    return write_report(tmp_path_factory.mktemp("othello"), spec, othello_records(), planned_games=4)


def computed(browser: Browser, page: Path, expression: str) -> Any:
    """What an expression is on a page with game 0 open, as plain data."""
    loaded(browser, page, "#game=0&ply=0")
    return browser.value(expression)


# Boards and names against the engine's


def positions_of(name: str, seed: int, games: int) -> list[Any]:
    """Positions of random games, every seventh of each."""
    generator, found = random.Random(seed), []
    contract = game_named(name)
    for _ in range(games):
        position = contract.position()
        while (moves := position.legal_moves()) and position.ply < (150 if name == "xiangqi" else 60):
            if position.ply % 7 == 0:
                found.append(position.copy())
            position.push(generator.choice(moves))
    return found


def test_moves_are_legal_and_named_as_the_engine_has_them(report: Path, browser: Browser) -> None:
    positions = [*positions_of("xiangqi", 1, 4), *map(game_named("xiangqi").position, MANY_PAWNS)]
    cases = [(position.text, position.legal_moves()) for position in positions]
    script = """
        %s.map((text) => {
          const board = BOARDS.xiangqi, state = board.parse(text), squares = [];
          for (const file of "abcdefghi") for (let rank = 0; rank < 10; rank++) squares.push(file + rank);
          const moves = squares.flatMap((from) => squares.map((to) => from + to));
          return moves.filter((move) => board.legal(state, move)).map((move) => [
            move, board.text(board.play(state, move)), ...board.notations.map((name) => board.name(state, move, name)),
          ]);
        })"""
    found = computed(browser, report, script % json.dumps([text for text, _ in cases]))
    named = 0
    for position, (_, moves), rows in zip(positions, cases, found, strict=True):
        assert sorted(row[0] for row in rows) == sorted(moves), position.text
        for move, text, iccs, *names in rows:
            after_move = position.copy()
            after_move.push(move)
            assert text == after_move.text
            assert iccs == move
            assert names == [format_move_name(position, move, notation) for notation in NOTATIONS[1:]], position.text
            named += 1
    assert named > 2000


def test_discs_are_turned_as_by_the_engine(othello_report: Path, browser: Browser) -> None:
    positions = positions_of("othello", 2, 6)
    script = """
        %s.map((text) => {
          const board = BOARDS.othello, state = board.parse(text), squares = ["pass", "a9", "i1", "e"];
          for (const file of "abcdefgh") for (let rank = 1; rank < 9; rank++) squares.push(file + rank);
          const moves = squares.filter((move) => board.legal(state, move));
          return moves.map((move) => [move, board.text(board.play(state, move))]);
        })"""
    found = computed(browser, othello_report, script % json.dumps([position.text for position in positions]))
    for position, rows in zip(positions, found, strict=True):
        assert sorted(row[0] for row in rows) == sorted(position.legal_moves()), position.text
        for move, text in rows:
            after_move = position.copy()
            after_move.push(move)
            assert text == after_move.text


@pytest.fixture(scope="module")
def chess_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the scripts that draw boards of chess."""
    page = tmp_path_factory.mktemp("chess") / "page.html"
    scripts = "".join(f"<script>{text}</script>" for text in (asset("boards.js"), board_script("chess")))
    page.write_text(f"<meta charset=utf-8>{scripts}", "utf-8")
    return page


CHESS_POSITIONS = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    # An en passant capture would leave the king in check; three queens can go to one square.
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "7k/8/8/1Q6/8/8/8/KQ1Q4 w - - 7 99",
    # Rooks beyond the one that castles, and a rook that shields its king's way.
    "r1r1k3/8/8/8/8/8/8/RR2K1RR w HBc - 3 9",
    "8/8/8/8/8/8/k7/1RK4r w B - 0 1",
)


def chess_positions() -> list[chess.Board]:
    """Positions of random games of chess and Chess960 that castle, promote and capture en passant when they can."""
    generator, found = random.Random(3), [chess.Board(text, chess960=True) for text in CHESS_POSITIONS]
    for number in range(4):
        board = chess.Board.from_chess960_pos(generator.randrange(960)) if number % 2 else chess.Board()
        while not board.is_game_over() and board.ply() < 130:
            if board.ply() % 9 == number:
                found.append(board.copy(stack=False))
            moves = list(board.legal_moves)
            rare = [move for move in moves if board.is_castling(move) or move.promotion or board.is_en_passant(move)]
            board.push(generator.choice(rare or moves))
    return found


def test_chess_moves_are_legal_and_named_as_by_python_chess(chess_board: Path, browser: Browser) -> None:
    boards = chess_positions()
    script = """
        %s.map((text) => {
          const board = BOARDS.chess, state = board.parse(text), squares = [];
          for (const file of "abcdefgh") for (let rank = 1; rank < 9; rank++) squares.push(file + rank);
          const pairs = squares.flatMap((from) => squares.map((to) => from + to));
          const words = pairs.flatMap((pair) => [pair, pair + "q", pair + "n"]);
          const moves = words.filter((move) => board.legal(state, move));
          return [board.text(state), board.checked(state) || "", moves.map((move) => [
            move, board.text(board.play(state, move)), board.name(state, move, "san"),
          ])];
        })"""
    browser.open(chess_board.as_uri())
    browser.until('typeof BOARDS === "object" && "chess" in BOARDS')
    found = browser.value(script % json.dumps([board.fen(en_passant="legal") for board in boards]))
    for board, (text, checked, rows) in zip(boards, found, strict=True):
        assert text == board.fen(en_passant="legal")
        king = board.king(board.turn)
        assert king is not None
        assert checked == (chess.square_name(king) if board.is_check() else "")
        expected = {}
        for move in board.legal_moves:
            if move.promotion in (None, chess.QUEEN, chess.KNIGHT):
                after = board.copy(stack=False)
                after.push(move)
                # A castling move is read as king takes rook and as the king's move.
                for word in {board.uci(move, chess960=True), move.uci()}:
                    expected[word] = [after.fen(en_passant="legal"), board.san(move)]
        assert {move: [text, name] for move, text, name in rows if not doubled(board, move)} == {
            move: row for move, row in expected.items() if not doubled(board, move)
        }


def doubled(board: chess.Board, word: str) -> bool:
    """Whether a word is a castling move written as the king's move."""
    return board.is_castling(chess.Move.from_uci(word)) and not board.piece_at(chess.parse_square(word[2:4]))


def test_all_castlings_of_chess960_leave_king_and_rook_where_they_belong(chess_board: Path, browser: Browser) -> None:
    texts, moves, expected = [], [], []
    for number in range(960):
        board = chess.Board.from_chess960_pos(number)
        for square, piece in board.piece_map().items():
            if piece.piece_type not in (chess.KING, chess.ROOK, chess.PAWN):
                board.remove_piece_at(square)
        texts.append(board.fen())
        castlings = list(board.generate_castling_moves())
        moves.append([board.uci(move, chess960=True) for move in castlings])
        expected.append([])
        for move in castlings:
            after = board.copy(stack=False)
            after.push(move)
            expected[-1].append(after.fen())
    script = """%s.map(([text, moves]) => moves.map((move) => {
        const board = BOARDS.chess, state = board.parse(text);
        return board.legal(state, move) && board.text(board.play(state, move));
    }))"""
    browser.open(chess_board.as_uri())
    browser.until('typeof BOARDS === "object" && "chess" in BOARDS')
    assert browser.value(script % json.dumps(list(zip(texts, moves, strict=True)))) == expected
    assert sum(map(len, expected)) == 1830  # in the others a rook stands in the way


CHESS_OPENINGS = (
    Opening(game_named("chess").start, ("e2e4",), "king's pawn"),
    Opening("r2k4/1P6/8/8/8/8/8/R2K2R1 w KQq - 0 20", (), "in Chess960"),
)
CHESS_GAMES = (("e7e5", "g1f3", "b8c6", "f1b5", "g8f6", "e1g1"), ("b7a8q", "d8d7", "d1g1", "d7e7"))


def chess_records() -> list[GameRecord]:
    """A game with castling, and one of Chess960 with a promotion too."""
    return [
        GameRecord(
            f"{number:032x}", Pairing(number, 0, 0, 1, 0), "default", "other", opening,
            tuple(MoveRecord(move, 20 * ply, 3, 50, 1.0) for ply, move in enumerate(moves)), "1-0", "resignation",
            "0123456789ab",
        )
        for number, (opening, moves) in enumerate(zip(CHESS_OPENINGS, CHESS_GAMES, strict=True))
    ]  # fmt: skip


def test_a_copied_game_of_chess_is_as_in_the_file_beside(tmp_path: Path, browser: Browser) -> None:
    spec = replace(othello_specification(), game="chess", openings="othello")
    page = write_report(tmp_path, spec, chess_records(), planned_games=2)
    script = """[0, 1].flatMap((game) => {
        replay.open(game);
        return ["san", "figurine"].map((notation) => { replay.choose(notation); return copies.pgn(); });
    })"""
    found = computed(browser, page, script)
    players = played_as(spec.players, "chess")
    texts = [game_text(record, "sample", game_named("chess"), players=players) for record in chess_records()]
    assert [*map(timeless, found)] == [timeless(text) for text in texts for _ in range(2)]
    rows = "[...element('move-list').tBodies[0].rows]"
    names = f"replay.choose('figurine'); {rows}.map((row) => row.cells[1].textContent)"
    assert browser.value(names) == ["bxa8=♕+", "♔d7", "O-O", "♔e7"]
    # Checks and the last move are marked: of castling, where the king comes from and goes.
    marks = """[1, 2, 3].map((ply) => {
        replay.go(ply);
        return [document.querySelectorAll("#board .check").length, replay.states[ply].marks];
    })"""
    assert browser.value(marks) == [[1, ["b7", "a8"]], [0, ["d8", "d7"]], [0, ["d1", "g1"]]]


# Principal variations


def test_the_variation_of_a_move_is_shown_as_far_as_it_is_legal(report: Path, browser: Browser) -> None:
    script = """[[0, 2], [0, 3], [0, 0], [2, 3]].map(([game, ply]) => {
        replay.open(game, ply);
        return element("variation").hidden ? null : element("variation").textContent;
    })"""
    assert computed(browser, report, script) == [
        # After h9g7 h0g2 no rook of a9 can jump over its pawn to a5.
        "<plain> & simple (Black) expected: h9g7 h0g2",
        "There is no principal variation here.",
        "There is no principal variation here.",
        None,
    ]


def test_keys_and_clicks_step_through_a_variation_and_back_to_the_game(report: Path, browser: Browser) -> None:
    script = """(() => {
        const seen = [], note = () => {
          const current = element("variation").querySelector("[aria-current]");
          const [label, position] = ["position-label", "position"].map((id) => element(id).textContent);
          seen.push([label, position, current && current.textContent]);
        };
        const press = (...keys) => {
          for (const key of keys) element("replay").dispatchEvent(new KeyboardEvent("keydown", { key }));
        };
        press("ArrowRight", "v", "v", "v", "v", "V"); note();
        press("f"); note();
        press("Escape"); note();
        press("v", "ArrowRight"); note();
        press("ArrowLeft"); element("variation").querySelectorAll("button")[2].click(); note();
        element("variation").querySelectorAll("button")[2].click(); note();
        return seen;
    })()"""
    position = game_named("xiangqi").position
    moves = ["h2e2", "h9g7", "h0g2"]
    after_moves = [position(START, moves[:ply]).text for ply in range(4)]
    ahead = ["Principal variation of ply 1, after 2 moves, Red to move:", after_moves[2], "h9g7"]
    game_itself = ["After ply 1 of 4, Black to move:", after_moves[1], None]
    assert computed(browser, report, script) == [
        ahead,
        ahead,
        game_itself,
        ["After ply 2 of 4, Red to move:", after_moves[2], None],
        ["Principal variation of ply 1, after 3 moves, Black to move:", after_moves[3], "h0g2"],
        game_itself,
    ]


# Notations and copies


def test_the_notation_is_chosen_and_kept(report: Path, browser: Browser) -> None:
    choose = """(() => {
        const moves = () => [...element("move-list").tBodies[0].rows].map((row) => row.cells[1].textContent);
        const before = [replay.notation, ...moves()], chooser = element("notation");
        chooser.value = "wxf"; chooser.dispatchEvent(new Event("change"));
        const chosen = moves(), kept = notationChosen();
        element("replay").dispatchEvent(new KeyboardEvent("keydown", { key: "n" }));
        replay.go(1);
        return [before, chosen, kept, moves(), chooser.value, element("variation").textContent];
    })()"""
    before, chosen_moves, kept, turned, value, variation = computed(browser, report, choose)
    assert before == ["iccs", "h2e2", "h9g7", "h0g2", "i9h9"]
    assert chosen_moves == ["C2=5", "H8+7", "H2+3", "R9=8"]
    assert kept == "wxf"
    assert turned == ["炮二平五", "马8进7", "马二进三", "车9平8"]
    assert value == "chinese"
    assert variation == "default (Red) expected: 炮二平五 马8进7 马二进三"


def test_a_page_that_may_keep_nothing_works_all_the_same(report: Path, tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "strict.html"
    refusal = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } });"
    page.write_text(report.read_text("utf-8").replace('"use strict";', refusal, 1), "utf-8")
    document = acted(browser, page, 'replay.choose("wxf");')
    assert "C2=5" in body_of(document, "move-list")
    assert re.search(r'<p id="failure" role="alert" hidden=""></p>', document)


def timeless(text: str) -> str:
    """A game without its times, of which a page has three digits."""
    return re.sub(r"\d+\.\d{3}s", "(time)", text)


def test_a_copied_game_is_as_in_the_file_beside(report: Path, browser: Browser) -> None:
    script = """[0, 3].flatMap((game) => {
        replay.open(game);
        return %s.map((notation) => { replay.choose(notation); return copies.pgn(); });
    })"""
    found = computed(browser, report, script % json.dumps(NOTATIONS))
    contract = game_named("xiangqi")
    players = played_as(specification().players, "xiangqi")
    expected = [
        portable_text(portable_game(sample()[number], "sample", contract, players), contract, notation)
        for number in (0, 3)
        for notation in NOTATIONS
    ]
    assert [*map(timeless, found)] == [*map(timeless, expected)]


def test_copies_are_made_by_whatever_the_browser_allows(report: Path, browser: Browser) -> None:
    script = """
        replay.go(1);
        const clipboard = navigator.clipboard, said = [], press = async (name) => {
          document.querySelector(`[data-act="${name}"]`).click();
          await new Promise((resolve) => setTimeout(resolve, 100));
          const box = element("copy-text");
          said.push(box.hidden ? element("copied").textContent : [element("copied").textContent, box.value]);
        };
        (async () => {
          clipboard.writeText = async (text) => { said.push(text); };
          await press("fen"); await press("link");
          clipboard.writeText = async () => { throw new Error("no"); };
          document.execCommand = (name) => { said.push([name, document.activeElement.value]); return true; };
          await press("fen");
          document.execCommand = () => false;
          await press("fen");
          document.title = JSON.stringify(said);
        })();"""
    position = game_named("xiangqi").position(START, ["h2e2"]).text
    document = acted(browser, report, script)
    title = re.search("<title>(.*?)</title>", document)
    assert title
    said = json.loads(html.unescape(title.group(1)))
    assert said[0] == position
    assert said[2].endswith("#game=0&ply=1")
    assert said[4:] == [
        ["copy", position], "Copied.", ["The browser does not allow copying here; press Ctrl+C.", position],
    ]  # fmt: skip


def test_a_link_leads_to_game_and_position(report: Path, browser: Browser) -> None:
    script = """["#game=3&ply=5", "#game=2&ply=99", "#game=1", "#game=77&ply=1"].map((address) => {
        history.replaceState(null, "", address);
        return [openFromAddress(true), replay.game, replay.ply];
    })"""
    assert computed(browser, report, script) == [[True, 3, 5], [True, 2, 8], [True, 1, 0], [False, 1, 0]]


def test_games_of_parts_of_a_run_have_names_of_their_own(tmp_path: Path) -> None:
    def of_series(record: GameRecord, series: str) -> GameRecord:
        return replace(record, pairing=replace(record.pairing, series=series))

    games = [game(number, 0, 1, 0, "1-0", "checkmate") for number in (0, 1)]
    records = [of_series(record, series) for series in ("", "validation 00") for record in games]
    packer = GamePacker(("default", "<plain> & simple"), tmp_path / "games", "xiangqi", "en")
    for record in records:
        packer.add(record)
    index = json.loads(zlib.decompress(base64.b64decode(packer.packed().index)))
    assert index["games"]["number"] == [0, 1, "validation-00-0", "validation-00-1"]


# Othello


def test_othello_has_its_colours_and_its_discs(othello_report: Path, browser: Browser) -> None:
    script = "replay.open(1); document.title = JSON.stringify(copies.pgn()); replay.open(0, 2);"
    document = acted(browser, othello_report, script)
    title = re.search("<title>(.*?)</title>", document, re.DOTALL)
    assert title
    pgn = json.loads(html.unescape(title.group(1)))
    players = played_as(othello_specification().players, "othello")
    text = game_text(othello_records()[1], "sample", game_named("othello"), players=players)
    assert timeless(pgn) == timeless(text)
    assert 'data-game="othello"' in document
    graph = re.search(r'<div id="graph">(.*?)</div>', document, re.DOTALL)
    assert graph
    assert re.findall(r">([+−]?\d+)</text>", graph.group(1))[:9] == [
        "+64", "+32", "+16", "+8", "0", "−8", "−16", "−32", "−64",
    ]  # fmt: skip
    assert graph.group(1).count('fill="var(--felt)"') == 3  # the field, and the grounds of two discs in the legend
    discs = re.findall(r'<circle cx="[\d.]+" cy="9" r="6.5" fill="var\(--(\w+)-disc\)"', graph.group(1))
    assert discs == ["black", "white"]
    # White's 64 discs are the bottom of the field, and 2.5 discs of Black's a little above the middle.
    heights = [float(y) for y in re.findall(r'd="M[\d.]+ ([\d.]+)', graph.group(1))]
    assert heights[0] == pytest.approx(166)
    assert 71 < heights[1] < 88
    assert 'id="letters"' not in document
    assert 'id="notation"' not in document
    variation = re.search(r'id="variation"[^>]*>(.*?)</p>', document)
    assert variation
    assert re.sub("<.*?>", "", variation.group(1)) == "other (White) expected: c3 c4"
