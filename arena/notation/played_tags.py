"""PGN tags for the conditions and the end of a game: time control, limits, builds and options of both sides, reason."""

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
"""Tags that a game has once if both sides have equal values; otherwise once per side, prefixed with the side's name."""
SIDE_TAGS = ("Build", "Options")
"""Tags that each side has, prefixed with the side's name, such as ``RedBuild``."""
TERMINATIONS = {
    "resign_adjudication": "adjudication", "draw_adjudication": "adjudication", "maximum_length": "adjudication",
    "solved": "adjudication", "tablebase": "adjudication", "time_forfeit": "time forfeit",
    "illegal_move": "illegal move", "crash": "abandoned", "no_answer": "abandoned", "no_move": "abandoned",
    "startup_failure": "unterminated", "stopped": "unterminated", "unfinished": "unterminated",
}  # fmt: skip
"""Value of the tag ``Termination``, as in cutechess and fastchess, by reason for the end of a game.

The reasons are in ``engine.rules.REASONS``; a reason that is missing here has the value ``NORMAL``.
"""
NORMAL = "normal"
"""Value of the tag ``Termination`` for a game that ended by the rules, by resignation or by agreement."""


class PlayedAs(NamedTuple):
    """The conditions under which a player plays in a run."""

    limits: Limits
    tags: Mapping[str, str]
    """Values of ``SHARED_TAGS`` and ``SIDE_TAGS`` by tag name; tags without a value are missing."""


def played_as(
    players: Iterable[PlayerSpec], game: str, builds: Mapping[str, str] = MappingProxyType({})
) -> dict[str, PlayedAs]:
    """The conditions of players of ``game``, by player name.

    ``builds`` holds a text that identifies each player's build, by player name, where known.
    """
    return {
        player.name: _played(
            player.limits, Build=_build_text(player, builds.get(player.name, "")), Options=options_text(player, game)
        )
        for player in players
    }


def _build_text(player: PlayerSpec, digests: str) -> str:
    """Text that identifies a player's build: its commit, if it was built from one, and ``digests`` of its files."""
    commit = "" if player.built is None else f"{player.built.repository}@{player.built.commit}"
    return ", ".join(filter(None, (commit, digests)))


def _played(limits: Limits, **tags: str) -> PlayedAs:
    tags = {"TimeControl": time_control(limits), "Limit": _other_limits(limits), **tags}
    return PlayedAs(limits, {name: value for name, value in tags.items() if value})


def sides_of(record: GameRecord, players: Mapping[str, PlayedAs]) -> tuple[PlayedAs, PlayedAs]:
    """The conditions of both players of a game, the first mover's first.

    The limits are those of the game, also if the run scales limits to the speed of machines. For a player that is not
    in ``players``, only limits stored with the game are known.
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
    """The options in which a player differs from its defaults, such as ``Hash = 16, Ponder = false``; empty if there
    are none.

    For a built-in player these are changed parameters; for an external program, all options that are sent to it.
    """
    if player.is_builtin:
        defaults = resolve({}, game=game)
        changes = [(name, format_value(value)) for name, value in player.parameters if value != defaults.get(name)]
        return ", ".join(f"{name} = {value}" for name, value in changes)
    lists = [value for _, value in player.protocol_keys if isinstance(value, tuple)]
    return ", ".join([*(f"{name} = {value}" for name, value in player.options), *chain.from_iterable(lists)])


def time_control(limits: Limits) -> str:
    """Limits in the form of the tag ``TimeControl``, in seconds: ``10+0.1``, ``40/60``, ``0.1/move``.

    ``-`` means no time limit; ``?`` means that the player chooses its own time.
    """
    if limits.clock_ms is not None:
        control = f"{limits.moves_per_control}/" if limits.moves_per_control else ""
        increment = f"+{limits.increment_ms / 1000:g}" if limits.increment_ms else ""
        return f"{control}{limits.clock_ms / 1000:.10g}{increment}"
    if limits.move_time_ms is not None:
        return f"{limits.move_time_ms / 1000:.10g}/move"
    return "?" if limits.depth is None and limits.nodes is None else "-"


def _other_limits(limits: Limits) -> str:
    """The limits in the notation of ``Limits``; empty if the tag ``TimeControl`` expresses all of them."""
    has_two_times = limits.clock_ms is not None and limits.move_time_ms is not None
    has_more = limits.depth is not None or limits.nodes is not None or limits.clock_kind != "wall" or has_two_times
    return str(limits) if has_more else ""


def side_tags(sides: tuple[str, str], first: Mapping[str, str], second: Mapping[str, str]) -> list[tuple[str, str]]:
    """PGN tags for both players, from their ``PlayedAs.tags``; ``sides`` has the sides' names, such as ``Red``."""
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
    """Tags for the time in UTC at which a game began, and for its duration, where known."""
    found = [("UTCTime", record.started_at[11:19])]
    if record.duration_ms:
        minutes, seconds = divmod(int(record.duration_ms / 1000), 60)
        found.append(("GameDuration", f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"))
    return [(name, value) for name, value in found if value]


def times_left_ms(limits: Limits, times_ms: Sequence[float]) -> list[float | None]:
    """Milliseconds on a player's clock after each of its moves; ``times_ms`` are the durations of the moves.

    All ``None`` if the limits have no clock.
    """
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
