"""Basic data types of matches: players, openings, pairings, games to play and games played."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from elolab.engine.rules import Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.limits import MARGIN_MS, Limits

BUILTIN = "builtin"
"""Value of ``PlayerSpec.protocol`` for built-in players, which need no protocol."""


@dataclass(frozen=True)
class CommitBuild:
    """The git commit from which a player's program was built."""

    repository: str
    """URL or absolute path of the repository."""
    commit: str
    """Full hexadecimal name of the commit."""
    build: str
    """The command line that built the program in ``tree``; empty if the tree needed no build."""
    tree: str
    """Absolute path of the built source tree, on the machine that built it."""

    def holds(self, path: str) -> bool:
        """Whether a path is in the built tree."""
        return path == self.tree or path.startswith(self.tree + os.sep)

    def inside(self, path: str) -> str:
        """Return a path inside the built tree as a path relative to the tree; other texts are returned unchanged."""
        return os.path.relpath(path, self.tree) if self.holds(path) else path


@dataclass(frozen=True)
class PlayerSpec:
    """One player of a tournament, with a value for every setting."""

    name: str
    protocol: str
    """Name of the protocol, as in ``arena.players.registry``."""
    limits: Limits
    parameters: tuple[tuple[str, Any], ...] = ()
    """Built-in players: every parameter with its value, in the order of the parameter table."""
    command: tuple[str, ...] = ()
    """External players: the program and its arguments."""
    options: tuple[tuple[str, str], ...] = ()
    """External players: pairs of option name and value, in the order in which they are sent after the handshake."""
    directory: str | None = None
    """External players: working directory of the program; ``None`` for the directory in which elolab runs."""
    start_timeout_ms: int = 10_000
    """External players: time limit for the start and handshake, in milliseconds."""
    margin_ms: int = MARGIN_MS
    """Time in milliseconds by which a move may exceed the clock or time per move before the player loses on time."""
    watchdog_ms: int = 60_000
    """External players: time limit for a move in milliseconds, under limits without time such as depth or nodes."""
    restart: str = "on_fault"
    """External players: ``on_fault`` starts a new process after each fault, ``always`` for every game."""
    ponder: bool = False
    """Whether the player thinks on the opponent's time, about the reply that the player expects."""
    protocol_keys: tuple[tuple[str, Any], ...] = ()
    """External players: settings that only the protocol has, as pairs of name and value; lists are stored as tuples."""
    built: CommitBuild | None = None
    """External players: the commit from which elolab built the program; ``None`` if elolab did not build it."""

    def __hash__(self) -> int:
        return hash((self.name, self.protocol, self.command, self.options))  # used several times per game

    @property
    def is_builtin(self) -> bool:
        """Whether the player is the built-in engine, which needs no process of its own."""
        return self.protocol == BUILTIN

    @property
    def shown_command(self) -> tuple[str, ...]:
        """``command`` as reports show it: paths in a built tree are relative to the tree."""
        return self.command if self.built is None else tuple(map(self.built.inside, self.command))

    def protocol_key(self, key: str, default: Any) -> Any:
        """The value of the protocol's own setting ``key``; ``default`` if it is not set."""
        return dict(self.protocol_keys).get(key, default)

    def content(self) -> dict[str, Any]:
        """Everything that can influence the player's moves, as plain data for digests."""
        data: dict[str, Any] = {"name": self.name, "protocol": self.protocol, "limits": str(self.limits)}
        if self.is_builtin:
            data["parameters"] = dict(self.parameters)
        else:
            data |= {"command": list(self.shown_command), "options": dict(self.options), "directory": self.directory}
        if self.built is not None:  # independent of the paths of the repository and the cache
            data |= {"commit": self.built.commit, "build": self.built.build}
            data["directory"] = self.built.inside(self.directory or "")
        data |= {key: list(value) if isinstance(value, tuple) else value for key, value in self.protocol_keys}
        if self.ponder:
            data["ponder"] = True
        return data

    def stored(self) -> dict[str, Any]:
        """The specification as plain data that JSON can store; ``from_stored`` reads it."""
        data = asdict(self)
        if self.built is None:
            del data["built"]
        return data | dict(data.pop("protocol_keys"))

    @classmethod
    def from_stored(cls, data: Mapping[str, Any], protocol_keys: Collection[str]) -> PlayerSpec:
        """Create a player from the result of ``stored``; ``protocol_keys`` names its protocol's own settings."""
        own = {key: data[key] for key in protocol_keys if key in data and key not in cls.__dataclass_fields__}
        known = {key: value for key, value in data.items() if key in cls.__dataclass_fields__}
        return cls(**known | {
            "limits": Limits(**data["limits"]),
            "command": tuple(data["command"]),
            "built": CommitBuild(**data["built"]) if data.get("built") else None,
            "parameters": tuple((name, value) for name, value in data["parameters"]),
            "options": tuple((name, value) for name, value in data["options"]),
            "protocol_keys": tuple((key, tuple(v) if isinstance(v, list) else v) for key, v in own.items()),
        })  # fmt: skip

    @functools.cached_property
    def canonical_content(self) -> str:
        """``content`` as canonical JSON, for digests."""
        return canonical_json(self.content())


