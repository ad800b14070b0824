"""PGN tags that say how a game was played: time control, limits, builds and options of both sides, and why it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import format_value, resolve

if TYPE_CHECKING:
    from elolab.arena.records import GameRecord, PlayerSpec

SHARED_TAGS = ("TimeControl", "Limit")
"""Tags that a game has once if they are the same for both sides, else once for each side, with its name before."""
SIDE_TAGS = ("Build", "Options")
"""Tags that each side has for itself, with its name before: ``RedBuild``."""
TERMINATIONS = {
    "resign_adjudication": "adjudication", "draw_adjudication": "adjudication", "maximum_length": "adjudication",
    "solved": "adjudication", "tablebase": "adjudication", "time_forfeit": "time forfeit",
    "illegal_move": "illegal move", "crash": "abandoned", "no_answer": "abandoned", "no_move": "abandoned",
    "startup_failure": "unterminated", "stopped": "unterminated", "unfinished": "unterminated",
}  # fmt: skip
"""Value of the tag ``Termination``, as cutechess and fastchess write it, for each reason of ``engine.rules.REASONS``
except those for which it is ``NORMAL``."""
NORMAL = "normal"
"""Value of the tag ``Termination`` for a game that ended by the rules, by resignation or by agreement."""


class PlayedAs(NamedTuple):
    """A player's conditions in the games of a run."""

    limits: Limits
    tags: Mapping[str, str]
    """Values by the names in ``SHARED_TAGS`` and ``SIDE_TAGS``; a value that would be empty is missing."""


def played_as(
    players: Iterable[PlayerSpec], game: str, builds: Mapping[str, str] = MappingProxyType({})
) -> dict[str, PlayedAs]:
    """The conditions of players of ``game``, by the player's name; ``builds`` are texts by name, where known."""
    return {
        player.name: _played(
            player.limits, Build=_build_text(player, builds.get(player.name, "")), Options=options_text(player, game)
        )
        for player in players
    }


def _build_text(player: PlayerSpec, digests: str) -> str:
    """The commit from which a player was built, if it is one, and the digests of its files, where known."""
    commit = "" if player.built is None else f"{player.built.repository}@{player.built.commit}"
    return ", ".join(filter(None, (commit, digests)))


def _played(limits: Limits, **tags: str) -> PlayedAs:
    tags = {"TimeControl": time_control(limits), "Limit": _other_limits(limits), **tags}
    return PlayedAs(limits, {name: value for name, value in tags.items() if value})


def sides_of(record: GameRecord, players: Mapping[str, PlayedAs]) -> tuple[PlayedAs, PlayedAs]:
    """The conditions of both players of a game, the first mover's first.

    Limits are as played, that is, scaled to the speed of the game's machine if the run scales them. Of a player that is
    not among ``players``, they are the limits that are stored with the game, if any.
    """
    stored = record.detail.get("limit")
    other = PlayedAs(Limits(), {}) if stored is None else _played(Limits.parse(stored))
    first, second = players.get(record.first, other), players.get(record.second, other)
    scale = record.detail.get("limit_scale")
    return (first, second) if scale is None else (_scaled(first, scale), _scaled(second, scale))


def _scaled(played: PlayedAs, scale: float) -> PlayedAs:
    own = {name: value for name, value in played.tags.items() if name not in SHARED_TAGS}
    return _played(played.limits.scaled(scale), **own)


def options_text(player: PlayerSpec, game: str) -> str:
    """The options with which a player differs from its defaults: ``Hash = 16, Ponder = false``; empty without any.

    Of a built-in player these are its parameters with other values, of a program the options that it is sent.
    """
    if player.is_builtin:
        defaults = resolve({}, game=game)
        changes = [(name, format_value(value)) for name, value in player.parameters if value != defaults.get(name)]
        return ", ".join(f"{name} = {value}" for name, value in changes)
    lists = [value for _, value in player.protocol_keys if isinstance(value, tuple)]
    return ", ".join([*(f"{name} = {value}" for name, value in player.options), *chain.from_iterable(lists)])


def time_control(limits: Limits) -> str:
    """Limits as the tag ``TimeControl``: ``10+0.1``, ``40/60``, ``0.1/move``, ``-`` without a time limit, ``?`` if
    the player uses its own level. Times are in seconds.
    """
    if limits.clock_ms is not None:
        control = f"{limits.moves_per_control}/" if limits.moves_per_control else ""
        increment = f"+{limits.increment_ms / 1000:g}" if limits.increment_ms else ""
        return f"{control}{limits.clock_ms / 1000:.10g}{increment}"
    if limits.move_time_ms is not None:
        return f"{limits.move_time_ms / 1000:.10g}/move"
    return "?" if limits.depth is None and limits.nodes is None else "-"


def _other_limits(limits: Limits) -> str:
    """Limits in full, in the notation of ``Limits``, if the tag ``TimeControl`` lacks some of them; else empty."""
    has_two_times = limits.clock_ms is not None and limits.move_time_ms is not None
    has_more = limits.depth is not None or limits.nodes is not None or limits.clock_kind != "wall" or has_two_times
    return str(limits) if has_more else ""


def side_tags(sides: tuple[str, str], first: Mapping[str, str], second: Mapping[str, str]) -> list[tuple[str, str]]:
    """Tags of both players; ``first`` has the colour ``sides[0]``. Both mappings are like ``PlayedAs.tags``."""
    found = []
    for name in SHARED_TAGS:
        if first.get(name) == second.get(name):
            found.append((name, first.get(name, "")))
        else:
            found += [(f"{side}{name}", tags.get(name, "")) for side, tags in zip(sides, (first, second), strict=True)]
    for side, tags in zip(sides, (first, second), strict=True):
        found += [(f"{side}{name}", tags.get(name, "")) for name in SIDE_TAGS]
    return [(name, value) for name, value in found if value]


def time_tags(record: GameRecord) -> list[tuple[str, str]]:
    """Tags with the time of day in UTC at which a game began and with its duration, where known."""
    found = [("UTCTime", record.started_at[11:19])]
    if record.duration_ms:
        minutes, seconds = divmod(int(record.duration_ms / 1000), 60)
        found.append(("GameDuration", f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"))
    return [(name, value) for name, value in found if value]


def times_left_ms(limits: Limits, times_ms: Sequence[float]) -> list[float | None]:
    """Milliseconds on a player's clock after each of its moves, whose times are given; ``None`` without a clock."""
    if limits.clock_ms is None:
        return [None] * len(times_ms)
    left: list[float | None] = []
    remaining_ms, moves_to_go = float(limits.clock_ms), limits.moves_per_control
    for time_ms in times_ms:
        remaining_ms = max(0.0, remaining_ms - time_ms) + limits.increment_ms
        moves_to_go -= 1
        if moves_to_go == 0:
            moves_to_go = limits.moves_per_control
            remaining_ms += limits.clock_ms
        left.append(remaining_ms)
    return left


def termination_of(reason: str) -> str:
    """Value of the tag ``Termination`` for a reason of ``engine.rules.REASONS``."""
    return TERMINATIONS.get(reason, NORMAL)
