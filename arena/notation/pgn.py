"""Reads and writes games in PGN.

A game is a list of tags and its moves in one notation. In Xiangqi the tag ``Format`` names the notation: ``ICCS``
(coordinates), ``WXF`` or ``Chinese`` (simplified or traditional; the default without the tag). Xiangqi games in SAN are
read too, and written as ICCS. Chess has standard PGN in SAN; the tag ``Variant`` marks Chess960.

A move may have a comment. In an engine's comment ``{+0.31/12 0.43s 1000n}`` is the score in pawns from the mover's
point of view, the depth, the time and the nodes. These parts may follow:

- ``ponder hit``;
- ``tl=9.57s``: time left on the mover's clock;
- ``latency=0.001s``: time charged in addition to the time that the engine reports;
- ``pv="h2e2 h9g7"``: principal variation as the engine gave it.

The names are the same as in fastchess. Commands as written by lichess are also read: ``[%eval 0.31,12]`` from the first
mover's point of view, ``[%clk 0:00:09.57]``, ``[%emt 0:00:00.43]``.

Files are in UTF-8 or in an older encoding of the game's collections (GBK, Big5, Latin-1), which ``decode_text``
detects. Text between a result and the next game, usually advertisements, is skipped unless it contains moves.
"""

from __future__ import annotations

import contextlib
import functools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, NamedTuple

from elolab.arena.notation.game_moves import other_game_with, read_moves
from elolab.arena.notation.played_tags import PlayedAs, side_tags, sides_of, termination_of, time_tags, times_left_ms
from elolab.arena.records import GameRecord, MoveRecord
from elolab.engine.errors import UserError, WrongMoveError, argument
from elolab.engine.games import GAMES, game_named
from elolab.engine.language import Catalogue
from elolab.engine.values import BAN, MATE, format_score

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position

LINE_WIDTH = 80
ENCODINGS = ("utf-8", "gbk")
FORMATS = {"iccs": "ICCS", "wxf": "WXF", "chinese": "Chinese", "traditional": "Chinese"}
"""Value of the tag ``Format`` for each Xiangqi notation."""
NOTATIONS = (*FORMATS, "san", "figurine", "lan", "uci")
"""Names of the move notations of all games."""

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
_RESULT_WORDS = {result: result for result in RESULTS} | {"1/2": "1/2-1/2", "½-½": "1/2-1/2"}
_FIRST = ("红", "紅", "红方", "紅方", "红先", "紅先", "先", "先手")
_SECOND = ("黑", "黑方", "后", "後", "后手", "後手")
_RESULT_WORDS |= (
    {side + word: "1-0" for sides, words in ((_FIRST, "胜勝"), (_SECOND, "负負")) for side in sides for word in words}
    | {side + word: "0-1" for sides, words in ((_FIRST, "负負"), (_SECOND, "胜勝")) for side in sides for word in words}
    | dict.fromkeys(("和棋", "和局", "红先和", "紅先和", "先和", "双方和棋", "雙方和棋"), "1/2-1/2")
)
"""Results as Chinese programs write them."""
_RESULT_TAGS = _RESULT_WORDS | dict.fromkeys(("", "?", "未知", "未完", "不详"), "*") | {"和": "1/2-1/2"}

DETAILS = ("full", "figures", "min")
"""Levels of detail of a written game.

In order: everything; all except principal variations, times left and latencies; only players and moves.
"""
_MINIMAL_TAGS = ("Event", "Site", "Date", "Round", "Counted")
"""Tags that a game written with the level ``min`` keeps, besides the players' names and ``_OWN_TAGS``."""
_LAST_TAGS = ("Format", "PlyCount", "Termination", "Reason")
_OWN_TAGS = ("Game", "Result", "SetUp", "FEN", "Format")
"""Tags whose values the writer takes from the game itself; such tags in ``PortableGame.tags`` are ignored."""
_OPENING_TAGS = {"game", "event"}
"""Tags that begin a new game if they are repeated, even if the previous game has no moves."""

PONDER_HIT = " ponder hit"
"""Words in an engine's comment, after score, depth, time and nodes, that mark a ponder hit.

The engine then searched during the opponent's time.
"""

MAX_UNBROKEN_COMMENT = 40
"""Comments up to this number of characters are never wrapped."""


class PortableGameError(UserError):
    """Raised for a game file that cannot be read; the message names the file, the game, the line and the move."""


class PortableMove(NamedTuple):
    """A move and the comment that follows it."""

    move: str
    """The move in the game's protocol notation, such as ``h2e2``."""
    comment: str = ""
    side: int = 0
    """Side that made the move: 0 for the first mover, 1 for the other.

    Set only if the comment has ``[%eval]``, because the sign of that score depends on the side; otherwise 0.
    """

    @property
    def figures(self) -> MoveRecord | None:
        """Score, depth, time and nodes at the start of an engine's comment; ``None`` if there are none.

        PGN does not keep every score of a mate or a repetition exactly; of the scores with the same text, one is read.
        """
        return parse_figures(self.move, self.comment, self.side)

    @property
    def time_left_ms(self) -> float | None:
        """Milliseconds left on the mover's clock after the move; ``None`` if the comment does not give them."""
        match = _TIME_LEFT.search(self.comment)
        if match is None and "[%" in self.comment:
            return _times_of_commands(self.comment).get("clk")
        return None if match is None else float(match[1]) * 1000


