"""Plays a whole tournament: passes each batch of the schedule to a ``Run``, which plays the games not yet stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Unpack

from elolab.arena.builds.players import restored
from elolab.arena.files import OTHER_FOLDER
from elolab.arena.notation.openings import Suite, suite_of_file
from elolab.arena.play.estimates import depends_on_speed, estimated_game_seconds
from elolab.arena.play.scores import MatchScore, Score, Scoreboard
from elolab.arena.play.stages import GameStage, StagePlan, remark_lines, time_line
from elolab.arena.play.store import STORE_NAME, Store, StoreError
from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.players.processors import PlayerLoad
from elolab.arena.players.registry import protocol_named
from elolab.arena.provenance.status import Conclusion
from elolab.arena.records import GameJob, Outcome, Pairing, PlayerSpec
from elolab.arena.run import (
    OTHER_OR_REMOVE,
    Purpose,
    Run,
    RunError,
    RunOptions,
    check_provenance,
    differences,
    kind_in,
    setting_text,
)
from elolab.arena.schedule import (
    ScheduleState,
    Withdrawal,
    challengers_of,
    format_of,
    games_expected,
    games_that_count,
    job_of,
    opening_order,
    planned_games,
    sequential_run,
)
from elolab.arena.sequential import Reach, SequentialRun, reach_of_test
from elolab.arena.statistics.faults import FORFEITS
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError, argument
from elolab.engine.language import console
from elolab.engine.settings.parameters import completed_settings, resolve

WITHDRAWALS = "withdrawals"
"""Name of the store's metadata entry that lists the withdrawn players."""
EXIT_NOT_CONFIRMED = 3
"""Exit code after a sequential test that did not accept H1."""


@dataclass(frozen=True)
class PreparedTournament:
    """A tournament whose openings have been read and checked, ready to be played."""

    spec: TournamentSpec
    suite: Suite
    order: tuple[int, ...]
    """Indices in the suite of the openings, in the order of their use; see ``Format.pairings``."""
    available_openings: int

    @property
    def games(self) -> int:
        """Maximum number of games of the whole tournament."""
        return planned_games(self.spec)


