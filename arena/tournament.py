"""Playing a whole tournament: what is missing is played and stored, then everything is written from the store."""

from __future__ import annotations

import csv
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from arena.estimates import estimated_game_seconds
from arena.executor import GameRunner, stopping_on_signals
from arena.files import replace_file
from arena.openings import Suite, load_suite
from arena.portable_game_notation import write_games
from arena.progress import LIVE_NAME, Progress, duration_text
from arena.records import GameJob, GameRecord, Pairing, PlayerSpec
from arena.schedule import (
    SCHEDULES,
    Outcome,
    games_that_count,
    job_of,
    opening_order,
    openings_needed,
    planned_games,
    sequential_run,
)
from arena.sequential import SequentialRun
from arena.spec import TournamentSpec
from arena.store import STORE_NAME, Store, StoreError
from engine.errors import UserError

if TYPE_CHECKING:
    from arena.standings import Tables
    from engine.engine import StopFlag

EXIT_NOT_CONFIRMED = 3
"""A sequential test ended without accepting H1."""
GAME_COLUMNS = (
    "number", "round", "pair", "first", "second", "opening", "result", "reason", "plies", "nodes", "time_ms",
    "started_at", "engine_identity", "key", "digest", "counted",
)  # fmt: skip


class TournamentError(UserError):
    """A tournament that cannot be played as asked; names the folder and the remedy."""


@dataclass(frozen=True)
class Plan:
    """A tournament ready to be played."""

    spec: TournamentSpec
    suite: Suite
    order: tuple[int, ...]
    """The opening of each pair."""
    available_openings: int

    @property
    def games(self) -> int:
        """Games of the whole tournament, at most."""
        return planned_games(self.spec)


@dataclass(frozen=True)
class Exported:
    """What was written and read from a store."""

    digest: str
    """Digest of all games that count, in schedule order."""
    report: Path
    tables: Tables
    sequential: SequentialRun | None
    """The sequential test, if the tournament is one."""


@dataclass(frozen=True)
class Ended:
    """How a tournament's run ended."""

    planned: int
    """Games that the tournament consists of; those up to its end, if a sequential test has ended it."""
    stored: int
    """How many of them are stored."""
    interrupted: bool
    unavailable: dict[str, str]
    """Players that could not be started, and why."""
    exported: Exported | None = None
    """``None`` after an interruption."""

    @property
    def exit_code(self) -> int:
        """0 if every game was played, 1 if some were not, 130 after an interruption.

        After a sequential test 3 unless H1 was accepted.
        """
        if self.interrupted:
            return 130
        if self.stored < self.planned:
            return 1
        run = self.exported.sequential if self.exported is not None else None
        return 0 if run is None or run.verdict == "H1 accepted" else EXIT_NOT_CONFIRMED


def prepare(spec: TournamentSpec) -> Plan:
    """Read the openings. Raises ``UserError`` if the suite is at fault, too small, or not for all players."""
    suite = load_suite(spec.openings, spec.game, plies=spec.opening_plies or None)
    part = suite.part(spec.opening_part)
    if not spec.pairs:
        spec = replace(spec, pairs=len(part))
    if not spec.pairs:
        raise TournamentError(
            f"{spec.source}: the {spec.opening_part} half of the suite {spec.openings!r} has no openings; give another "
            'suite, or opening_part = "all"'
        )
    plan = Plan(spec, suite, opening_order(spec, part), len(part))
    _check_reachable(plan)
    return plan


def _check_reachable(plan: Plan) -> None:
    """Raise ``TournamentError`` if players have to be told openings by moves, and there are no moves to one of them."""
    from arena.players.gtp import unreachable
    from engine.games import game_named

    over_gtp = [player.name for player in plan.spec.players if player.protocol == "gtp"]
    if not over_gtp:
        return
    for index in plan.order:
        position = plan.suite.openings[index].position
        if game_named(plan.spec.game).moves_to(position) is None:
            raise TournamentError(f"{plan.spec.source}: player {over_gtp[0]!r}: {unreachable(position)}")