@dataclass(frozen=True)
class PortableGame:
    """A game as read from, or to be written to, a file."""

    tags: tuple[tuple[str, str], ...]
    """Names and values of the tags, in the order of the file."""
    start: str
    """The position before the first move, as text."""
    moves: tuple[PortableMove, ...]
    result: str = "*"
    comment: str = ""
    """Comment before the first move."""
    closing_comment: str = ""
    """Comment before the result; it does not include the comment of the last move."""
    notation: str = ""
    """Notation of the moves in the file, one of the game's ``move_notations``; empty means the game's default."""
    end: Position | None = field(default=None, compare=False, repr=False)
    """The position after the last move; ``None`` if unknown."""

    def tag(self, name: str) -> str:
        """Value of a tag; empty if the tag is missing. The name may be in upper or lower case."""
        return next((value for key, value in self.tags if key.lower() == name.lower()), "")

    def name(self, game: Game) -> str:
        """The name of the opening, or else the names of both players; may be empty."""
        return self.tag("Opening") or " - ".join(filter(None, map(self.tag, game.side_names)))


# Writing


_UNKNOWN: Mapping[str, PlayedAs] = MappingProxyType({})
"""Default of ``players``: the conditions (``PlayedAs``) of no player are known."""


class GameWriter:
    """Writes games of a run to an open text file, separated by empty lines."""

    def __init__(
        self,
        stream: IO[str],
        event: str,
        game: str,
        *,
        counted: int | None = None,
        players: Mapping[str, PlayedAs] = _UNKNOWN,
        detail: str = DETAILS[0],
    ) -> None:
        """``event`` is the value of the tag ``Event``.

        Games with the number ``counted`` or above get a tag that excludes them from the results; ``None`` excludes
        none. ``players`` holds the conditions (``PlayedAs``) of players by name, where known. ``detail`` is one of
        ``DETAILS``.
        """
        self._stream, self._event, self._game = stream, event, game_named(game)
        self._counted, self._players, self._detail = counted, players, detail

    def write(self, record: GameRecord) -> None:
        """Write one game as PGN."""
        counts = self._counted is None or record.pairing.number < self._counted
        text = game_text(record, self._event, self._game, counts=counts, players=self._players, detail=self._detail)
        self._stream.write(f"{text}\n")


def game_text(
    record: GameRecord,
    event: str,
    game: Game,
    *,
    counts: bool = True,
    players: Mapping[str, PlayedAs] = _UNKNOWN,
    detail: str = DETAILS[0],
) -> str:
    """Format a game of a run as PGN: tags, an empty line, moves.

    ``event`` is the value of the tag ``Event``. ``counts=False`` adds the tag that excludes the game from the results.
    ``players`` and ``detail`` are as for ``GameWriter``.
    """
    portable = portable_game(record, event, game, players, detail)
    if not counts:
        portable = replace(portable, tags=(*portable.tags, ("Counted", "no")))
    return portable_text(portable, game)


def portable_game(
    record: GameRecord,
    event: str,
    game: Game,
    players: Mapping[str, PlayedAs] = _UNKNOWN,
    detail: str = DETAILS[0],
) -> PortableGame:
    """Convert a stored game to a ``PortableGame`` with tags and comments that describe it.

    ``players`` and ``detail`` are as for ``GameWriter``.
    """
    opening = [PortableMove(move) for move in record.opening.moves]
    is_minimal = detail == "min"
    if is_minimal:
        played = [PortableMove(entry.move) for entry in record.moves]
    else:
        comments = _move_comments(record, game, players, is_full=detail == "full")
        played = [PortableMove(entry.move, comment) for entry, comment in zip(record.moves, comments, strict=True)]
    tags = _tags(record, event, game, players)
    kept = (*_MINIMAL_TAGS, *game.side_names)
    return PortableGame(
        tags=tuple((name, value) for name, value in tags if not is_minimal or name in kept),
        start=record.opening.position,
        moves=(*opening, *played),
        result=record.result,
        closing_comment="" if is_minimal else _closing_comment(record, game),
    )


def _move_comments(record: GameRecord, game: Game, players: Mapping[str, PlayedAs], *, is_full: bool) -> list[str]:
    """The comments of all moves after the opening; with ``is_full``, also variations, times left and latencies."""
    hits = record.ponder_hits
    comments = [
        format_figures(entry) + (PONDER_HIT if number in hits else "") for number, entry in enumerate(record.moves)
    ]
    if not is_full:
        return comments
    left = _times_left(record, game, players)
    return [
        f"{comment}{_format_clock(entry, left_ms)}{_format_variation(entry)}"
        for comment, entry, left_ms in zip(comments, record.moves, left, strict=True)
    ]


