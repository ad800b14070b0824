"""Formats the state of a run (see ``arena.watching.snapshot``) as lines for a terminal.

Tables and results are on the left. The board of a running game is on the right, or at the end of printed output. A line
is a list of texts with their colours, so that its width is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from elolab.arena.colours import GREEN, RED, YELLOW
from elolab.arena.play.estimates import duration_text
from elolab.arena.play.live import rate_text
from elolab.arena.statistics.numbers import given_text, percent_text, signed
from elolab.arena.statistics.text_table import Column, name_column, table_lines
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.language import Catalogue, clipped, columns_of, cut, game_words, padded, with_minus, wrapped
from elolab.engine.values import format_score

Span = tuple[str, str]
"""A text and its colour from ``arena.colours``; the colour is empty for plain text."""
Line = list[Span]

COLUMNS = 80
"""Width of output to a file or pipe, in terminal columns."""
BOARD_COLUMNS = 29
"""Width of the board on the right, in terminal columns."""
LEAST_COLUMNS = 76
"""Minimum width of a terminal for a board on the right, in terminal columns."""
FEW = 3
"""Maximum number of lines on a screen for faults, and also for workers."""
STATE_COLOURS = {"running": GREEN, "failed": RED, "unreadable": RED, "damaged": RED, "stopped": YELLOW, "died": RED}
_VERDICTS = {"H1 accepted": "upper_short", "H0 accepted": "lower_short", "undecided": "undecided_short"}


def screen(state: dict[str, Any], outcome: Sequence[str], language: str, columns: int, rows: int) -> list[Line]:
    """The lines of a screen of ``columns`` by ``rows`` characters.

    ``outcome`` has the lines of the result so far, for a run that is not a tournament. If there are any,
    no board is shown, because they may be a wide table.
    """
    say = Catalogue("elolab.arena", language)
    head = _head_lines(state, say, columns)
    room = rows - len(head)
    panel = _game_lines(state, say) if not outcome and columns >= LEAST_COLUMNS else []
    left = columns - BOARD_COLUMNS - 1 if panel else columns
    body = _figure_lines(state, outcome, say, left, room)
    if panel:
        empty: Line = []
        both = zip_longest(body, panel, fillvalue=empty)
        body = [[*_fitted(figure, left), (" ", ""), *board] for figure, board in both][:room]
    lines = [*head, *body, *([[]] * (room - len(body)))]
    return [_fitted(line, columns) for line in lines][:rows]


def printed(state: dict[str, Any], outcome: Sequence[str], language: str, columns: int = COLUMNS) -> list[Line]:
    """All lines for output to a file or pipe, within ``columns`` columns, with the board at the end.

    ``outcome`` has the lines of the result so far, for a run that is not a tournament.
    """
    say = Catalogue("elolab.arena", language)
    lines = [*_head_lines(state, say, columns), *_figure_lines(state, outcome, say, columns, None)]
    game = _game_lines(state, say)
    return [*lines, *([[], *game] if game else [])]


# --- The parts --------------------------------------------------------------------------------------------------------


def _head_lines(state: dict[str, Any], say: Catalogue, columns: int) -> list[Line]:
    """The first lines: title, progress with its bar, result, and why the folder cannot be read."""
    progress, name = state["progress"], state["state"]
    words, own = Catalogue("elolab.arena.collection", say.language), _own(say)
    told = own("page.waiting") if name == "waiting" else words(f"list.state_{name}")
    kinds = [own.name_of("kind", kind) for kind in (state["format"] or state["kind"],) if kind]
    what = "  ".join([*kinds, *([game_words(state["game"], say.language).title] if state["game"] else [])])
    room = columns - columns_of(told) - columns_of(what) - 4
    title = f"{cut(state['name'], max(10, room))}  {what}"
    lines: list[Line] = [
        [(padded(title, columns - columns_of(told) - 1), ""), (f" {told}", STATE_COLOURS.get(name, ""))],
        [(_progress_text(state, say), "")],
    ]
    planned, done = progress["all_planned"], progress["all_done"]
    if planned:
        filled = min(columns, columns * done // planned)
        lines.append([("#" * filled, GREEN), ("-" * (columns - filled), "")])
    if progress["words"] and not state["standings"]:
        lines.append([(progress["words"], "")])
    if say.language in state["result"]:
        lines.append([(state["result"][say.language], "")])
    if state["trouble"]:
        lines.append([(state["trouble"], RED)])
    return [*lines, []]


def _progress_text(state: dict[str, Any], say: Catalogue) -> str:
    progress = state["progress"]
    parts = [say("progress.games", done=progress["done"], planned=progress["planned"])]
    if progress["stage"]:
        counts = {name: progress[name] for name in ("done", "planned", "all_done", "all_planned")}
        parts = [say("progress.stage", stage=progress["stage"], **counts)]
    elif progress["planned"]:
        parts.append(f"{100 * progress['done'] / progress['planned']:.0f} %")
    speed = progress["games_per_second"]
    if speed:
        parts.append(rate_text(speed, say))
    if progress["seconds_left"]:
        key = "progress.at_most_left" if progress["at_most"] else "progress.left"
        parts.append(say(key, time=duration_text(progress["seconds_left"])))
    return "  ".join(parts)


def _figure_lines(
    state: dict[str, Any], outcome: Sequence[str], say: Catalogue, columns: int, room: int | None
) -> list[Line]:
    """The lines for match, test, standings, result so far, warnings, faults and workers.

    There are at most ``room`` lines; ``None`` means any number.
    """
    test, workers = _test_lines(state, say), _worker_lines(state, say, columns)
    faults = [fault["sentence"][say.language] for fault in state["faults"]]
    told = [say("console.warning", text=warning[say.language]) for warning in state["warnings"]]
    warnings: list[Line] = [[(line, RED)] for text in told for line in wrapped(text, columns)]
    if room is None:
        faults = [line for text in faults for line in wrapped(text, columns)]
    else:
        faults, workers = [clipped(text, columns) for text in faults[:FEW]], workers[: FEW + 1]
    outcomes: list[Line] = [[(line, "")] for line in outcome]
    others = sum(len(part) + 1 for part in (test, outcomes, warnings, faults, workers) if part)
    standings = _standings_lines(state, say, columns, None if room is None else max(2, room - others))
    parts = [test, standings, outcomes, warnings, [[(line, YELLOW)] for line in faults], workers]
    lines = [line for part in parts if part for line in [*part, []]]
    return [_fitted(line, columns) for line in lines][: room if room is not None else len(lines)]


def _test_lines(state: dict[str, Any], say: Catalogue) -> list[Line]:
    """A line on the Elo of a match and a line on its sequential test; lines without data are left out."""
    lines: list[Line] = []
    match, test = state["match"], state["test"]
    if match is not None:
        leads = match["los"] is None or match["los"] >= 0.5
        infinities = {"elo_low": -math.inf, "elo": math.inf if leads else -math.inf, "elo_high": math.inf}
        low, elo, high = (signed(infinity if match[name] is None else match[name])
                          for name, infinity in infinities.items())  # fmt: skip
        los = "-" if match["los"] is None else f"{percent_text(match['los'])} %"
        lines.append([(_own(say)("terminal.match", elo=elo, low=low, high=high, los=los, pairs=match["pairs"]), "")])
    if test is not None:
        verdict = say(f"verdict.{_VERDICTS[test['verdict']]}")
        colour = {"H1 accepted": GREEN, "H0 accepted": RED}.get(test["verdict"], "")
        figures = {name: signed(test[key], 2) for name, key in
                   (("llr", "llr"), ("lower", "lower_bound"), ("upper", "upper_bound"))}  # fmt: skip
        hypotheses = {name: given_text(test[name]) for name in ("elo0", "elo1")}
        lines.append([(_own(say)("terminal.test", **figures, **hypotheses) + "  ", ""), (verdict, colour)])
    return lines


def _standings_lines(state: dict[str, Any], say: Catalogue, columns: int, room: int | None) -> list[Line]:
    rows = state["standings"]
    if not rows:
        return []
    shown = rows if room is None or len(rows) < room else rows[: max(1, room - 2)]
    errors = ["-" if row["rating_error"] is None else f"{row['rating_error']:.1f}" for row in shown]
    ratings = [_elo(row["rating"]) for row in shown]
    if state["anchors"]:
        errors = [
            say("rating.given") if row["player"] in state["anchors"] else error
            for row, error in zip(shown, errors, strict=True)
        ]
        ratings = [rating.removeprefix("+") for rating in ratings]  # relative to anchors
    table = [
        Column("#", [str(row["rank"]) for row in shown]),
        name_column(say("standings.player"), [row["player"] for row in shown]),
        Column(say("standings.rating"), ratings),
        Column("±", errors),
        Column(say("progress.games_head"), [str(row["games"]) for row in shown]),
        Column(say("progress.score_head"), [f"{100 * row['score']:.1f} %" if row["games"] else "-" for row in shown]),
    ]
    lines: list[Line] = [[(line, "")] for line in table_lines(table, columns)]
    if len(shown) < len(rows):
        lines.append([(_own(say)("terminal.more_players", count=len(rows) - len(shown)), "")])
    return lines


def _worker_lines(state: dict[str, Any], say: Catalogue, columns: int) -> list[Line]:
    rows = state["workers"]
    if not rows:
        return []
    own = _own(say)
    speeds = ["-" if row.get("games_per_second") is None else f"{row['games_per_second']:.1f}" for row in rows]
    table = [
        name_column(own("terminal.worker"), [str(row["name"]) for row in rows]),
        Column(own("terminal.threads"), [str(row.get("threads", "")) for row in rows], rank=1),
        Column(say("progress.games_head"), [str(row.get("games", "")) for row in rows]),
        Column(own("terminal.speed"), speeds, rank=2),
        Column(own("terminal.load"), [f"{row['load']:.1f}" if "load" in row else "-" for row in rows], rank=3),
        Column("", [str(row.get("state") or "") for row in rows], left=True),
    ]
    usual = ("", None, "playing", "idle")
    colours = ["", *("" if row.get("state") in usual else YELLOW for row in rows)]
    return [[(line, colour)] for line, colour in zip(table_lines(table, columns), colours, strict=True)]


def _game_lines(state: dict[str, Any], say: Catalogue) -> list[Line]:
    """The lines on the first running game: its players, their latest scores, the last move and the board."""
    game = next((game for game in state["running"] if game.get("moves") is not None), None)
    if game is None:
        return []
    words, contract = game_words(game["game"], say.language), game_named(game["game"])
    moves, scores = game["moves"], game["scores"]
    lines: list[Line] = [[(_own(say)("terminal.game", number=game["number"]), "")]]
    turn = (contract.side_to_move(game["position"]) + len(game["opening_moves"])) % 2
    for side, name in enumerate((game["first"], game["second"])):
        own = [score for ply, score in enumerate(scores) if (turn + ply) % 2 == side and score is not None]
        score = with_minus(format_score(own[-1])) if own else ""
        label = padded(words.side_names[side], 6)
        room = BOARD_COLUMNS - columns_of(label) - 9
        lines.append([(label, RED if side == contract.coloured_side else ""),
                      (f" {padded(cut(name, room), room)} {score:>7}", "")])  # fmt: skip
    last = moves[-1] if moves else "-"
    time = duration_text(game["seconds"])
    lines += [[(_own(say)("terminal.move", move_number=len(moves), move=last, time=time), "")], []]
    try:
        position = contract.position(game["position"], [*game["opening_moves"], *moves]).text
    except UserError:  # an illegal move, which loses the game
        return lines
    has_characters = say.language == "zh" and "chinese" in contract.move_notations
    return lines + board_lines(game["game"], position, words.pieces if has_characters else {})


def _own(say: Catalogue) -> Catalogue:
    """The message catalogue of ``arena.watching`` in the language of ``say``."""
    return Catalogue("elolab.arena.watching", say.language)


def _elo(value: float | None) -> str:
    return "-" if value is None else signed(value)


def _fitted(line: Line, columns: int) -> Line:
    """Cut or pad a line to a width of ``columns`` terminal columns."""
    spans, left = [], columns
    for text, colour in line:
        shown = cut(text, left)
        left -= columns_of(shown)
        spans.append((shown, colour))
    return [*spans, (" " * left, "")]


def board_lines(game: str, position: str, pieces: dict[str, str]) -> list[list[Span]]:
    """A board as lines of text: ranks from the top, then the letters of the files. Empty for a game without a board.

    ``pieces`` maps letters in ``position`` to the texts to draw; other letters are drawn unchanged. The pieces of one
    side are coloured: Red in Xiangqi, White in Othello, Black in chess.
    """
    contract = game_named(game)
    if not contract.ranks:
        return []

    def square(sign: str) -> Span:
        return (pieces.get(sign, f"{sign} "), RED if contract.side_of(sign) == contract.coloured_side else "")

    rows = contract.board_rows(position)
    files = "".join(f"{letter} " for letter in "abcdefghi"[: len(rows[0])])
    lines = [
        [(f"{rank} ", ""), *((". ", "") if sign == " " else square(sign) for sign in row)]
        for rank, row in zip(contract.ranks, rows, strict=True)
    ]
    return [*lines, [("  ", ""), (files, "")]]