@dataclass(frozen=True)
class TournamentResult:
    """The state of a tournament after a run."""

    planned: int
    """Number of games in the tournament; once a sequential test is decided, the number up to its decision."""
    stored: int
    """Number of stored games that count for the results."""
    count: int
    """Schedule number below which games count for the results.

    Games after the decision of a sequential test do not count.
    """
    interrupted: bool = False
    """Whether the run was stopped, for example by Ctrl-C, before all its games were played."""
    signal: int | None = None
    """Number of the last signal that asked the run to stop, even if all games were played; ``None`` if none did."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Reason for each player that could not be started, by player name."""
    sequential: SequentialRun | None = None
    """State of the tournament's sequential test; ``None`` if it has none."""
    withdrawals: tuple[Withdrawal, ...] = ()
    """Players that lost by walkover, because they could not be started when their games were due."""
    unplayable: int = 0
    """Number of games that will never be played, because a player has withdrawn."""
    forfeits: int = 0
    """Number of counted games that a player lost by a fault, such as a crash or a time forfeit."""

    @property
    def missing(self) -> int:
        """Number of games that may still be played."""
        return max(0, self.planned - self.stored - self.unplayable)

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if every game was played, 1 if games are missing or were lost by a fault, 130 if interrupted.

        After a sequential test: 3 unless H1 was accepted. If no game could be played, because players cannot be started
        as specified: 2 (wrong input).
        """
        if self.interrupted:
            return 130
        if self.unavailable and self.missing and not self.stored:
            return UserError.exit_code
        if self.stored < self.planned or self.forfeits:
            return 1
        test = self.sequential
        return 0 if test is None or test.verdict == "H1 accepted" else EXIT_NOT_CONFIRMED


def prepare(spec: TournamentSpec) -> PreparedTournament:
    """Read the tournament's openings and determine their order.

    Raises ``UserError`` if the suite is invalid, too small, or unsuitable for a player.
    """
    suite = suite_of_file(spec.openings, spec.game, spec.source, plies=spec.opening_plies or None)
    part = suite.part(spec.opening_part)
    if not spec.pairs:
        spec = replace(spec, pairs=len(part) // spec.openings_per_pair)
    if not spec.pairs:
        raise RunError(
            f"{spec.source}: the {spec.opening_part} half of the suite {spec.openings!r} has no openings",
            'give another suite, or opening_part = "all"',
        )
    plan = PreparedTournament(spec, suite, opening_order(spec, part), len(part))
    suite.check(plan.order)
    _check_reachable(plan)
    return plan


def _check_reachable(plan: PreparedTournament) -> None:
    """Check that players whose protocols send only moves can reach every opening; raises ``RunError`` if not."""
    from elolab.engine.games.proof_game import proof_game

    for player in plan.spec.players:
        explain = protocol_named(player.protocol).unreachable
        if explain is None:
            continue
        for index in plan.order:
            position = plan.suite.openings[index].position
            if proof_game(plan.spec.game, position) is None:
                raise RunError(f"{plan.spec.source}: player {player.name!r}: {explain(position)}")


def run(spec: TournamentSpec, directory: Path, **options: Unpack[RunOptions]) -> TournamentResult:
    """Play the tournament's games that are not yet stored in ``directory``; returns the resulting state.

    Raises ``UserError`` if the folder belongs to another tournament or engine, or if the disk is full.
    """
    plan = prepare(spec)
    if spec.sprt is not None:
        plan_of_run(plan, directory, 1).check_attainable()
    with Run(directory, purpose_of(plan), **options) as run:
        _play(plan, run)
        result = replace(result_of(plan.spec, run.store), unavailable=run.unavailable)
        run.is_refused = bool(run.unavailable and result.missing and not result.stored)
        if result.sequential is not None:
            run.conclusion = Conclusion(result.sequential.verdict, is_decided=result.sequential.is_decided)
        return replace(result, interrupted=run.stop.is_set() and result.missing > 0, signal=run.signal)


def stored_result(spec: TournamentSpec, directory: Path) -> TournamentResult:
    """The state of a tournament according to the store in its folder; plays no games."""
    with Store(directory, read_only=True) as store:
        return result_of(prepare(spec).spec, store)


def result_of(spec: TournamentSpec, store: Store, outcomes: Sequence[Outcome] | None = None) -> TournamentResult:
    """The state of a tournament according to an open store; reads ``outcomes`` from the store if they are not given."""
    outcomes, withdrawals = store.outcomes() if outcomes is None else outcomes, withdrawals_of(store)
    count = games_that_count(spec, outcomes, withdrawals)
    stored = sum(outcome.pairing.number < count for outcome in outcomes)
    planned = games_expected(spec, outcomes, count)
    unplayable = ScheduleState.over(spec, outcomes, withdrawals).unplayable if withdrawals else 0
    forfeits = sum(number < count for number in store.numbers_lost_by(FORFEITS))
    return TournamentResult(
        planned, stored, count, sequential=sequential_run(spec, outcomes), withdrawals=withdrawals,
        unplayable=unplayable, forfeits=forfeits,
    )  # fmt: skip


def count_of(spec: TournamentSpec, store: Store) -> int:
    """Number of games at the start of the schedule that count, by the stored results; see ``games_that_count``."""
    return games_that_count(spec, store.outcomes(), withdrawals_of(store))


def withdrawals_of(store: Store) -> tuple[Withdrawal, ...]:
    """Players that lost by walkover, because they could not be started."""
    return tuple(Withdrawal(**entry) for entry in store.metadata(WITHDRAWALS) or ())


def _play(plan: PreparedTournament, run: Run) -> None:
    """Play the schedule batch by batch."""
    spec = plan.spec
    outcomes = run.store.outcomes()
    sequential = sequential_run(spec, outcomes)
    run.progress.announce(plan_of_run(plan, run.directory, run.concurrency, run.store, outcomes))
    _show(plan, run, sequential, outcomes)
    stored = len(outcomes)
    del outcomes  # the list may be large

    def finished(outcome: Outcome) -> None:
        if sequential is not None:
            sequential.add(outcome)

    def enough() -> bool:
        return sequential is not None and sequential.is_decided

    state = ScheduleState(spec, plan.order, withdrawals_of(run.store))
    while not state.is_over:
        run.progress.planned = max(state.games, stored)
        keys: dict[int, str] = {}
        if not run.play(_wanted(plan, state, keys), finished, enough) and not _withdraw(state, plan, run, keys):
            break
        state.advance(
            {
                pairing.number: Outcome(key, pairing, run.scores[key])
                for pairing in state.batch
                if (key := keys.get(pairing.number)) in run.scores
            }
        )
    else:
        run.progress.planned = max(state.games, stored)
    if sequential is not None and (count := sequential.stopped_after) is not None:  # later games do not count
        run.progress.planned = run.progress.done = count
        counted = (outcome for outcome in run.store.outcomes() if outcome.pairing.number < count)
        run.progress.score = _match_score(spec, sequential, counted)


def _wanted(plan: PreparedTournament, state: ScheduleState, keys: dict[int, str]) -> Iterator[GameJob]:
    """Yield the games of the current batch, except those of withdrawn players.

    Stores the key of every game of the batch in ``keys``, by schedule number.
    """
    for pairing in state.batch:
        job = job_of(plan.spec, plan.suite, pairing)
        keys[pairing.number] = job.key
        if not state.absent(pairing):
            yield job


def _withdraw(state: ScheduleState, plan: PreparedTournament, run: Run, keys: dict[int, str]) -> bool:
    """Withdraw the players that could not be started, if the format permits it.

    Returns whether the tournament can continue.
    """
    if not format_of(state.spec).decides_on_the_way or run.is_interrupted:
        return False
    missing = [job for job in _wanted(plan, state, keys) if job.key not in run.scores]
    for name, reason in run.unavailable.items():
        rounds = [job.pairing.round for job in missing if name in (job.first.name, job.second.name)]
        if rounds:
            state.withdraw(Withdrawal(name, rounds[0], reason))
    if not all(state.absent(job.pairing) for job in missing):
        return False
    run.store.record_metadata({WITHDRAWALS: [asdict(withdrawal) for withdrawal in state.withdrawals]})
    return True


def _show(plan: PreparedTournament, run: Run, sequential: SequentialRun | None, outcomes: Sequence[Outcome]) -> None:
    """Start the progress display: a match shows score and sequential test, other tournaments show the standings."""
    spec = plan.spec
    score: Score
    if len(spec.players) == 2:
        score = _match_score(spec, sequential, outcomes)
    else:
        score = Scoreboard([player.name for player in spec.players], challengers_of(spec))
        for past in outcomes:
            score.add(past)
    planned = max(plan.games, len(outcomes))
    is_bound = not format_of(spec).has_fixed_length
    run.progress.begin(planned, done=len(outcomes), is_bound=is_bound, score=score)
    run.progress.data = lambda: {"sequential_test": None if sequential is None else sequential.described()}


def _match_score(spec: TournamentSpec, sequential: SequentialRun | None, outcomes: Iterable[Outcome]) -> MatchScore:
    return MatchScore(
        spec.players[0].name, outcomes, other=spec.players[1].name,
        test=lambda score: None if sequential is None else sequential.state,
    )  # fmt: skip


# Checks of a folder's contents


def purpose_of(plan: PreparedTournament) -> Purpose:
    """The run's ``Purpose``: a description of what the run plays, and the check of its folder.

    The check accepts a folder that has no games, or games of this tournament or of a shorter version of it.
    """

    def check(store: Store, recorded: Any) -> None:
        if not len(store) and not withdrawals_of(store):
            return  # for instance after a player failed to start, which now has another option or path
        before = TournamentSpec.from_content(recorded)
        _check_extension(store.directory, before, store.metadata("openings_digest"), plan)
        _check_places(store, before, plan.spec)
        _check_undecided(store, before, plan.spec)

    return Purpose(
        "tournament", plan.spec.content(), plan.spec.source, check=check, key="specification",
        places=lambda store: _places(plan, store), more={"openings_digest": plan.suite.digest},
        sides=tuple(PlayerLoad.of(f"player {player.name!r}", player) for player in plan.spec.players),
        stop_after_faults=plan.spec.stop_after_faults,
    )  # fmt: skip


def _places(plan: PreparedTournament, store: Store) -> Iterator[tuple[str, Pairing]]:
    """Yield key and new pairing of each stored game that belongs to the current schedule, batch by batch."""
    scores = {outcome.key: outcome.score for outcome in store.outcomes()}
    state = ScheduleState(plan.spec, plan.order, withdrawals_of(store))
    while not state.is_over:
        played = {}
        for pairing in state.batch:
            key = job_of(plan.spec, plan.suite, pairing).key
            if key in scores:
                yield key, pairing
                played[pairing.number] = Outcome(key, pairing, scores[key])
        if not state.advance(played):  # later batches are not known yet
            return


def _check_settings(directory: Path, old: TournamentSpec, old_openings: str, plan: PreparedTournament) -> None:
    """Raise ``RunError`` for the first setting, apart from the length, in which the two tournaments differ.

    ``old_openings`` is the digest of the old tournament's suite.
    """
    new = plan.spec

    def refuse(what: str, remedy: str = OTHER_OR_REMOVE) -> None:
        raise RunError(f"{directory}: holds another tournament: {what}", remedy)

    if old_openings != plan.suite.digest:
        if old.openings == new.openings:
            refuse(f"the openings {new.openings!r} have changed")
        refuse(f"openings = {setting_text(old.openings)} there, {setting_text(new.openings)} in {new.source}")
    for key, there, here in differences(_fixed_settings(old), _fixed_settings(new)):
        refuse(f"{key} = {setting_text(there)} there, {setting_text(here)} in {new.source}")
    now = {player.name: player.content() for player in new.players}
    for player in old.players:
        if player.name not in now:
            refuse(f"it has the player {player.name!r}, which {new.source} lacks")
        for key, there, here in differences(player.content(), now[player.name]):
            what = f"the player {player.name!r} played with {key} = {setting_text(there)}, now {setting_text(here)}"
            refuse(what, f"rename the player or {OTHER_OR_REMOVE}")
    for key, before, after in format_of(new).changes(old, new):
        refuse(f"{key} = {before} there, {after} in {new.source}")


def _fixed_settings(spec: TournamentSpec) -> dict[str, Any]:
    """Settings that must not change when a tournament is extended, by their keys in the tournament file."""
    names = (
        "game", "format", "seed", "opening_start", "opening_part", "opening_order", "swap_colours",
        *format_of(spec).keys,
    )  # fmt: skip
    content = {name: getattr(spec, name) for name in names}
    test = asdict(spec.sprt) if spec.sprt is not None else {}
    return content | asdict(spec.rules) | asdict(spec.adjudication) | test


def _check_extension(directory: Path, old: TournamentSpec, old_openings: str, plan: PreparedTournament) -> None:
    _check_settings(directory, old, old_openings, plan)
    new = plan.spec
    if new.rounds < old.rounds and format_of(new).decides_on_the_way:
        raise RunError(
            f"{directory}: holds a longer tournament: {old.rounds} rounds there, {new.rounds} in {new.source}",
            OTHER_OR_REMOVE,
        )
    if new.pairs < old.pairs and (format_of(new).decides_on_the_way or len(new.players) > len(old.players)):
        raise RunError(
            f"{directory}: holds a longer tournament: {format_of(old).pairs_text(old)}, not "
            f"{format_of(new).pairs_text(new)} as in {new.source}",
            OTHER_OR_REMOVE,
        )


def _check_places(store: Store, old: TournamentSpec, new: TournamentSpec) -> None:
    """Raise ``RunError`` if ``new`` adds or reorders players and the store has more game pairs than ``new`` plans.

    Stored games refer to players by index, so that the pairs beyond the plan would count for the wrong players.
    """
    before, now = ([player.name for player in spec.players] for spec in (old, new))
    if before == now:
        return
    pairs = 1 + max((outcome.pairing.pair for outcome in store.outcomes()), default=-1)
    if pairs > new.pairs:
        what = "no player can enter" if len(before) < len(now) else "the order of its players cannot change"
        raise RunError(
            f"{store.directory}: holds games beyond {format_of(new).pairs_text(new)}, so that {what}",
            f"play at least pairs = {math.ceil(pairs / new.rounds)}, or {OTHER_OR_REMOVE}",
        )


def holds_another(directory: Path, spec: TournamentSpec, *, accepts_changes: bool) -> bool:
    """Whether ``directory`` is a file, or has games of another tournament, which ``spec`` cannot extend.

    Games of another version of a program count as another tournament, unless ``accepts_changes`` is set. Raises
    ``UserError`` if the tournament cannot be played in any folder, for example because the suite has too few openings.
    """
    if not (directory / STORE_NAME).is_file():
        return directory.exists() and not directory.is_dir()
    try:
        with Store(directory, read_only=True) as store:
            if not len(store):
                return False
            before, openings = stored_tournament(store), store.metadata("openings_digest")
            if not accepts_changes:
                check_provenance(store)
    except RunError:
        return True
    except StoreError:  # a run in this folder repairs it or reports the problem
        return False
    try:
        plan = prepare(replace(spec, pairs=max(spec.pairs, before.pairs) if spec.pairs else 0))
        _check_settings(directory, before, openings, plan)
    except UserError:
        prepare(spec)  # a problem of the tournament itself is not a difference: raise it
        return True
    return False


def _check_undecided(store: Store, old: TournamentSpec, new: TournamentSpec) -> None:
    """Raise ``RunError`` if the stored games decide the sequential test of ``old`` but not of ``new``.

    The final analysis of the old test would become an interim analysis of the longer one.
    """
    if old.sprt is None and new.sprt is None:
        return
    outcomes = store.outcomes()
    before, now = sequential_run(old, outcomes), sequential_run(new, outcomes)
    if before is not None and now is not None and before.is_decided and not now.is_decided:
        raise RunError(
            f"{store.directory}: its test ended with {before.verdict} after {before.counts.pairs} pairs and cannot be "
            f"extended to {new.pairs}",
            f"leave pairs at {old.pairs}, or {OTHER_FOLDER}",
        )


def stored_tournament(store: Store) -> TournamentSpec:
    """The specification of the tournament in a store; raises ``StoreError`` if there is none."""
    content = store.metadata("specification")
    if content is None:
        kind = kind_in(store)
        raise StoreError(f"{store.directory}: no tournament in it{f', but a run of kind {kind}' if kind else ''}")
    return TournamentSpec.from_content(content)


def players_in(directory: Path) -> tuple[PlayerSpec, ...]:
    """Players of the tournament in a folder; empty if the folder's store cannot be read."""
    if not (directory / STORE_NAME).is_file():
        return ()
    try:
        with Store(directory, read_only=True) as store:
            return stored_tournament(store).players if len(store) else ()
    except (UserError, KeyError, TypeError):
        return ()  # a run in this folder will report the problem


