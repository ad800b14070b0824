"""The command ``replay``: plays a stored game again and compares the moves."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.cli.shared import options
from elolab.cli.shared.playing_options import add_log, dialogue_log
from elolab.engine.errors import UserError
from elolab.engine.language import console

if TYPE_CHECKING:
    from elolab.arena.records import GameJob, GameRecord


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="the folder of a tournament, match or test")
    parser.add_argument("game", metavar="GAME", help="the game's number (as in games.csv) or the beginning of its key")
    add_log(parser)
    options.add_language(parser)
    options.add_json(parser)
    parser.epilog = (
        "Exit code: 0 if all moves were the same, 1 if not, as is common on a clock and with external programs, "
        "or if the game could not be played, 130 if interrupted."
    )


def run(arguments: argparse.Namespace) -> int:
    """Play one stored game again and print the first difference, if any."""
    from elolab.arena.play.executor import GameRunner
    from elolab.arena.players.interruption import stopping_on_signals
    from elolab.engine.engine import StopFlag

    stored, job = _stored_game(arguments.directory, arguments.game)
    stop = StopFlag()
    log = dialogue_log(arguments)
    with stopping_on_signals(stop), GameRunner(1, stop, log=log) as runner:
        played = next(runner.run([job]), None)
    if played is None:
        say = console("elolab.arena")
        reason = "; ".join(runner.unavailable.values()) or say("replay.interrupted")
        print(f"elolab: {say('replay.not_played', reason=reason)}", file=sys.stderr)
        return 130 if stop.is_set() else 1
    if arguments.json:
        options.print_json(_comparison(stored, played, job.is_reproducible))
    else:
        print(_comparison_text(stored, played, job.is_reproducible))
    return 0 if played.digest == stored.digest else 1


def _stored_game(directory: Path, game: str) -> tuple[GameRecord, GameJob]:
    """Load a stored game, and the job that plays it again. Raises ``UserError`` unless exactly one game matches."""
    from elolab.arena.play.store import Store
    from elolab.arena.play.tournament_run import stored_player, stored_tournament
    from elolab.arena.run import kind_in

    with Store(directory, read_only=True) as store:
        kind = kind_in(store)
        if kind not in ("", "tournament"):
            raise UserError(
                f"{directory}: holds a run of kind {kind}, and only games of tournaments, matches and tests are played "
                f"again one by one",
                f"elolab watch {directory} shows its games move by move, and the command that made "
                "it replays all games if --out names another folder",
            )
        spec = stored_tournament(store)
        found = store.find(game)
        count = len(store)
    if len(found) != 1:
        raise UserError(
            f"{directory}: {len(found) or 'no'} games match {game!r}",
            f"expected a number below {count} or the beginning of a key (see games.csv)",
        )
    (record,) = found
    first, second = (stored_player(spec.player(name), spec.game, directory) for name in (record.first, record.second))
    return record, spec.conditions.job(record.pairing, first, second, record.opening)


def _comparison(stored: GameRecord, played: GameRecord, reproducible: bool) -> dict[str, Any]:
    return {
        "game": stored.pairing.number,
        "key": stored.key,
        "reproducible": reproducible,
        "identical": stored.digest == played.digest,
        "stored": _summary(stored),
        "played": _summary(played),
    }


def _summary(record: GameRecord) -> dict[str, Any]:
    return {
        "digest": record.digest,
        "result": record.result,
        "reason": record.reason,
        "plies": len(record.moves),
        "engine_identity": record.engine_identity,
    }


def _comparison_text(stored: GameRecord, played: GameRecord, reproducible: bool) -> str:
    from elolab.arena.statistics.faults import cause_of

    say = console("elolab.arena")
    game, opening = stored.pairing.number, stored.opening.name
    lines = [say("replay.title", game=game, first=stored.first, second=stored.second, opening=opening)]
    for name, record in (("stored", stored), ("played", played)):
        ended = {"result": record.result, "plies": len(record.moves), "digest": record.digest}
        ended["reason"] = console("elolab.engine").name_of("ending", record.reason)
        lines.append(say(f"replay.{name}", **ended))
    cause = cause_of(stored)
    if cause is not None and cause[1] is not None:
        text = say("fault.of_player", player=cause[0], text=cause[1].text(say.language))
        lines.append(say("replay.fault", text=text))
    if stored.digest == played.digest:
        return "\n".join([*lines, say("replay.identical")])
    lines.append(_difference_text(stored, played))
    if stored.engine_identity != played.engine_identity:
        lines.append(say("replay.engine", before=stored.engine_identity, now=played.engine_identity))
    if not reproducible:
        lines.append(say("replay.not_reproducible"))
    return "\n".join(lines)


def _difference_text(stored: GameRecord, played: GameRecord) -> str:
    say = console("elolab.arena")
    for ply, (before, now) in enumerate(zip(stored.moves, played.moves, strict=False), start=1):
        for what in ("move", "score", "depth", "nodes"):
            if getattr(before, what) != getattr(now, what):
                name = say(f"replay.{what}")
                return say("replay.different", ply=ply, what=name, before=getattr(before, what), now=getattr(now, what))
    return say("replay.different_at_all" if len(stored.moves) == len(played.moves) else "replay.different_length")