@dataclass(frozen=True)
class Opening:
    """One opening of a suite: a position and the moves played from it."""

    position: str
    """The game's position text (FEN)."""
    moves: tuple[str, ...] = ()
    name: str = ""

    @functools.cached_property
    def canonical_content(self) -> str:
        """The position and moves as canonical JSON, for digests; the name is left out."""
        return canonical_json([self.position, self.moves])


@dataclass(frozen=True, slots=True)
class Pairing:
    """One game of a schedule: its players, its opening and its place in the schedule. All indices start at 0."""

    number: int
    """Index of the game in its series."""
    pair: int
    """Index of the game pair among all pairs of these two players; it determines the opening."""
    first: int
    """Index of the player who moves first (Red in Xiangqi, White in chess)."""
    second: int
    opening: int
    """Index of the opening in the suite."""
    round: int = 0
    series: str = ""
    """The part of the run to which the game belongs, such as ``playoff``. ``number`` counts from 0 in each part.

    Most runs have a single part, whose name is empty. The parts are ordered by name.
    """

    @property
    def place(self) -> tuple[str, int]:
        """Position of the game in the run: a pair of its series and its number."""
        return self.series, self.number


@dataclass(frozen=True)
class GameConditions:
    """Conditions shared by all games of a run."""

    game: str
    rules: Rules
    adjudication: Adjudication
    seed: int
    search_statistics: SearchStatisticsSettings | None = None

    def job(self, pairing: Pairing, first: PlayerSpec, second: PlayerSpec, opening: Opening) -> GameJob:
        """Create the game to play for a pairing. The player ``first`` moves first, from the opening ``opening``."""
        return GameJob(
            self.game, self.rules, self.adjudication, pairing, first, second, opening, self.seed, self.search_statistics
        )