def run(
    spec: TournamentSpec,
    directory: Path,
    *,
    concurrency: int,
    accept_engine_change: bool = False,
    stream: TextIO | None = None,
    stop: StopFlag | None = None,
) -> Ended:
    """Play the games that ``directory`` lacks, then write exports and report.

    Nothing but the games' times depends on ``concurrency``. Progress goes to ``stream`` (default: standard error).
    Raises ``UserError`` if the folder belongs to another tournament or engine, or the disk is full; what was stored
    before stays.
    """
    from engine.engine import StopFlag

    plan = prepare(spec)
    stop = stop or StopFlag()
    with Store(directory) as store:
        claim(store, plan, accept_engine_change)
        with stopping_on_signals(stop):
            unavailable = _play(plan, store, concurrency, stop, stream or sys.stderr)
        ended = ended_at(plan.spec, store, unavailable)
        if stop.is_set() and ended.stored < ended.planned:
            return replace(ended, interrupted=True)
        return replace(ended, exported=export(plan.spec, store))


def ended_at(spec: TournamentSpec, store: Store, unavailable: dict[str, str] | None = None) -> Ended:
    """How far a tournament is, going by its store."""
    outcomes = store.outcomes()
    planned = games_that_count(spec, outcomes)
    stored = sum(outcome.pairing.number < planned for outcome in outcomes)
    return Ended(planned, stored, False, unavailable or {})


def _play(plan: Plan, store: Store, concurrency: int, stop: StopFlag, stream: TextIO) -> dict[str, str]:
    """Play batch after batch of the schedule; returns the players that could not be started, and why."""
    spec = plan.spec
    outcomes = store.outcomes()
    sequential = sequential_run(spec, outcomes)
    progress = Progress(
        [player.name for player in spec.players], plan.games, stream,
        live_file=store.directory / LIVE_NAME, sequential=sequential,
    )  # fmt: skip
    progress.already((past.pairing.first, past.pairing.second, past.score) for past in outcomes)
    runner = GameRunner(
        concurrency,
        stop,
        tick=lambda: progress.tick(runner.running()),
        enough=lambda: sequential is not None and sequential.is_decided,
    )
    for unfinished in store.directory.glob(f".{LIVE_NAME}.*"):  # left by a run that was killed
        unfinished.unlink(missing_ok=True)
    state = "failed"
    try:
        with runner:
            results: list[Outcome] = []
            while batch := list(SCHEDULES[spec.format](spec, plan.order, results)):
                for record in runner.run(_missing(plan, batch, store.keys())):
                    outcome = _stored(plan, store, record)
                    progress.finished(outcome.pairing.first, outcome.pairing.second, outcome.score)
                    if sequential is not None:
                        sequential.add(outcome)
                played = {outcome.pairing.number: outcome for outcome in store.outcomes()}
                if any(pairing.number not in played for pairing in batch):
                    break
                results += [played[pairing.number] for pairing in batch]
        state = "interrupted" if stop.is_set() else "finished"
    finally:
        progress.close()
        progress.publish(state=state)
    return runner.unavailable


def _missing(plan: Plan, batch: Sequence[Pairing], stored: set[str]) -> Iterator[GameJob]:
    """The games of a batch that are not stored yet."""
    for pairing in batch:
        job = job_of(plan.spec, plan.suite, pairing)
        if job.key not in stored:
            yield job


def _stored(plan: Plan, store: Store, record: GameRecord) -> Outcome:
    """Store a finished game."""
    place = record.pairing
    players = (plan.spec.players[place.first], plan.spec.players[place.second])
    store.add(record, reproducible=is_reproducible(*players))
    return Outcome(record.key, place, record.score)


def is_reproducible(first: PlayerSpec, second: PlayerSpec) -> bool:
    """Whether a game between the two comes out the same every time."""
    return all(player.protocol == "builtin" and player.limits.is_reproducible for player in (first, second))


# What a folder may hold


def claim(store: Store, plan: Plan, accept_engine_change: bool) -> None:
    """Record what the folder is for, or check that it is for this: the same tournament, or less of it.

    Raises ``TournamentError`` naming the difference.
    """
    from engine.identity import engine_identity

    recorded = store.fact("specification")
    if recorded is not None:
        before = TournamentSpec.from_content(recorded)
        _check_extension(store.directory, before, store.fact("openings_digest"), plan)
        _check_undecided(store, before, plan.spec)
        _check_engine(store, engine_identity(), accept_engine_change)
    elif len(store):
        raise TournamentError(f"{store.directory}: holds games of something else; give another folder with --out")
    facts = {
        "specification": plan.spec.content(),
        "openings_digest": plan.suite.digest,
        "engine_identity": engine_identity(),
    }
    extended = recorded is not None and json.dumps(recorded) != json.dumps(facts["specification"])
    store.record_facts(facts, _places(plan, store) if extended else ())


