"""Games in PGN as Xiangqi programs read it: coordinates (``Format "ICCS"``), a comment after every move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from arena.records import GameRecord, MoveRecord

if TYPE_CHECKING:
    from engine.games.contract import Game

LINE_WIDTH = 80


def write_games(stream: IO[str], records: Iterable[GameRecord], event: str, game: str) -> None:
    """Write games one after another, with an empty line between them."""
    from engine.games import game_named

    contract = game_named(game)
    for record in records:
        stream.write(game_text(record, event, contract))
        stream.write("\n")


def game_text(record: GameRecord, event: str, game: Game) -> str:
    """One game: tags, an empty line, moves."""
    tags = "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in _tags(record, event, game))
    return f"{tags}\n{_wrapped(_movetext(record, _first_mover(record.opening.position)))}\n"


def _tags(record: GameRecord, event: str, game: Game) -> list[tuple[str, str]]:
    first, second = game.side_names
    tags = [
        ("Game", game.title),
        ("Event", event),
        ("Site", "elolab"),
        ("Date", record.started_at[:10].replace("-", ".") or "????.??.??"),
        ("Round", f"{record.pairing.round + 1}.{record.pairing.pair + 1}"),
        (first, record.first),
        (second, record.second),
        ("Result", record.result),
    ]
    if record.opening.position != game.start:
        tags += [("SetUp", "1"), ("FEN", record.opening.position)]
    if record.opening.name:
        tags.append(("Opening", record.opening.name))
    tags += [("Format", "ICCS"), ("PlyCount", str(len(record.moves))), ("Termination", record.reason)]
    return tags


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _first_mover(position: str) -> int:
    """0 if the first move of the game is the first side's, 1 if it is the other's: the second word says."""
    words = position.split()
    return int(len(words) > 1 and words[1].lower() not in ("w", "r", "x"))


def _movetext(record: GameRecord, mover: int) -> list[str]:
    """Moves, numbers, comments and result as separate words."""
    words: list[str] = []
    opening = [(move, "") for move in record.opening.moves]
    played = [(entry.move, _comment(entry)) for entry in record.moves]
    for ply, (move, comment) in enumerate(opening + played, start=mover):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        elif ply == mover:
            words.append(f"{ply // 2 + 1}...")
        words.append(f"{move[:2]}-{move[2:]}".upper())
        if comment:
            words.append(comment)
    fault = record.detail.get("fault")
    if fault:
        words.append("{" + fault["text"].replace("{", "(").replace("}", ")") + "}")
    words.append(record.result)
    return words


def _comment(entry: MoveRecord) -> str:
    """``{+0.31/12 0.43s 1000n}``: the mover's score in pawns, depth, seconds, nodes, as far as they are known."""
    from engine.values import format_score

    score = "" if entry.score is None else format_score(entry.score)
    if entry.depth is not None:
        score += f"/{entry.depth}"
    parts = [score] if score else []
    parts.append(f"{entry.time_ms / 1000:.3f}s")
    if entry.nodes is not None:
        parts.append(f"{entry.nodes}n")
    return "{" + " ".join(parts) + "}"


def _wrapped(words: list[str]) -> str:
    lines: list[str] = []
    line = ""
    for word in words:
        if len(line) + 1 + len(word) > LINE_WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return "\n".join(lines)