@dataclass(frozen=True)
class GameJob:
    """A game to play, with everything that can influence it. ``key`` is a digest of these data."""

    game: str
    rules: Rules
    adjudication: Adjudication
    pairing: Pairing
    first: PlayerSpec
    second: PlayerSpec
    opening: Opening
    seed: int
    search_statistics: SearchStatisticsSettings | None = None
    """Settings for counting built-in players' search events, which does not affect the game; ``None`` counts none."""
    detail: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Extra data that the run stores with the game."""

    @functools.cached_property
    def key(self) -> str:
        """Digest of everything that can influence the game, except its place in the schedule; 32 hexadecimal digits."""
        parts = {
            "adjudication": _canonical_adjudication(self.adjudication),
            "first": self.first.canonical_content,
            "game": f'"{self.game}"',
            "opening": self.opening.canonical_content,
            "pair": str(self.pairing.pair),
            "rules": _canonical_rules(self.rules),
            "second": self.second.canonical_content,
            "seed": str(self.seed),
        }
        # Assembled from cached parts, with keys in alphabetical order, because many games share most parts.
        return _digest("{" + ",".join([f'"{name}":{text}' for name, text in parts.items()]) + "}")

    @property
    def is_reproducible(self) -> bool:
        """Whether a replay of the game always gives the same moves."""
        players = (self.first, self.second)
        return all(player.is_builtin and player.limits.is_reproducible for player in players)

    @property
    def thinks_on_both_sides(self) -> bool:
        """Whether both players may think at the same time.

        On clocks that count processor time or nodes, players take turns even if they ponder.
        """
        return any(player.ponder and player.limits.clock_kind == "wall" for player in (self.first, self.second))


class MoveRecord(NamedTuple):
    """One move of a game; a tuple, because moves are by far the most numerous objects.

    ``score`` is in centipawns for the side that moved. ``depth`` is the last completed iteration of a
    built-in player, or the last depth that an external player reported. ``time_ms`` is the time that the arena
    measured. Values that are not known are ``None``.
    """

    move: str
    score: int | None
    depth: int | None
    nodes: int | None
    time_ms: float
    principal_variation: str = ""
    """The principal variation of the search: moves in protocol notation separated by blanks, usually starting with
    ``move``.

    The moves are as the player sent them and may be illegal. Empty if unknown. No digest depends on it.
    """
    reported_ms: float | None = None
    """Duration of the search in ms, as reported by the player; ``None`` if unknown. No digest depends on it."""

    @property
    def latency_ms(self) -> float | None:
        """Measured time minus the time that the player reported, in milliseconds: delays of pipes, scheduler and arena.

        ``None`` if the player reported no time.
        """
        return None if self.reported_ms is None else self.time_ms - self.reported_ms


class GameSoFar(NamedTuple):
    """The moves of a running game after the opening. Each list has one entry per move; see ``MoveRecord``."""

    moves: list[str]
    scores: list[int | None]
    depths: list[int | None]
    nodes: list[int | None]
    times_ms: list[float]
    thinking_ms: float | None = None
    """Time in milliseconds for which the side to move has been thinking; ``None`` if unknown."""


def no_moves() -> GameSoFar:
    """Empty lists of moves, for a running game whose moves are unknown in this process."""
    return GameSoFar([], [], [], [], [])


DialogueSoFar = tuple[list[str], list[str]]
"""The last lines exchanged with each player of a game, oldest first; the first mover's lines come first."""


def no_dialogue() -> DialogueSoFar:
    """An empty dialogue, for a game between players that exchange no text."""
    return [], []


class RunningGame(NamedTuple):
    """A game in progress."""

    job: GameJob
    seconds: float
    """Seconds since the start of the game."""
    read_moves: Callable[[], GameSoFar] = no_moves
    """Returns the moves so far. Can be called on any thread and does not disturb the game."""
    worker: str | None = None
    """Name of the worker that plays the game; ``None`` for this process."""
    read_dialogue: Callable[[], DialogueSoFar] = no_dialogue
    """Returns the last lines of both dialogues. Can be called on any thread and does not disturb the game."""


