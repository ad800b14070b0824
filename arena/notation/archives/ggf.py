"""GGF, the Generic Game Format of the Othello server GGS: ``(;GM[Othello]PB[a]PW[b]...;)``.

A move may have a value in discs, from the point of view of the side that makes it, and its time in seconds:
``B[d3/-1.20/0.43]``. elolab converts both to engine comments. A match on two boards is two games on one line,
preceded by their number. Games on 8 x 8 squares with the usual rules are supported, from any position (``BO``; also the
random positions of ``TY[s8r18]``). Games with komi, and games of anti-Othello, are refused.

Source: Michael Buro, "Generic Game Format", and the server's help on game types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from elolab.arena.notation.archives.archive import (
    ArchivedMove,
    ArchiveFile,
    ArchiveFormat,
    Entry,
    Reading,
    replay,
    start_position,
)
from elolab.arena.notation.pgn import PortableGame, PortableGameError, format_figures
from elolab.arena.records import MoveRecord
from elolab.engine.rules import Rules
from elolab.engine.values import format_score

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game

_BEGIN = re.compile(rb"\(\s*;\s*GM\s*\[")
_GAME_BEGIN = re.compile(r"\(\s*;(?=\s*GM\s*\[)")
_PROPERTY = re.compile(r"\s*([A-Za-z]{1,4})\s*\[([^\]]*)\]")
_END = re.compile(r"\s*;\s*\)")
_TYPE = re.compile(r"s?(?P<size>\d*)(?P<preferred>[bw]?)(?P<variants>[a-z0-9.]*)", re.IGNORECASE)
_SIZE = 8
_LETTERS = {"*": "X", "O": "O", "-": "-", "X": "X", ".": "-"}
_MOST_DISCS = 64.0
_CARRIED = {"RB": "BlackElo", "RW": "WhiteElo", "TI": "TimeControl", "TB": "BlackTimeControl", "TW": "WhiteTimeControl"}
"""GGF properties, each with the PGN tag to which its value is copied unchanged."""
_FLAGS = {"r": "resignation", "t": "time", "s": "agreement"}
"""Flags in the property ``RE`` for games that ended early, with elolab's words for the reason."""


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield the games of a text in GGF."""
    text = _decoded(source.data)
    begins = list(_GAME_BEGIN.finditer(text))
    ends = [*(match.start() for match in begins[1:]), len(text)]
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True), start=1):
        where = f"{source.where}: game {number}"
        try:
            yield _game(_properties(text, begin.end(), end, where), where, reading)
        except PortableGameError as error:
            yield error


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _properties(text: str, place: int, end: int, where: str) -> list[tuple[str, str]]:
    found = []
    while (match := _PROPERTY.match(text, place, end)) is not None:
        found.append((match[1].upper(), " ".join(match[2].split())))
        place = match.end()
    if _END.match(text, place, end) is None:
        stray = " ".join(text[place : min(end, place + 20)].split())
        after = f"after {found[-1][0]}[{found[-1][1][:20]}]" if found else "at its beginning"
        said = f"expected ;) or NAME[value], not {stray!r}" if stray else "expected ;) or NAME[value]"
        raise PortableGameError(f"{where}: truncated or damaged {after}: {said}")
    return found


def _game(properties: list[tuple[str, str]], where: str, reading: Reading) -> PortableGame:
    given = {name: value for name, value in properties if name not in "BW"}
    if given.get("GM", "").lower() != reading.game.name:
        raise PortableGameError(f"{where}: GM[{given.get('GM', '')}]: expected GM[{reading.game.title}]")
    _refuse_variants(given, where)
    position = start_position(reading.game, _start(given.get("BO", ""), reading.game, where), where)
    start = position.text
    moves = [_move(name, value, reading.game, where) for name, value in properties if name in "BW"]
    played = replay(position, moves, where, reading.plies)
    ending = position.judge(Rules())
    result, flag = _result(given.get("RE", ""), None if ending is None else ending.result, where)
    return PortableGame(_tags(given, flag), start, played, result)


def _refuse_variants(given: dict[str, str], where: str) -> None:
    kind = given.get("TY", "")
    match = _TYPE.fullmatch(kind)
    variants = re.sub(r"r\d+", "", match["variants"].lower()) if match else ""
    komi = given.get("KM", "0")
    if "k" in variants or given.keys() & {"KB", "KW"} or _number(komi):
        raise PortableGameError(f"{where}: a game with a komi (TY[{kind}]KM[{komi}]) is not by the rules of Othello")
    if "a" in variants:
        raise PortableGameError(f"{where}: TY[{kind}] is anti-Othello, won by having fewer discs")


def _start(text: str, game: Game, where: str) -> str:
    """Convert the value of the property ``BO`` to a position as text; an empty value means the start position."""
    if not text:
        return game.start
    size, *words = text.upper().split()
    letters = "".join(words)
    if size != str(_SIZE):
        raise PortableGameError(f"{where}: BO[{size} ...]: a board of that size", "expected 8")
    if len(letters) != _SIZE * _SIZE + 1 or not set(letters) <= _LETTERS.keys():
        problem = f"{where}: BO[{text[:24]}...]: {len(letters)} characters"
        raise PortableGameError(problem, "expected 64 of * O - and who is to move")
    board = "".join(_LETTERS[letter] for letter in letters)
    return f"{board[:-1]} {board[-1]}"


def _move(name: str, value: str, game: Game, where: str) -> ArchivedMove:
    square, _, rest = value.partition("/")
    score, _, seconds = rest.partition("/")
    return ArchivedMove(_square(square.strip()), _comment(_number(score), _seconds(seconds)), "BW".index(name))


def _square(word: str) -> str:
    """Convert a GGF move to elolab's notation, without checking that it is legal."""
    move = word.lower()
    return "pass" if move in ("pa", "ps", "--", "") else move