def stored_player(player: PlayerSpec, game: str, directory: Path) -> PlayerSpec:
    """Prepare a player from a store to play with this version of elolab.

    Parameters that are newer than the store get values that switch their techniques off. A program built from a commit
    is built again if the cache no longer has it.
    """
    if not player.is_builtin:
        return restored(player)
    stored = completed_settings(dict(player.parameters), game)
    values = resolve(stored, f"{directory}: player {player.name}", game)
    return replace(player, parameters=tuple(values.items()))


# Plans and descriptions


def plan_of_run(
    plan: PreparedTournament,
    directory: Path,
    concurrency: int,
    store: Store | None = None,
    outcomes: Sequence[Outcome] | None = None,
) -> StagePlan:
    """The plan of a run in ``directory`` that plays ``concurrency`` games at a time.

    ``store`` and ``outcomes`` may be passed if they are already read.
    """
    if store is None and (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as stored:
            return plan_of_run(plan, directory, concurrency, stored)
    spec = plan.spec
    if outcomes is None:
        outcomes = () if store is None else store.outcomes()
    result = TournamentResult(plan.games, 0, plan.games) if store is None else result_of(spec, store, outcomes)
    seconds = estimated_game_seconds([player.limits for player in spec.players])
    if any(player.ponder and player.limits.clock_kind == "wall" for player in spec.players):
        seconds *= min(2, concurrency)  # such a game takes two slots, see ``arena.play.executor``
    seen = {index for outcome in outcomes for index in (outcome.pairing.first, outcome.pairing.second)}
    unknown = tuple(
        player.name for index, player in enumerate(spec.players)
        if not player.is_builtin and index not in seen and depends_on_speed(player.limits)
    )  # fmt: skip
    games = result.planned - result.unplayable
    stage = GameStage(
        spec.name,
        games,
        seconds,
        result.stored,
        unknown_speed=unknown,
        reach=_reach(plan, result.sequential),
        test=spec.sprt,
    )
    return StagePlan(spec.name, directory, (stage,), concurrency, is_bound=not format_of(spec).has_fixed_length)


def _reach(plan: PreparedTournament, sequential: SequentialRun | None) -> tuple[Reach, ...]:
    """The power of a match's sequential test; empty if there is no such test."""
    spec = plan.spec
    if spec.sprt is None:
        return ()
    pairs = spec.pairs if sequential is None else sequential.pairs
    is_file = bool(PurePath(spec.source).suffix)
    length, easier = ("pairs = {pairs}", "elo1") if is_file else (argument("pairs", "{pairs}"), argument("elo1"))
    available = plan.available_openings // spec.openings_per_pair
    return (reach_of_test(spec.sprt, pairs, "gain", spec.source, length, easier, available),)


def describe(plan: PreparedTournament, directory: Path, concurrency: int) -> dict[str, Any]:
    """The plan of a run as data for JSON: games, openings, time.

    Raises ``UserError``, like ``run``, if no outcome of the games can pass the tournament's test.
    """
    planned = plan_of_run(plan, directory, concurrency)
    planned.check_attainable()
    return {
        **planned.data(),
        "openings_needed": format_of(plan.spec).openings_needed(plan.spec),
        "openings_available": plan.available_openings,
        "players": [
            {"name": player.name, "protocol": protocol_named(player.protocol).title, "limit": str(player.limits)}
            for player in plan.spec.players
        ],
        "cannot_start": _programs_missing(plan.spec.players),
    }


def _programs_missing(players: Sequence[PlayerSpec]) -> dict[str, str]:
    """Reasons why programs of external players cannot be started, by player name; empty if all programs exist."""
    missing = {}
    for player in players:
        if not player.is_builtin:
            try:
                find_program(player.command, player.directory)
            except PlayerFault as fault:
                missing[player.name] = fault.text
    return missing


def description_text(description: dict[str, Any]) -> str:
    """Text for the result of ``describe``."""
    say = console("elolab.arena")
    bound = "_at_most" if description["at_most"] else ""
    lines = [say(f"dry_run.{name}{bound}", **description) for name in ("games", "openings")]
    lines += [time_line(description), *remark_lines(description)]
    for player in description["players"]:
        lines.append(say("dry_run.player", **player))
    for name, reason in description["cannot_start"].items():
        lines.append(say("dry_run.cannot_start", name=name, reason=reason))
    return "\n".join(lines)