def _times_left(record: GameRecord, game: Game, players: Mapping[str, PlayedAs]) -> list[float | None]:
    """Milliseconds on the mover's clock after each move; ``None`` if the mover has no clock or unknown limits."""
    left: list[float | None] = [None] * len(record.moves)
    start = game.side_to_move(record.opening.position) + len(record.opening.moves)
    for side, played in enumerate(sides_of(record, players)):
        own = slice((side - start) % 2, None, 2)
        left[own] = times_left_ms(played.limits, [entry.time_ms for entry in record.moves[own]])
    return left


def _closing_comment(record: GameRecord, game: Game) -> str:
    """Comment on how the game ended: the winner and the reason.

    After a fault, the comment describes the fault. If the exact score of the game is known and not 0, the comment
    gives the margin with best play.
    """
    if (fault := record.detail.get("fault")) is not None:
        return str(fault["text"])
    if record.exact_score:
        winner = game.side_names[0 if record.exact_score > 0 else 1]
        return f"{winner} wins by {abs(record.exact_score)} {game.score_name} with best play"
    return ending_comment(record.result, record.reason, game)


def ending_comment(result: str, reason: str, game: Game) -> str:
    """English text with the winner and the reason of a game's end, such as ``Red wins: checkmate``."""
    winners = {"1-0": f"{game.side_names[0]} wins", "0-1": f"{game.side_names[1]} wins", "1/2-1/2": "draw"}
    name = Catalogue("elolab.engine").name_of("ending", reason)
    return f"{winners[result]}: {name}" if result in winners else name


def _tags(record: GameRecord, event: str, game: Game, players: Mapping[str, PlayedAs]) -> list[tuple[str, str]]:
    first, second = game.side_names
    tags = [
        ("Event", event),
        ("Site", "elolab"),
        ("Date", date_of(record)),
        ("Round", round_of(record)),
        (first, record.first),
        (second, record.second),
    ]
    if record.opening.name:
        tags.append(("Opening", record.opening.name))
    one, other = (played.tags for played in sides_of(record, players))
    return [
        *tags,
        *time_tags(record),
        *side_tags((first, second), one, other),
        ("PlyCount", str(len(record.opening.moves) + len(record.moves))),
        ("Termination", termination_of(record.reason)),
        ("Reason", record.reason),
    ]


def reason_of(portable: PortableGame) -> str:
    """Reason of a game's end: one of ``engine.rules.REASONS`` in elolab's files, otherwise the tag ``Termination``."""
    return portable.tag("Reason") or portable.tag("Termination")


def date_of(record: GameRecord) -> str:
    """Date of a game in PGN format, for the tag ``Date``."""
    return record.started_at[:10].replace("-", ".") or "????.??.??"


def round_of(record: GameRecord) -> str:
    """Round and pair of a game, numbered from 1, for the tag ``Round``."""
    return f"{record.pairing.round + 1}.{record.pairing.pair + 1}"


def portable_text(portable: PortableGame, game: Game, notation: str = "") -> str:
    """Format a game as PGN in the given notation; by default in the game's usual notation.

    Raises ``UserError`` for an illegal move that the notation cannot express.
    """
    notation = notation or next(iter(game.move_notations), "")
    tags = "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in _written_tags(portable, game, notation))
    return f"{tags}\n{_wrapped(_movetext(portable, game, notation))}\n"


def _written_tags(portable: PortableGame, game: Game, notation: str) -> list[tuple[str, str]]:
    own = {name.lower() for name in _OWN_TAGS}
    tags = {name: value for name, value in portable.tags if name.lower() not in own}
    tags |= {**game.pgn_tags(portable.start), "Result": portable.result}
    if notation in FORMATS:
        tags["Format"] = FORMATS[notation]
    if portable.start != game.start:
        tags |= {"SetUp": "1", "FEN": portable.start}
    sides = game.side_names
    first = ("Game", "Event", "Site", "Date", "Round", *sides, "Result", "Variant", "SetUp", "FEN", "Opening", "ECCO")
    between = [name for name in tags if name not in (*first, *_LAST_TAGS)]
    return [(name, tags[name]) for name in (*first, *between, *_LAST_TAGS) if name in tags]