def _comment(score: float | None, seconds: float | None) -> str:
    """Format score and time of a move as an engine comment; ``score`` is in discs from the mover's point of view."""
    value = None if score is None else round(100 * max(-_MOST_DISCS, min(_MOST_DISCS, score)))
    if seconds is None:
        return "" if value is None else format_score(value)
    return format_figures(MoveRecord("", value, None, None, 1000 * seconds))


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[-+]?(\d{1,9}(\.\d{0,12})?|\.\d{1,12})", text.strip()) else None


def _seconds(text: str) -> float | None:
    """Parse a duration such as ``1:02:03.5``; returns its seconds, ``None`` if it is invalid."""
    parts = [_number(part) for part in text.split(":")]
    if len(parts) > 3 or None in parts:
        return None
    return sum(part * 60**power for power, part in enumerate(reversed(parts)) if part is not None)


def _result(text: str, ending: str | None, where: str) -> tuple[str, str]:
    """Parse the property ``RE``; returns the result, such as ``1-0``, and the flag for the kind of ending, or an empty
    text.

    ``ending`` is the result of the final board; ``None`` if the game was not finished. ``ending`` counts if ``RE`` is
    missing. A lead of 0 without a flag in an unfinished game means an unknown result, not a draw.
    """
    lead, _, flag = text.partition(":")
    discs = _number(lead)
    if discs is None:
        if lead.strip() not in ("", "?"):
            raise PortableGameError(f"{where}: RE[{text}]: expected a lead in discs such as +4, or ?")
        return ending or "*", flag
    if not discs:
        return "1/2-1/2" if ending is not None or flag else "*", flag
    return "1-0" if discs > 0 else "0-1", flag


def _tags(given: dict[str, str], flag: str) -> tuple[tuple[str, str], ...]:
    tags = {
        "Site": given.get("PC", ""),
        "Date": _date(given.get("DT", "")),
        "Black": given.get("PB", ""),
        "White": given.get("PW", ""),
        **{name: given.get(key, "") for key, name in _CARRIED.items()},
        "GameType": given.get("TY", "") if given.get("TY", "") not in ("8", "0") else "",
        "DiscDifference": _lead(given.get("RE", "")),
        "Termination": _FLAGS.get(flag.strip(), ""),
    }
    return tuple((name, value) for name, value in tags.items() if value)


def _lead(text: str) -> str:
    """Black's lead in discs according to the property ``RE``, such as ``+4``; empty if the property has none."""
    lead = _number(text.partition(":")[0])
    return "" if lead is None else f"{lead:+g}"


def _date(text: str) -> str:
    match = re.match(r"(\d{4})[-.](\d{1,2}|\?\?)[-.](\d{1,2}|\?\?)", text)
    return f"{match[1]}.{match[2]:0>2}.{match[3]:0>2}" if match else ""


FORMAT = ArchiveFormat("GGF", "othello", lambda data: _BEGIN.search(data) is not None, read)