def _places(plan: Plan, store: Store) -> Iterator[tuple[str, Pairing]]:
    """The stored games' places in the schedule of the tournament as it is now, batch after batch."""
    by_key = {outcome.key: outcome for outcome in store.outcomes()}
    results: list[Outcome] = []
    while batch := list(SCHEDULES[plan.spec.format](plan.spec, plan.order, results)):
        for pairing in batch:
            key = job_of(plan.spec, plan.suite, pairing).key
            if key in by_key:
                yield key, pairing
                results.append(Outcome(key, pairing, by_key[key].score))
        if len(results) < batch[-1].number + 1:  # what comes next is not known yet
            return


def _check_extension(directory: Path, old: TournamentSpec, old_openings: str, plan: Plan) -> None:
    new = plan.spec
    remedy = "give another folder with --out, or remove that one"
    before, now = _common_content(old), _common_content(new)
    for key in before:
        if before[key] != now[key]:
            raise TournamentError(
                f"{directory}: holds another tournament: {key} = {before[key]!r} there, {now[key]!r} in {new.source}; "
                f"{remedy}"
            )
    if old_openings != plan.suite.digest:
        raise TournamentError(
            f"{directory}: holds another tournament: the openings {new.openings!r} have changed; {remedy}"
        )
    for player in old.players:
        if all(player.name != other.name for other in new.players):
            raise TournamentError(
                f"{directory}: holds a tournament with the player {player.name!r}, which {new.source} lacks; {remedy}"
            )
        if player.content() != new.player(player.name).content():
            raise TournamentError(
                f"{directory}: holds another tournament: the player {player.name!r} was "
                f"{_difference_text(player, new.player(player.name))}; rename the player or {remedy}"
            )
    if new.pairs < old.pairs:
        raise TournamentError(
            f"{directory}: holds a longer tournament: {old.pairs} pairs there, {new.pairs} in {new.source}; {remedy}"
        )


def _check_undecided(store: Store, old: TournamentSpec, new: TournamentSpec) -> None:
    """Raise ``TournamentError`` if more pairs would take back a verdict: what was the last look is none any more."""
    outcomes = store.outcomes()
    before, now = sequential_run(old, outcomes), sequential_run(new, outcomes)
    if before is not None and now is not None and before.is_decided and not now.is_decided:
        raise TournamentError(
            f"{store.directory}: its test ended with {before.verdict} after {before.counts.pairs} pairs and cannot be "
            f"extended to {new.pairs}; leave pairs at {old.pairs}, or give another folder with --out"
        )


def _common_content(spec: TournamentSpec) -> dict[str, Any]:
    """What must not change when a tournament is extended, by its keys in the file."""
    content = {
        name: getattr(spec, name)
        for name in ("game", "format", "seed", "opening_start", "opening_part", "opening_order")
    }
    test = asdict(spec.sprt) if spec.sprt is not None else {}
    return content | asdict(spec.rules) | asdict(spec.adjudication) | test


def _difference_text(old: PlayerSpec, new: PlayerSpec) -> str:
    name, before, now = first_difference(old, new)
    return f"played with {name} = {before!r}, now {now!r}"


def first_difference(old: PlayerSpec, new: PlayerSpec) -> tuple[str, Any, Any]:
    """The first thing in which two different configurations of a player differ: its name and both values."""
    before, now = _flat_content(old), _flat_content(new)
    names = [name for name in [*before, *now] if before.get(name) != now.get(name)]
    return names[0], before.get(names[0]), now.get(names[0])


def _flat_content(player: PlayerSpec) -> dict[str, Any]:
    content = player.content()
    return {**content, **content.pop("parameters", {}), **content.pop("options", {})}


def _check_engine(store: Store, identity: str, accept: bool) -> None:
    before = store.fact("engine_identity")
    if before != identity and not accept and len(store):
        raise TournamentError(
            f"{store.directory}: its games were played by engine {before}, this is engine {identity}; to mix them all "
            "the same add --accept-engine-change, otherwise give another folder with --out"
        )


# What is written from the store


def export(spec: TournamentSpec, store: Store) -> Exported:
    """Write games.pgn, games.csv, the tables and the report.

    Games beyond the end of a sequential test are marked there, and left out of every table.
    """
    from arena.report import write_report
    from arena.standings import tables_of

    outcomes = store.outcomes()
    count = games_that_count(spec, outcomes)
    records = store.records()
    write_exports(store.directory, spec, records, count)
    report = write_report(store.directory, spec, records, planned_games=count)
    counted = [record for record in records if record.pairing.number < count]
    tables = tables_of([player.name for player in spec.players], counted, dict(spec.anchors))
    return Exported(store.digest(count), report, tables, sequential_run(spec, outcomes))