@dataclass(frozen=True)
class GameRecord:
    """A stored game. ``engine.rules`` lists the values of ``result`` and ``reason``."""

    key: str
    pairing: Pairing
    first: str
    """Name of the player who moved first."""
    second: str
    opening: Opening
    moves: tuple[MoveRecord, ...]
    result: str
    reason: str
    engine_identity: str
    """Identity of the sources of the built-in engine and rules; also recorded if only external engines played."""
    started_at: str = ""
    """Start of the game, in UTC and ISO 8601 format."""
    duration_ms: float = 0.0
    final_position: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    """Further data: a fault, the end of a dialogue, late moves within the margin, pondering, an exact score."""
    search_statistics: tuple[dict[str, Any] | None, dict[str, Any] | None] | None = None
    """Search events of the first mover and of the other player; see ``engine.search_statistics``.

    An entry is ``None`` for a player that counted no events; the field is ``None`` if neither player counted any.
    """

    @property
    def plies(self) -> int:
        """Number of moves played after the opening."""
        return len(self.moves)

    @property
    def ponder_hits(self) -> frozenset[int]:
        """Indices, from 0, of the moves that a player made after a ponder hit.

        A ponder hit is an opponent's move that the player expected and was already thinking about.
        """
        return frozenset(hit for side in self.detail.get("pondering", ()) for hit in side["hits"])

    @property
    def exact_score(self) -> int | None:
        """Final score of a solved game in units of the game, such as discs, from the first mover's point of view.

        ``None`` if the game was not solved.
        """
        return self.detail.get("exact_score")

    @property
    def score(self) -> float | None:
        """Points of the first mover, 1, 0.5 or 0; ``None`` for an unfinished game."""
        return points_of(self.result)

    @functools.cached_property
    def digest(self) -> str:
        """Digest of moves, scores, depths, nodes, result and reason, without times and dates; 32 hexadecimal digits."""
        moves = [entry[:4] for entry in self.moves]
        return digest_of({"moves": moves, "result": self.result, "reason": self.reason})


class FinishedGame(NamedTuple):
    """A game that has just ended; its full record is created later, by ``record``."""

    reason: str
    duration_ms: float
    record: Callable[[], GameRecord]
    """Creates the game's record. Can be called on any thread, even while the players already play their next game."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A finished game without its moves, for reports. The fields mean the same as in ``GameRecord``."""

    pairing: Pairing
    first: str
    second: str
    result: str
    reason: str
    plies: int
    engine_identity: str

    @classmethod
    def of(cls, record: GameRecord) -> GameSummary:
        """Create the summary of a game; strings that many games share are stored once."""
        names = (record.first, record.second, record.result, record.reason, record.engine_identity)
        first, second, result, reason, identity = map(sys.intern, names)
        return cls(record.pairing, first, second, result, reason, record.plies, identity)

    @property
    def score(self) -> float | None:
        """Points of the first mover, 1, 0.5 or 0; ``None`` for an unfinished game."""
        return points_of(self.result)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The part of a finished game on which a schedule may depend: the pairing and the score."""

    key: str
    pairing: Pairing
    score: float | None
    """Points of the first mover, 1, 0.5 or 0; ``None`` if the game has no result."""
    absent: tuple[int, ...] = ()
    """Indices of players that could not be started. Such a game is never played, and its ``key`` is empty."""


def exact_score_detail(score: int | None) -> dict[str, Any]:
    """The entry in a record's ``detail`` for the exact score of a solved game; empty for ``None``."""
    return {} if score is None else {"exact_score": score}


def points_of(result: str) -> float | None:
    """Points of the first mover, 1, 0.5 or 0, from a result such as ``1-0``; ``None`` for an unfinished game."""
    return {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}.get(result)


def digest_of(data: Any) -> str:
    """SHA-256 of plain data as canonical JSON, shortened to 32 hexadecimal digits (128 bits)."""
    return _digest(canonical_json(data))


canonical_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
"""Formats plain data as canonical JSON, so that equal data have equal texts."""


@functools.lru_cache(maxsize=16)
def _canonical_rules(rules: Rules) -> str:
    return canonical_json(asdict(rules))


@functools.lru_cache(maxsize=16)
def _canonical_adjudication(adjudication: Adjudication) -> str:
    return canonical_json(adjudication.content())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def games_digest(records: Sequence[GameRecord]) -> str:
    """Digest of a set of games, computed from their keys and digests in schedule order."""
    ordered = sorted(records, key=lambda record: record.pairing.place)
    return digest_of([[record.key, record.digest] for record in ordered])


def utc_now() -> str:
    """The current time in UTC, in ISO 8601 format with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