def _escaped(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def _movetext(portable: PortableGame, game: Game, notation: str) -> list[str]:
    """The game's moves, move numbers, comments and result as a list of words, to be wrapped into lines."""
    first_ply = game.first_ply(portable.start)
    words = _comment_words(portable.comment)
    names = [entry.move for entry in portable.moves]
    if game.move_names is not None:
        names = game.move_names.format_moves(game.position(portable.start), names, notation)
    for ply, (name, entry) in enumerate(zip(names, portable.moves, strict=True), start=first_ply):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        elif ply == first_ply:
            words.append(f"{ply // 2 + 1}...")
        words.append(name)
        words += _comment_words(entry.comment)
    words += _comment_words(portable.closing_comment)
    return [*words, portable.result]


def _comment_words(comment: str) -> list[str]:
    if not comment:
        return []
    comment = " ".join(comment.replace("{", "(").replace("}", ")").split())
    if not comment:
        return []
    return ("{" + comment + "}").split() if len(comment) > MAX_UNBROKEN_COMMENT else ["{" + comment + "}"]


def format_figures(entry: MoveRecord) -> str:
    """Format the mover's score in pawns, depth, seconds and nodes, where known: ``+0.31/12 0.43s 1000n``."""
    _, score, depth, nodes, time_ms, *_ = entry
    text = f"{_format_beginning(score, depth)}{time_ms / 1000:.3f}s"
    return text if nodes is None else f"{text} {nodes}n"


@functools.lru_cache(maxsize=2**16)
def _format_beginning(score: int | None, depth: int | None) -> str:
    """Format score and depth, where known, followed by a space; cached, because few combinations occur."""
    text = "" if score is None else format_score(score)
    if depth is not None:
        text += f"/{depth}"
    return f"{text} " if text else ""


def _format_variation(entry: MoveRecord) -> str:
    return f', pv="{entry.principal_variation}"' if entry.principal_variation else ""


def _format_clock(entry: MoveRecord, left_ms: float | None) -> str:
    """Format the time left on the clock and the latency, where known, as parts of a comment."""
    text = "" if left_ms is None else f", tl={left_ms / 1000:.3f}s"
    latency_ms = entry.latency_ms
    return text if latency_ms is None else f"{text}, latency={latency_ms / 1000:z.3f}s"


_TIME_LEFT = re.compile(r"[\s,;]tl=(\d{1,15}(?:\.\d+)?)s(?![^\s,;])")
_NODES = re.compile(r"[\s,;]n=(\d{1,19})(?![^\s,;])")
_LATENCY = re.compile(r"[\s,;]latency=(-?\d{1,15}(?:\.\d+)?)s(?![^\s,;])")
_VARIATION = re.compile(r'[\s,;]pv="([^"]*)"')
_FIGURES = re.compile(
    r"(?:(?P<score>\d{1,9}\.\d+|[+-](?:\d{1,9}\.\d+|M\d{1,9}|R))?(?:/(?P<depth>\d{1,9}))?\s+)?"
    r"(?P<seconds>\d{1,15}(?:\.\d+)?)s(?:\s+(?P<nodes>\d{1,19})n)?(?![^\s,;])"
)


_EVALUATION = re.compile(
    r"\[%eval\s+(?:(?P<mate>#-?\d{1,9})|(?P<score>[+-]?\d{1,9}(?:\.\d+)?))(?:,(?P<depth>\d{1,9}))?\s*\]"
)
_TIME = re.compile(r"\[%(clk|emt)\s+(?:(\d{1,6}):)?(\d{1,6}):(\d{1,6}(?:\.\d+)?)\s*\]")


def parse_figures(move: str, comment: str, side: int = 0) -> MoveRecord | None:
    """Read score, depth, time and nodes from a move's comment; ``None`` if it has none of them.

    These values stand at the beginning of the comment; variation and latency may follow. Commands such as ``[%eval
    0.31,12]`` and ``[%emt 0:00:05]`` are read too. The score of ``[%eval]`` is from the first mover's point of view; it
    is converted to the point of view of ``side``, which made the move.
    """
    match = _FIGURES.match(comment)
    if match is None:
        return _figures_of_commands(move, comment, side) if "[%" in comment else None
    depth, nodes = (None if match[name] is None else int(match[name]) for name in ("depth", "nodes"))
    time_ms = float(match["seconds"]) * 1000
    variation, latency, named = (pattern.search(comment, match.end()) for pattern in (_VARIATION, _LATENCY, _NODES))
    return MoveRecord(
        move, _score_of(match["score"]), depth, int(named[1]) if named and nodes is None else nodes, time_ms,
        "" if variation is None else variation[1], None if latency is None else time_ms - 1000 * float(latency[1]),
    )  # fmt: skip


def _figures_of_commands(move: str, comment: str, side: int) -> MoveRecord | None:
    """Score, depth and time from the commands in a comment, as lichess and ChessBase write them; ``None`` without
    commands.

    The score is converted to the point of view of ``side``, which made the move.
    """
    match = _EVALUATION.search(comment)
    time_ms = _times_of_commands(comment).get("emt")
    if match is None:
        return None if time_ms is None else MoveRecord(move, None, None, None, time_ms)
    if match["mate"]:
        moves = int(match["mate"][1:])
        text = f"{'-' if (moves < 0) != (side == 1) else '+'}M{abs(moves)}"
        score = _score_of(text)
    else:
        score = round(float(match["score"]) * 100) * (-1 if side else 1)
    depth = None if match["depth"] is None else int(match["depth"])
    return MoveRecord(move, score, depth, None, time_ms or 0.0)


def _times_of_commands(comment: str) -> dict[str, float]:
    """Milliseconds by command name: ``clk`` is the time left on the clock, ``emt`` the time used for the move."""
    return {
        name: 1000 * (3600 * int(hours or 0) + 60 * int(minutes) + float(seconds))
        for name, hours, minutes, seconds in _TIME.findall(comment)
    }


def _score_of(text: str | None) -> int | None:
    if text is None:
        return None
    sign, size = (-1 if text[0] == "-" else 1), text.lstrip("+-")
    if size == "R":
        return sign * BAN
    if size[0] == "M":
        # The winner mates with his nth move, which is ply 2n - 1; the loser is mated after n moves of his own.
        return sign * (MATE - 2 * int(size[1:]) + (sign > 0))
    return sign * round(float(size) * 100)


def _width(text: str) -> int:
    """Width of a text in terminal columns; Chinese and full-width characters take two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)


def _wrapped(words: list[str]) -> str:
    lines: list[str] = []
    line: list[str] = []
    used = -1
    for word in words:
        width = _width(word)
        used += 1 + width
        if line and used > LINE_WIDTH:
            lines.append(" ".join(line))
            line, used = [], width
        line.append(word)
    return "\n".join([*lines, " ".join(line)])


# Reading


CHINESE = ("gb18030", "big5hkscs")
"""Encodings of Chinese texts, in addition to UTF-8."""


def decode_text(data: bytes, where: str, encodings: Sequence[str] = CHINESE, first_line: int = 1) -> str:
    """Decode a file's content: UTF-8 if it is valid, otherwise the best of ``encodings``.

    Most bytes are valid in both GBK and Big5. Big5 is chosen if it yields more of the characters that are frequent in
    games. A truncated character, or a few damaged bytes, become U+FFFD, so that only the game around them is lost.
    Raises ``PortableGameError`` if no encoding fits; ``first_line`` is the number of the first line, for the message.
    """
    texts = _decoded(data, "utf-8-sig")
    if not texts and CHINESE[0] not in encodings:
        texts = _mended(data, ("utf-8-sig",))  # Latin-1 accepts all bytes: prefer damaged UTF-8
    texts = texts or [text for encoding in encodings for text in _decoded(data, encoding)]
    texts = texts or _mended(data, ("utf-8-sig", *encodings))
    if not texts:
        try:
            data.decode(encodings[0])
        except UnicodeDecodeError as error:
            line, place = data.count(b"\n", 0, error.start) + first_line, error.start
        name = {"gb18030": "GBK"}.get(encodings[0], encodings[0])
        problem = f"{where}: line {line}: neither UTF-8 nor {name} text (byte {place})"
        raise PortableGameError(problem, "convert the file first")
    likeliest = max(texts, key=_likelihood) if len(texts) > 1 else texts[0]
    return likeliest.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes, encoding: str) -> list[str]:
    """Decode bytes; returns a list with the text, or an empty list if the bytes are invalid in the encoding."""
    try:
        return [data.decode(encoding)]
    except UnicodeDecodeError:
        return []


def _mended(data: bytes, encodings: Sequence[str]) -> list[str]:
    """Decode damaged bytes in the encoding that leaves the fewest invalid characters.

    Returns a list with the text, or an empty list if the text still has too many invalid characters.
    """
    texts = [data.decode(encoding, "replace") for encoding in encodings]
    text = min(texts, key=lambda text: text.count(_NO_CHARACTER))
    damaged = text.count(_NO_CHARACTER)
    others = sum(not character.isascii() for character in text) - damaged
    return [text] if damaged * LEAST_CHARACTERS <= others else []


LEAST_CHARACTERS = 20
"""Minimum number of valid non-ASCII characters for each invalid one; an encoding with fewer is rejected."""
_NO_CHARACTER = "\ufffd"


def _likelihood(text: str) -> int:
    """Score of a decoding: number of characters common in game files, minus number of private-use characters."""
    return sum(map(text.count, _FREQUENT)) - sum(unicodedata.category(character) == "Co" for character in text)


_FREQUENT = "車馬炮砲包相象仕士帥將兵卒進退平前後紅黑勝負和局一二三四五六七八九车马帅将进后红胜负"
"""Characters that are frequent in Chinese games; they help to distinguish GBK from Big5."""


def encode_text(text: str, encoding: str, where: str, first_line: int = 1) -> bytes:
    """Encode a text; raises ``PortableGameError``, which names the character, if ``encoding`` cannot represent it.

    ``where`` and ``first_line`` are the file and the number of the text's first line, for the message.
    """
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + first_line
        raise PortableGameError(
            f"{where}: line {line}: {encoding} has no {text[error.start]!r}",
            f"use {argument('encoding', 'utf-8')}",
        ) from None


def try_games(
    text: str, where: str, game: str, ranks: str = "0", *, plies: int | None = None, first_line: int = 1,
    first_game: int = 1
) -> Iterator[PortableGame | PortableGameError]:  # fmt: skip
    """Yield the games of a PGN text one by one; for a game that cannot be read, an error instead.

    Moves may be in any notation and are checked. ``ranks`` is the number of the first rank in coordinates (``0``, ``1``
    or ``auto``). Variations in parentheses, and annotations such as ``$1``, are skipped. ``where`` names the text in
    errors. If the text is a later part of a file, ``first_line`` and ``first_game`` are the numbers of its first line
    and game. ``plies`` limits the number of moves read of each game. Raises ``PortableGameError`` if the games cannot
    be separated.
    """
    contract = game_named(game)
    ranks_of_file = functools.cache(lambda: _ranks_of_file(text, where, contract))
    for draft in _GameSplitter(text, where, contract, plies, first_line, first_game).drafts():
        try:
            yield _finished(draft, contract, ranks, ranks_of_file)
        except PortableGameError as error:
            yield error


def _ranks_of_file(text: str, where: str, game: Game) -> str:
    """Number of the first rank, ``0`` or ``1``, that the games of a file in SAN use; empty if unknown.

    The first game that is legal with only one of the two numbers decides.
    """
    from elolab.engine.games.xiangqi.move_names import is_algebraic_game, ranks_from_moves

    for draft in _GameSplitter(text, where, game).drafts():
        words = [word for word, _ in draft.words]
        if is_algebraic_game(words):
            with contextlib.suppress(PortableGameError):
                position = _start_position(draft, dict(draft.tags).get("FEN", ""), game)
                if ranks := ranks_from_moves(position, words):
                    return ranks
    return ""


@dataclass(frozen=True)
class PortableResult:
    """Players and result of a game, without its moves; read without checking the game."""

    first: str
    """Name of the player who moves first."""
    second: str
    result: str
    """``1-0`` if ``first`` won, ``0-1`` if ``first`` lost, ``1/2-1/2`` for a draw, ``*`` for an unfinished game."""
    round: str
    """Value of the tag ``Round``; empty if unknown (``?`` or ``-``)."""
    start: str
    """Value of the tag ``FEN``; empty for the game's normal starting position."""
    opening: str
    """Value of the tag ``Opening``; empty if it is missing."""
    counts: bool = True
    """Whether the game counts; false if the tag ``Counted`` places it after the end of a sequential test."""


def read_results(text: str, where: str, game: str) -> Iterator[PortableResult]:
    """Read the results in a PGN text; the games may be of kinds that elolab cannot play.

    The first mover is the player in the game's own tag (``Red``; ``Black`` in Othello) or in ``White``. ``game`` is
    assumed for games without the tag ``Game``. Raises ``PortableGameError`` if a game does not name its players.
    """
    titles = {game_named(name).title.lower(): name for name in GAMES}
    for draft in _GameSplitter(text, where, game_named(game)).drafts():
        tags = {name.lower(): value for name, value in draft.tags}
        sides = game_named(titles.get(tags.get("game", "").lower(), game)).side_names
        first, second = sides if sides[0].lower() in tags and sides[1].lower() in tags else ("White", "Black")
        for side in (first, second):
            if not tags.get(side.lower()):
                expected = " and ".join(sides) + (", or White and Black" if sides[0] != "White" else "")
                raise PortableGameError(f'{draft.where}: no tag [{side} "name"]', f"expected {expected}")
        yield PortableResult(
            first=tags[first.lower()],
            second=tags[second.lower()],
            result=_result(draft, tags.get("result", "")),
            round="" if tags.get("round", "?") in ("?", "-") else tags["round"],
            start=tags.get("fen", ""),
            opening=tags.get("opening", ""),
            counts=tags.get("counted", "").lower() != "no",
        )


@dataclass
class _GameDraft:
    """A game being read; its moves are still text."""

    where: str
    """File and number of the game, for errors."""
    text: str
    """The text from which games are read."""
    first_line: int
    """Number, in the file, of the first line of the text."""
    tags: list[tuple[str, str]] = field(default_factory=list)
    tag_places: dict[str, int] = field(default_factory=dict)
    """Index in the text at which each tag begins, by tag name in lower case."""
    words: list[tuple[str, int]] = field(default_factory=list)
    """The moves as written, each with the index in the text at which it begins."""
    comments: dict[int, list[str]] = field(default_factory=dict)
    """Comments, by the number of moves that precede them."""
    result: str | None = None

    def error(self, place: int, problem: str, remedy: str = "") -> PortableGameError:
        """The error for a mistake at index ``place`` of the text."""
        line = self.first_line + self.text.count("\n", 0, place)
        return PortableGameError(f"{self.where}, line {line}: {problem}", remedy)


_TOKEN = re.compile(
    r"""
    \s*(?:
      (?P<escape>(?m:^)%[^\n]*)
    | \[\s*(?P<name>[^\W\d]\w*)\s+"(?P<value>(?:\\.|[^"\\\n])*|[^\n]*?)"\s*\]
    | \{(?P<comment>[^}]*)\}
    | ;(?P<line_comment>[^\n]*)
    | (?P<parenthesis>[()（）])
    | (?P<mark>\$\d+)
    | (?P<word>[^\s{}();（）]+(?:\([NBRQnbrq]\)[^\s{}();（）]*)?)
    )
    """,
    re.VERBOSE,
)

_NEXT_GAME = re.compile(r'\[\s*[^\W\d]\w*\s+"[^\n]*?"\s*\]|^[^\S\n]*[1１]\s*[.．、](?!\d)', re.MULTILINE)
_NEXT_TAGS = re.compile(r'^\[\s*[^\W\d]\w*\s+"', re.MULTILINE)
_NUMBER = re.compile(r"\d+\s*(?:[.．、。…]+|$)|[.．…·]+$")
_NO_MOVE = re.compile(r"[!?！？]+|e\.?p\.?|[-+=±∓⩲⩱∞/]{1,3}(?<!--)")
"""Matches annotations between moves, such as ``!?`` or ``+-``, that are not moves."""


class _GameSplitter:
    """Splits a PGN text into games, without checking the moves."""

    def __init__(
        self, text: str, where: str, game: Game, plies: int | None = None, first_line: int = 1, first_game: int = 1
    ) -> None:
        self._text = text
        self._where = where
        self._plies = plies
        self._looks_like_a_move = _move_test(game)
        self._tag = f'a tag such as [{game.side_names[0]} "name"]'
        self._place = 0
        self._first_line, self._first_game = first_line, first_game
        self._number = first_game - 1

    def drafts(self) -> Iterator[_GameDraft]:
        """Yield each game of the text; its moves are not yet checked.

        If the number of plies is limited, the rest of a longer game is skipped up to the tags of the next game. If no
        tags follow, the rest is read, but its moves are dropped.
        """
        draft = self._new_draft()
        depth, opened_at = 0, 0
        end = len(self._text.rstrip())
        while self._place < end:
            token = self._next_token(draft)
            kind = token.lastgroup
            if kind == "word":
                if depth == 0:
                    self._add_word(draft, token["word"], token.start("word"))
                    if draft.result is not None:
                        yield draft
                        self._skip_to_next_game(draft)
                        draft = self._new_draft()
                    elif len(draft.words) == self._plies and (following := _NEXT_TAGS.search(self._text, self._place)):
                        yield draft
                        self._place = following.start()
                        draft = self._new_draft()
            elif kind == "parenthesis":
                value, place = token["parenthesis"], token.start("parenthesis")
                depth += 1 if value in "(（" else -1
                opened_at = place if depth == 1 and value in "(（" else opened_at
                if depth < 0:
                    raise draft.error(place, "a ')' without its '('")
            elif depth > 0:
                continue
            elif kind == "value":
                if draft.words or (token["name"].lower() in _OPENING_TAGS & draft.tag_places.keys()):
                    yield draft
                    draft = self._new_draft()
                _add_tag(draft, token["name"], token["value"], token.start("name"))
            elif kind in ("comment", "line_comment"):
                draft.comments.setdefault(len(draft.words), []).append(token[kind])
        if depth:
            raise draft.error(opened_at, "the variation that begins here is not closed", "expected ')'")
        if draft.tags or draft.words:
            yield draft
        elif self._number == self._first_game:
            raise PortableGameError(f"{self._where}: no games in it", f"expected {self._tag} and moves")

    def _new_draft(self) -> _GameDraft:
        self._number += 1
        return _GameDraft(f"{self._where}: game {self._number}", self._text, self._first_line)

    def _next_token(self, draft: _GameDraft) -> re.Match[str]:
        token = _TOKEN.match(self._text, self._place)
        if token is None:
            place = self._place + re.match(r"\s*", self._text[self._place :]).end()  # type: ignore[union-attr]
            if self._text[place] == "{":
                raise draft.error(place, "the comment that begins here is not closed", "expected '}'")
            raise draft.error(place, "a '}' without its '{'")
        self._place = token.end()
        return token

    def _skip_to_next_game(self, draft: _GameDraft) -> None:
        found = _NEXT_GAME.search(self._text, self._place)
        place = found.start() if found else len(self._text)
        words = self._text[self._place : place].split()
        stray = next((word for word in words if self._looks_like_a_move(word)), None)
        if stray is not None:
            problem = f"the move {stray!r} follows the result {draft.result}"
            raise draft.error(self._text.index(stray, self._place), problem, "remove one of them")
        self._place = place

    def _add_word(self, draft: _GameDraft, word: str, place: int) -> None:
        """Add a word of the move section: a result, a move number, or a move with or without its number."""
        if word in _RESULT_WORDS:
            draft.result = _RESULT_WORDS[word]
            return
        # In Xiangqi "13.4" is a pawn's move, "13.P1=2" a number and a move.
        if not self._looks_like_a_move(word):
            word = word[number.end() :] if (number := _NUMBER.match(word)) else word
        if word in _RESULT_WORDS:
            draft.result = _RESULT_WORDS[word]
        elif word.startswith("["):
            raise draft.error(place, f"cannot read {word!r}: expected {self._tag}")
        elif word and not _NO_MOVE.fullmatch(word) and len(draft.words) != self._plies:
            draft.words.append((word, place))


def _move_test(game: Game) -> Callable[[str], bool]:
    """Function that returns whether a word looks like a move of the game."""
    if game.move_names is not None:
        return functools.lru_cache(maxsize=1 << 12)(game.move_names.looks_like_a_move)
    from elolab.engine.games.xiangqi.move_names import looks_like_a_move

    return looks_like_a_move


def _add_tag(draft: _GameDraft, name: str, value: str, place: int) -> None:
    draft.tags.append((name, re.sub(r'\\(["\\])', r"\1", value).strip() if "\\" in value else value.strip()))
    draft.tag_places[name.lower()] = place


def _finished(draft: _GameDraft, game: Game, ranks: str, ranks_of_file: Callable[[], str]) -> PortableGame:
    """Convert a draft to a game: check its moves and convert them to protocol notation.

    ``ranks`` and ``ranks_of_file`` are as for ``read_moves``.
    """
    tags = {name.lower(): value for name, value in draft.tags}
    if tags.get("game", "").strip().lower() not in ("", game.name, game.title.lower(), "中国象棋", "中國象棋", "象棋"):
        raise draft.error(draft.tag_places["game"], f'[Game "{tags["game"]}"]: expected "{game.title}"')
    variant = tags.get("variant", "")
    if game.variants and variant and variant.lower() not in game.variants:
        raise draft.error(draft.tag_places["variant"], f'[Variant "{variant}"]: elolab plays {game.title} without it')
    position = _start_position(draft, tags.get("fen", ""), game)
    start = position.text if tags.get("fen") else game.start
    first = position.side_to_move
    try:
        moves = read_moves(position, [word for word, _ in draft.words], ranks, ranks_of_file)
    except WrongMoveError as error:
        raise draft.error(draft.words[error.number][1], *error.args) from None
    comments = {number: " ".join(" ".join(parts).split()) for number, parts in draft.comments.items()}
    return PortableGame(
        tags=_with_own_sides(draft.tags, game),
        start=start,
        moves=tuple(
            PortableMove(move, comment := comments.get(number, ""), (first + number - 1) % 2 * ("[%eval" in comment))
            for number, move in enumerate(moves, 1)
        ),
        result=_result(draft, tags.get("result", "")),
        comment=comments.get(0, ""),
        notation=_notation(draft, tags.get("format", ""), game),
        end=position,
    )


def _with_own_sides(tags: Sequence[tuple[str, str]], game: Game) -> tuple[tuple[str, str], ...]:
    """Rename the tag ``White``, as Western programs write it, to the name of the game's first side."""
    first = game.side_names[0]
    names = {name.lower() for name, _ in tags}
    if first.lower() in names or "White" in game.side_names:
        return tuple(tags)
    return tuple((first if name.lower() == "white" else name, value) for name, value in tags)


def _start_position(draft: _GameDraft, text: str, game: Game) -> Position:
    board, *others = text.split(maxsplit=1)[:2] or [""]
    text = " ".join([board, *(other[:1].lower() + other[1:] for other in others)])  # some write it in upper case
    try:
        return game.position(text or None)
    except UserError as error:
        other = other_game_with(text, game.name)
        texts = (f"[FEN {text!r}]: a position of {other}, not of {game.name}",) if other else error.args
        raise draft.error(draft.tag_places["fen"], *texts) from None


def result_of(words: str) -> str | None:
    """Translate another spelling of a result, such as 红胜, to one of ``RESULTS``; ``None`` if unknown."""
    return _RESULT_TAGS.get(words.strip())


def _result(draft: _GameDraft, tag: str) -> str:
    if tag not in _RESULT_TAGS:
        expected = ", ".join(RESULTS)
        raise draft.error(draft.tag_places["result"], f'[Result "{tag}"]: expected one of {expected}')
    from_tag, from_moves = _RESULT_TAGS[tag], draft.result or "*"
    if "*" not in (from_tag, from_moves) and from_tag != from_moves:
        raise draft.error(
            draft.tag_places["result"], f'[Result "{tag}"] but {from_moves} after the moves', "correct one"
        )
    return from_tag if from_moves == "*" else from_moves


def _notation(draft: _GameDraft, tag: str, game: Game) -> str:
    """Notation of a game's moves; of several notations, the last in the order of ``Game.move_notations``.

    If no move shows its notation, ``tag``, the value of the tag ``Format``, decides.
    """
    if game.move_names is None:
        return ""
    used = {game.move_names.notation_of(word) for word, _ in draft.words}
    for notation in reversed(game.move_notations):
        if notation in used:
            return notation
    return next((notation for notation, name in FORMATS.items() if name.lower() == tag.lower()), "")