def write_exports(directory: Path, spec: TournamentSpec, records: Sequence[GameRecord], count: int) -> None:
    """Write games.pgn and games.csv; games whose number is ``count`` or more are marked as not counted."""
    replace_file(
        directory / "games.pgn",
        lambda stream: write_games(stream, records, spec.name, spec.game, counted=count),
    )
    replace_file(directory / "games.csv", lambda stream: _write_game_table(stream, records, count))


def _write_game_table(stream: IO[str], records: Sequence[GameRecord], count: int) -> None:
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(GAME_COLUMNS)
    for record in records:
        place = record.pairing
        nodes = sum(move.nodes or 0 for move in record.moves)
        time_ms = round(sum(move.time_ms for move in record.moves), 3)
        table.writerow(
            (
                place.number, place.round, place.pair, record.first, record.second, record.opening.name, record.result,
                record.reason, len(record.moves), nodes, time_ms, record.started_at, record.engine_identity, record.key,
                record.digest, "yes" if place.number < count else "no",
            )
        )  # fmt: skip


def stored_tournament(store: Store) -> TournamentSpec:
    """The specification that a folder's games were played to. Raises ``StoreError``."""
    content = store.fact("specification")
    if content is None:
        raise StoreError(f"{store.directory}: no tournament in it")
    return TournamentSpec.from_content(content)


def stored_player(player: PlayerSpec, game: str, directory: Path) -> PlayerSpec:
    """A stored player under today's table of parameters: a row the game did not know yet has its default."""
    from engine.parameters import resolve

    if player.protocol != "builtin":
        return player
    values = resolve(dict(player.parameters), f"{directory}: player {player.name}", game)
    return replace(player, parameters=tuple(values.items()))


# Words for people


def resume_command(spec: TournamentSpec, directory: Path) -> str:
    """The command that goes on with a tournament."""
    return shlex.join(["elolab", *spec.words, "--out", str(directory)])


def estimated_seconds(plan: Plan, concurrency: int, mean_game_ms: float | None, missing: int) -> float:
    """Time for ``missing`` games: by the mean of those stored, otherwise by rough figures for moves and speed."""
    if mean_game_ms is not None:
        return missing * mean_game_ms / 1000 / concurrency
    return missing * estimated_game_seconds([player.limits for player in plan.spec.players]) / concurrency


def describe(plan: Plan, directory: Path, concurrency: int) -> dict[str, Any]:
    """What a run would do: games, openings, time; figures as plain data."""
    ended, mean_game_ms = Ended(plan.games, 0, False, {}), None
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            ended, mean_game_ms = ended_at(plan.spec, store), store.mean_duration_ms()
    missing = max(0, ended.planned - ended.stored)
    return {
        "name": plan.spec.name,
        "folder": str(directory),
        "at_most": plan.spec.sprt is not None and missing > 0,
        "games": ended.planned,
        "stored": ended.stored,
        "openings_needed": openings_needed(plan.spec),
        "openings_available": plan.available_openings,
        "seconds": estimated_seconds(plan, concurrency, mean_game_ms, missing),
        "cannot_start": _programs_missing(plan.spec.players),
    }


def _programs_missing(players: Sequence[PlayerSpec]) -> dict[str, str]:
    """External players whose program is not there, and why it cannot be started."""
    from arena.players.contract import PlayerFault
    from arena.players.process import find_program

    missing = {}
    for player in players:
        if player.protocol != "builtin":
            try:
                find_program(player.command, player.directory)
            except PlayerFault as fault:
                missing[player.name] = fault.text
    return missing


def description_text(description: dict[str, Any]) -> str:
    """``describe``'s figures in words."""
    most = "at most " if description["at_most"] else ""
    lines = [
        f"{description['name']}: {most}{description['games']} games, {description['stored']} of them in "
        f"{description['folder']}",
        f"openings: {most}{description['openings_needed']} needed, {description['openings_available']} available",
        f"time: {most or 'about '}{duration_text(description['seconds'])} (hours:minutes:seconds)",
    ]
    for name, reason in description["cannot_start"].items():
        lines.append(f"warning: player {name!r}: {reason}")
    return "\n".join(lines)
