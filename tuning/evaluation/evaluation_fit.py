"""Fitting evaluation weights to self-play: games, positions, regression, and matches against earlier weights.

Each iteration plays games with the previous weights, and fits new weights to the positions of all games so far, and of
the games of other runs if the specification names some. The run's folder holds the games, the selected positions and
every iteration's weights. A resumed run ends with the same weights, byte for byte.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from elolab.arena.files import replace_file
from elolab.arena.notation.openings import Suite
from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.play.scores import MatchScores
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.players.processors import PlayerLoad
from elolab.arena.records import BUILTIN, GameConditions, GameRecord, PlayerSpec, digest_of
from elolab.arena.run import Purpose, Run, RunOptions, engines_of
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError, argument
from elolab.engine.language import console
from elolab.engine.settings.configuration import find_config
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, resolve
from elolab.engine.settings.weights import (
    STEPS,
    Weights,
    find_weights,
    name_and_digest,
    pattern_rows,
    patterns_text,
    provide_weights,
    read_weights,
    rows_of,
    steps_of,
)
from elolab.tuning.conditions import Conditions
from elolab.tuning.evaluation.held_out import Fit, is_held_out
from elolab.tuning.evaluation.logistic import WinSample, expected_score, fit_wins, losses_of
from elolab.tuning.evaluation.other_runs import OtherRun, records_of
from elolab.tuning.evaluation.pattern_ridge import PatternSample, fit_patterns
from elolab.tuning.evaluation.ridge import Sample, fit, phases_of, root_of_mean
from elolab.tuning.evaluation.scored_positions import ScoredPositions, Scoring, joined, positions_of
from elolab.tuning.evaluation.self_play import SelfPlay, games_of, play_games, series_of_iteration, stored_games
from elolab.tuning.matches import Match, MatchTable, read_openings

if TYPE_CHECKING:
    from elolab.engine.games.contract import EvaluationFitting, Game

KIND = "evaluation fit"
LEAST_GAMES = 20
"""Least number of games in a fit: one in ten is held out."""
LENGTHS = ("games", "iterations", "match_pairs")
"""Fields of ``FitSpec`` that may change when a run resumes."""
SPECIFICATION_METADATA = "evaluation fit, as asked for"
"""Key in the store's metadata for the fields of ``FitSpec``, which make the run folder self-contained."""


@dataclass(frozen=True)
class FitSpec:
    """Specification of a fit of evaluation weights to self-play games."""

    game: str
    start: str
    """The weights that play the games of the first iteration: the name of shipped weights, or the path of a file."""
    games: int
    """Number of self-play games per iteration; with 0, only games of ``other_runs`` are fitted to."""
    limits: Limits
    """Search limits of self-play."""
    seed: int
    iterations: int
    until_no_gain: bool
    """Whether to stop at the first iteration without a significant gain over the previous weights."""
    phases: int
    patterns: bool
    """Whether to fit patterns in addition to features."""
    score_share: int
    """Percentage of the search score in each target of a logistic regression; the rest is the game's outcome."""
    match_pairs: int
    """Number of pairs in each match against earlier weights; 0 for no matches."""
    match_limits: tuple[Limits, ...]
    """Search limits of the matches; each opponent is played at each limit."""
    score_limits: Limits | None = None
    """Limits of the searches that score unsolved positions; the scores are the targets of a linear regression.

    With ``None`` the results of the games are the targets.
    """
    other_runs: tuple[OtherRun, ...] = ()
    """Other runs whose stored games every iteration's fit uses in addition."""

    @property
    def other_games(self) -> int:
        """Number of games of other runs."""
        return sum(run.games for run in self.other_runs)

    def content(self, start: Weights) -> dict[str, Any]:
        """Everything that determines the run, as plain data for the run folder."""
        return {
            "game": self.game, "from": start.digest, "games": self.games, "limit": str(self.limits),
            "seed": self.seed, "iterations": self.iterations, "until_no_gain": self.until_no_gain,
            "phases": self.phases, "patterns": self.patterns, "score_share": self.score_share,
            "match_pairs": self.match_pairs, "match_limits": [str(limits) for limits in self.match_limits],
        } | ({} if self.score_limits is None else {"score_limit": str(self.score_limits)}) | (
            {"with_games": [run.digest for run in self.other_runs]} if self.other_runs else {}
        )  # fmt: skip

    def as_asked(self) -> dict[str, Any]:
        """All fields as plain data, for ``fit_from_plain``."""
        data: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        data["limits"], data["match_limits"] = str(self.limits), list(map(str, self.match_limits))
        data["other_runs"] = list(map(asdict, self.other_runs))
        return data | {"score_limits": None if self.score_limits is None else str(self.score_limits)}

    def command(self, start: Weights, iterations: int) -> str:
        """The shell command that repeats the fit with ``iterations`` iterations; it has no options about output."""
        name = Path(self.start).name.removesuffix(".toml")
        return (
            f"elolab fit-evaluation --game {self.game} --from {name}#{start.digest} --games {self.games} "
            f"--limit {self.limits} --seed {self.seed} --iterations {iterations} {self._regression_words()}"
            + "".join(f" --with-games {shlex.quote(run.name)}" for run in self.other_runs)
        )

    def _regression_words(self) -> str:
        from elolab.engine.games import game_named

        fitting = game_named(self.game).fitting
        if fitting is not None and fitting.regression == "logistic":
            return f"--score-share {self.score_share}"
        scores = "" if self.score_limits is None else f" --score-limit {self.score_limits}"
        return f"--phases {self.phases} --patterns {'on' if self.patterns else 'off'}{scores}"


def fit_from_plain(data: Mapping[str, Any]) -> FitSpec:
    """Make a specification from the data that ``FitSpec.as_asked`` returns."""
    match_limits = tuple(map(Limits.parse, data["match_limits"]))
    scores = None if data["score_limits"] is None else Limits.parse(data["score_limits"])
    limits = {"limits": Limits.parse(data["limits"]), "match_limits": match_limits, "score_limits": scores}
    others = tuple(OtherRun(**run) for run in data.get("other_runs", ()))
    return FitSpec(**{**data, **limits, "other_runs": others})


@dataclass(frozen=True)
class FittedMatch:
    """A match between the weights of an iteration and earlier weights."""

    against: str
    """The opponent: ``the weights before`` or ``the first weights``."""
    limits: Limits
    counts: Pentanomial
    """Outcomes of the pairs from the new weights' point of view."""


@dataclass(frozen=True)
class FitIteration:
    """The result of one iteration of a fit: number of games, fitted weights, and matches against earlier weights."""

    number: int
    """Number of the iteration, from 1."""
    games: int
    """Number of games in the fit, including held-out games, and games of earlier iterations and of other runs."""
    fit: Fit
    error_before: float
    """Held-out error of the weights that played the iteration's games, in the unit of ``Fit.held_out_error``."""
    error_before_scaled: float
    """Like ``error_before``, but after multiplication of the weights by the factor that minimises the error."""
    weights: Path
    matches: tuple[FittedMatch, ...]
    """The iteration's matches; incomplete if the run was stopped during the matches."""

    @property
    def gained(self) -> bool:
        """Whether the match with the previous weights at the first limit shows a gain with 95 % confidence."""
        return bool(self.matches) and self.matches[0].counts.estimate().elo_low > 0

    @property
    def verdict(self) -> str:
        """Result of the match with the previous weights at the first limit: ``gain``, ``loss`` or ``undecided``."""
        return "gain" if self.gained else "loss" if self.lost else "undecided"

    @property
    def lost(self) -> bool:
        """Whether the match with the previous weights at the first limit shows a loss with 95 % confidence."""
        return bool(self.matches) and self.matches[0].counts.estimate().elo_high < 0


@dataclass(frozen=True)
class FitResult:
    """The result of a fit of evaluation weights, finished or not."""

    spec: FitSpec
    directory: Path
    regression: str
    """Kind of regression: ``linear`` or ``logistic``."""
    unit: int
    """Evaluation points per point of the game's own score, such as a disc; 1 for a logistic regression.

    Reports divide errors by this number.
    """
    iterations: tuple[FitIteration, ...]
    output: Path | None = None
    """Path to which the final weights are also written; ``None`` if only the run's folder has the weights."""
    interrupted: bool = False
    unfinished: FitIteration | None = None
    """The iteration whose matches were interrupted, or ``None``; ``iterations`` does not include it."""
    games: tuple[int, int] = (0, 0)
    """Numbers of stored and of planned self-play games in the last iteration that began."""
    digest: str = ""
    """Digest of all stored games; equal digests mean equal games."""
    engine: str = ""
    """Identity of the engine, or of several engines, as given by ``arena.run.engines_of``."""

    @property
    def kept(self) -> Path | None:
        """The file of the weights that the fit keeps; ``None`` if it keeps no weights.

        These are the weights of the last finished iteration or, with ``until_no_gain``, of the last iteration that
        showed a gain.
        """
        kept = [done for done in self.iterations if done.gained or not self.spec.until_no_gain]
        return kept[-1].weights if kept else None

    @property
    def exit_code(self) -> int:
        """The command's exit code: 130 if interrupted, 3 if no weights gained, else 0."""
        return 130 if self.interrupted else 3 if self.kept is None else 0

    def moved(self, spec: FitSpec, directory: Path) -> FitResult:
        """A copy of the result with the specification ``spec``, for a run whose folder and weights are in
        ``directory``.
        """

        def at_home(done: FitIteration) -> FitIteration:
            return replace(done, weights=directory / done.weights.name)

        iterations = tuple(map(at_home, self.iterations))
        unfinished = None if self.unfinished is None else at_home(self.unfinished)
        return replace(self, spec=spec, directory=directory, iterations=iterations, unfinished=unfinished)


ERRORS = {"linear": ("root mean square error", "ridge strength"), "logistic": ("logistic loss", "spread of the prior")}
"""By kind of regression: names of the error to minimise and of the hyperparameter that held-out games select."""
AGAINST_BEFORE, AGAINST_FIRST = "the weights before", "the first weights"
"""Names of the opponents in matches: the weights of the previous iteration, and the weights at the start of the fit."""


class Interrupted(Exception):
    """Raised when the run's stop flag is set."""


def fitting_of(game: Game) -> EvaluationFitting:
    """The functions that a game provides for fitting. Raises ``UserError`` if the game has no file of weights."""
    from elolab.engine.games import GAMES, game_named

    fitting = game.fitting
    if fitting is None:
        able = ", ".join(name for name in GAMES if game_named(name).fitting is not None)
        raise UserError(
            f"fit-evaluation: the evaluation of {game.name} has no file of weights to fit", argument("game", able)
        )
    return fitting


def check_fit(spec: FitSpec) -> EvaluationFitting:
    """Validate a specification and return the functions that its game provides for fitting.

    Raises ``UserError`` with one line for a mistake.
    """
    from elolab.engine.games import game_named

    fitting = fitting_of(game_named(spec.game))
    if spec.games + spec.other_games < LEAST_GAMES:
        raise UserError(
            f"fit-evaluation: {argument('games', spec.games)}: a fit needs at least {LEAST_GAMES} games",
            f"give more, or {argument('with_games')}",
        )
    if spec.until_no_gain and not spec.match_pairs:
        raise UserError(
            f"fit-evaluation: {argument('until_no_gain')} needs matches",
            f"give {argument('match_pairs')} of at least 1",
        )
    if spec.patterns and not fitting.pattern_weights:
        raise UserError(f"fit-evaluation: the evaluation of {spec.game} has no patterns", argument("patterns", "off"))
    if fitting.regression == "logistic" and spec.phases != fitting.phases:
        raise UserError(
            f"fit-evaluation: {argument('phases', spec.phases)}: the evaluation of {spec.game} has "
            f"{fitting.phases} rows of weights: for full material and for none",
            "leave the option out",
        )
    if fitting.regression == "linear" and spec.score_share:
        raise UserError(
            f"fit-evaluation: {argument('score_share', spec.score_share)}: positions of {spec.game} have exact results",
            "leave the option out",
        )
    if fitting.regression == "logistic" and spec.score_limits is not None:
        raise UserError(
            f"fit-evaluation: {argument('score_limit', spec.score_limits)}: fits in {spec.game} use the scores of the "
            "games' own searches",
            f"give {argument('score_share')}",
        )
    if fitting.regression == "linear" and STEPS % spec.phases:
        divisors = ", ".join(str(number) for number in range(1, STEPS + 1) if STEPS % number == 0)
        raise UserError(f"fit-evaluation: {argument('phases', spec.phases)}: expected one of {divisors}")
    scores = () if spec.score_limits is None else (spec.score_limits,)
    for limits in (spec.limits, *scores, *spec.match_limits):
        if not limits.is_reproducible:
            raise UserError(
                f"fit-evaluation: limit {limits}: games on a clock cannot be repeated", "give nodes=N or depth=N"
            )
    return fitting


def fit_evaluation(
    spec: FitSpec, directory: Path, *, output: Path | None = None, **options: Unpack[RunOptions]
) -> FitResult:
    """Run or resume a fit in its folder; a finished fit also writes its kept weights to ``output``.

    Raises ``UserError`` if the folder belongs to another run or engine, or the disk is full.
    """
    from elolab.engine.games import game_named

    fitting = check_fit(spec)
    start = find_weights(spec.start, (spec.game,))
    done: list[FitIteration] = []
    purpose = purpose_of(spec, start)
    openings = match_openings(spec, game_named(spec.game))
    with Run(directory, purpose, **options) as run:
        run.progress.announce(plan_of_run(spec, directory, run.concurrency, run.store))
        iterations = _Iterations(spec, game_named(spec.game), fitting, start, run, openings)
        first = directory / "weights-0.toml"
        if not first.is_file() or read_weights(first).digest != start.digest:
            replace_file(first, find_config("weights", name_and_digest(spec.start)[0]).read_bytes())
        try:
            while len(done) < spec.iterations:
                done.append(iterations.next())
                if spec.until_no_gain and not done[-1].gained:
                    break
        except Interrupted:
            run.is_interrupted = True
        run.conclusion.verdicts = {f"weights-{one.number}": one.verdict for one in done if one.matches}
        fitted = FitResult(
            spec, directory, fitting.regression, fitting.unit, tuple(done), interrupted=run.is_interrupted,
            unfinished=iterations.unfinished, games=iterations.games, digest=run.store.digest(),
            engine=engines_of(run.store),
        )  # fmt: skip
    if output is None or fitted.interrupted or fitted.kept is None:
        return fitted
    replace_file(output, fitted.kept.read_bytes())
    return replace(fitted, output=output)


def purpose_of(spec: FitSpec, start: Weights) -> Purpose:
    """The run's specification: a fit from ``start``. A resumed run may change only the fields ``LENGTHS``."""
    more = {SPECIFICATION_METADATA: spec.as_asked()}
    sides = (PlayerLoad("--limit", spec.limits), *(PlayerLoad("--match-limit", limits) for limits in spec.match_limits))
    return Purpose(KIND, spec.content(start), "the command", lengths=LENGTHS, more=more, sides=sides)


def plan_of_run(spec: FitSpec, directory: Path, concurrency: int, store: Store | None = None) -> StagePlan:
    """The planned games of a fit and their estimated cost, for display before the run starts.

    Games of other runs are one stage, in which all games are already stored. Each iteration has a stage of self-play
    games, then a stage of matches. ``store`` is the run's store if it is already open.
    """
    if store is None and (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as stored:
            return plan_of_run(spec, directory, concurrency, stored)
    counts = Counter(outcome.pairing.series for outcome in (() if store is None else store.outcomes()))
    stages = []
    if spec.other_runs:
        name, seconds = console("elolab.tuning")("stage.other_runs"), estimated_game_seconds([spec.limits])
        stages.append(GameStage(name, spec.other_games, seconds, spec.other_games))
    for number in range(1, spec.iterations + 1):
        own = estimated_game_seconds([spec.limits])
        stored_games = min(spec.games, counts[series_of_iteration(number - 1)])
        stages.append(GameStage(_stage_name("games", number), spec.games, own, stored_games))
        games = _match_games(spec, number)
        if games:
            seconds = sum(estimated_game_seconds([limits]) for limits in spec.match_limits) / len(spec.match_limits)
            known = sum(count for series, count in counts.items() if series.startswith(f"match {number:03d}."))
            stages.append(GameStage(_stage_name("matches", number), games, seconds, min(games, known)))
    return StagePlan(KIND, directory, tuple(stages), concurrency, is_bound=spec.until_no_gain)


def _stage_name(kind: str, number: int) -> str:
    """Displayed name of an iteration's stage; ``kind`` is ``games`` or ``matches``."""
    return console("elolab.tuning")(f"stage.{kind}", number=number)


def _opponents(number: int) -> dict[str, int]:
    """Names of the opponents in the matches of iteration ``number``, each with the iteration that fitted its weights.

    Iteration 0 stands for the weights at the start.
    """
    return {AGAINST_BEFORE: number - 1} | ({AGAINST_FIRST: 0} if number > 1 else {})


def _match_games(spec: FitSpec, number: int) -> int:
    """Number of games in all matches of an iteration."""
    return 2 * spec.match_pairs * len(spec.match_limits) * len(_opponents(number))


def match_openings(spec: FitSpec, game: Game) -> tuple[GameConditions, Suite, tuple[int, ...]]:
    """Game conditions, opening suite, and indices of its openings, for all matches of a run.

    Raises ``RunError`` if the suite has too few openings.
    """
    conditions = Conditions(
        name=KIND, game=spec.game, base_name=spec.start, base=(), limits=spec.limits, openings=game.default_suite,
        seed=spec.seed, rules=game.standard_rules, adjudication=game.adjudication, source="fit-evaluation",
    )  # fmt: skip
    return conditions.of_games, *read_openings(conditions, "validation", spec.match_pairs, "--match-pairs")


class _Iterations:
    """Runs the iterations of a fit one after the other; raises ``Interrupted`` when the stop flag is set."""

    def __init__(
        self, spec: FitSpec, game: Game, fitting: EvaluationFitting, start: Weights, run: Run,
        openings: tuple[GameConditions, Suite, tuple[int, ...]],
    ) -> None:  # fmt: skip
        self._spec, self._game, self._fitting, self._start, self._run = spec, game, fitting, start, run
        conditions, suite, self._openings = openings
        self._table = MatchTable(conditions, suite, run)
        self._positions: list[ScoredPositions] = []
        self._others: list[ScoredPositions] | None = None
        self._number = 0
        self.unfinished: FitIteration | None = None
        """The iteration whose matches are in progress."""
        self.games = (0, 0)
        """Number of stored and number of planned self-play games of the current iteration."""

    def next(self) -> FitIteration:
        """Run the next iteration: games, positions, fit and matches."""
        plan = SelfPlay(
            self._spec.game, self._number, self._player(self._number, self._spec.limits, self._fitting.self_play),
            self._spec.games, self._spec.seed, self._fitting.opening_plies, self._fitting.adjudication,
        )  # fmt: skip
        if plan.games:
            self._play(plan)
            self._positions.append(self._chosen(plan))
        if self._others is None:
            self._others = [self._of_other_run(number) for number in range(len(self._spec.other_runs))]
        positions = joined([*self._positions, *self._others])
        found, before = self._fitted(positions)
        self._number += 1
        path = self._weights_path(self._number)
        replace_file(path, self._weights_text(found, before[0]))
        games = self._number * self._spec.games + self._spec.other_games
        self.unfinished = FitIteration(self._number, games, found, *before, path, ())
        self._play_matches(self.unfinished)
        done, self.unfinished = self.unfinished, None
        return done

    def _fitted(self, positions: ScoredPositions) -> tuple[Fit, tuple[float, float]]:
        """Fit weights to ``positions``; return the fit, and two held-out errors of the previous weights.

        The first error is the error of the unchanged weights. The second is the smallest error of the weights times any
        factor.
        """
        steps, features = self._fitting.survey(positions.rows)
        before = read_weights(self._weights_path(self._number))
        if self._fitting.regression == "logistic":
            scale = self._fitting.odds_scale
            share = self._spec.score_share / 100
            predicted = expected_score(positions.scores, scale)
            targets = share * predicted + (1 - share) * positions.results
            wins = WinSample(positions.games, features, self._fitting.row_shares(steps), positions.results, targets)
            start = _one_row_per_phase(rows_of(self._start), self._spec.phases)
            found = fit_wins(wins, start, self._fitting.groups, scale)
            kept = wins.part(is_held_out(wins.games))
            return found, losses_of(kept, _one_row_per_phase(rows_of(before), self._spec.phases), scale)
        phases = phases_of(steps, self._spec.phases)
        results = positions.results * self._fitting.unit
        sample = Sample(positions.games, features.astype(np.float64), phases, results)
        errors_before = self._errors_before(before, sample, steps, positions)
        if not self._spec.patterns:
            return fit(sample, self._spec.phases), errors_before
        patterned = PatternSample(
            positions.games, sample.features, steps, self._fitting.patterns(positions.rows), results
        )
        return fit_patterns(patterned, self._fitting.pattern_weights, self._spec.phases), errors_before

    def _errors_before(
        self, weights: Weights, sample: Sample, steps: np.ndarray, positions: ScoredPositions
    ) -> tuple[float, float]:
        """Two held-out errors in a linear regression: of ``weights``, and of ``weights`` times the factor that
        minimises the error.

        ``steps`` has each position's stage of the game, from 0.
        """
        kept = is_held_out(sample.games)
        table = steps_of(weights)
        values = np.einsum("nf,nf->n", sample.features[kept], table[steps[kept]].astype(np.float64))
        if weights.pattern_phases:
            rows = pattern_rows(weights).astype(np.float64)
            numbers = self._fitting.patterns(positions.rows[kept])
            values += rows[phases_of(steps[kept], len(rows))[:, None], numbers].sum(axis=1)
        size = float(values @ values)
        factor = float(values @ sample.results[kept]) / size if size else 0.0
        plain, scaled = (root_of_mean(by * values - sample.results[kept]) for by in (1.0, factor))
        return plain, scaled

    def _weights_path(self, number: int) -> Path:
        return self._run.directory / f"weights-{number}.toml"

    def _player(self, number: int, limits: Limits, settings: Mapping[str, Value] | None = None) -> PlayerSpec:
        """The built-in engine with the weights of iteration ``number`` and ``settings``, named after the weights'
        digest.

        A game's key includes all settings of its players. The setting for the weights' file therefore has no path, so
        that the same fit has the same games in every folder.
        """
        path = self._weights_path(number)
        weights = find_weights(str(path), (self._spec.game,))
        provide_weights(weights)
        own = {self._fitting.parameter: f"{path.name}#{weights.digest}"}
        values = resolve({**(settings or {}), **own}, game=self._spec.game)
        return PlayerSpec(f"weights {weights.digest}", BUILTIN, limits, parameters=tuple(values.items()))

    def _begin(self, games: int, key: str, done: int = 0, stage: str = "") -> None:
        words = console("elolab.tuning")(key, number=self._number + 1, iterations=self._spec.iterations)
        self._run.progress.begin(games, words, done=done, stage=stage)

    def _play(self, plan: SelfPlay) -> None:
        stored = len(stored_games(plan, self._run.store))
        self._begin(plan.games, "progress.fit_games", stored, _stage_name("games", self._number + 1))
        is_complete = play_games(plan, self._game, self._run)
        self.games = len(stored_games(plan, self._run.store)), plan.games
        if not is_complete:
            raise Interrupted

    def _chosen(self, plan: SelfPlay) -> ScoredPositions:
        """The positions selected from the iteration's games."""
        records = list(games_of(plan, self._run.store))
        digest = digest_of([self._spec.seed, *([record.key, record.digest] for record in records)])
        return self._selected(f"positions-{plan.iteration}.npz", digest, lambda: records, plan.iteration)

    def _of_other_run(self, number: int) -> ScoredPositions:
        """The positions selected from the games of ``other_runs[number]`` in the specification."""
        run = self._spec.other_runs[number]
        digest = digest_of([self._spec.seed, number, run.digest])
        return self._selected(f"positions-of-run-{number + 1}.npz", digest, lambda: records_of(run, number), 0)

    def _selected(
        self, name: str, digest: str, read: Callable[[], Sequence[GameRecord]], iteration: int
    ) -> ScoredPositions:
        """The positions selected from games, read from the folder's file ``name`` if it belongs to games with this
        ``digest``.

        Otherwise they are selected from the games that ``read()`` returns. If searches score positions, they use the
        weights of iteration ``iteration``.
        """
        path = self._run.directory / name
        stored = _read_positions(path, digest)
        if stored is not None:
            return stored
        records = read()
        self._run.release_players()
        self._begin(len(records), "progress.fit_results")

        def finished() -> None:
            self._run.progress.finished()
            self._run.tick()

        run, limits, scoring = self._run, self._spec.score_limits, None
        if limits is not None:
            weights = {self._fitting.parameter: str(self._weights_path(iteration))}
            scoring = Scoring(limits, {**self._fitting.self_play, **weights})
        found = positions_of(records, self._game, self._spec.seed, run.threads, run.stop, finished, scoring)
        if found is None:
            raise Interrupted
        content = io.BytesIO()
        np.savez(content, digest=digest, **asdict(found))
        replace_file(path, content.getvalue())
        return found

    def _weights_text(self, found: Fit, error_before: float) -> str:
        from elolab.engine.compiled.identity import engine_identity

        games = [f"{self._number * self._spec.games} games of engine {engine_identity()}"] if self._spec.games else []
        games += [f"{run.games} games of the run {run.name} (digest {run.digest})" for run in self._spec.other_runs]
        (error, prior), unit = ERRORS[self._fitting.regression], self._fitting.unit
        provenance = (
            f"Fitted by: {self._spec.command(self._start, self._number)}. "
            f"{', '.join(games)}, {found.training} positions; "
            f"{error} on {found.held_out} positions of games held out "
            f"{found.held_out_error / unit:.4f} ({error_before / unit:.4f} with the weights before), "
            f"{prior} {strengths_text(found)}."
        )
        text = weights_text(self._spec.game, provenance, self._fitting.features, found.weights.tolist())
        return text if found.patterns is None else text + patterns_text(found.patterns)

    def _play_matches(self, done: FitIteration) -> None:
        """Play the newest weights against the previous and the first ones, on openings unused by the fit.

        ``self.unfinished`` receives the completed matches, and the current one with its games so far.
        """
        spec, progress = self._spec, self._run.progress
        games = _match_games(spec, self._number)
        scores = MatchScores()
        if games:
            progress.begin(games, stage=_stage_name("matches", self._number), score=scores)
        found: list[FittedMatch] = []
        planned = [(against, number, limits) for against, number in _opponents(self._number).items()
                   for limits in spec.match_limits]  # fmt: skip
        for index, (against, number, limits) in enumerate(planned if games else []):
            match = self._match(index, number, limits)
            key = "progress.match_before" if against == AGAINST_BEFORE else "progress.match_first"
            progress.say(console("elolab.tuning")(key, number=self._number, iterations=spec.iterations, limit=limits))
            progress.done += 2 * match.pairs - self._table.missing_games([match])
            is_complete = self._table.play([match], scores=scores)
            counts = self._table.counts(match)
            if counts.pairs:
                found.append(FittedMatch(against, limits, counts))
            self.unfinished = replace(done, matches=tuple(found))
            if not is_complete:
                raise Interrupted

    def _match(self, index: int, number: int, limits: Limits) -> Match:
        """Match ``index`` of the current iteration: the newest weights against the weights of iteration ``number``."""
        spec = self._spec
        return Match(
            self._player(self._number, limits), self._player(number, limits), self._openings,
            tuple(range(0, 2 * spec.match_pairs, 2)), tuple(range(spec.match_pairs)),
            series=f"match {self._number:03d}.{index:02d}", round=self._number,
        )  # fmt: skip


def _read_positions(path: Path, digest: str) -> ScoredPositions | None:
    """Positions read from a file; ``None`` if the file is missing or belongs to games with another digest."""
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(path) as stored:
        if str(stored["digest"]) == digest:
            return ScoredPositions(**{field.name: stored[field.name] for field in fields(ScoredPositions)})
    return None


def _one_row_per_phase(rows: np.ndarray, phases: int) -> np.ndarray:
    """Weights with one row for each of ``phases`` phases; a single row in ``rows`` is repeated."""
    return np.repeat(rows, phases, axis=0) if len(rows) == 1 else rows


def weights_text(game: str, provenance: str, features: Sequence[str], phases: Sequence[Sequence[int]]) -> str:
    """Weights as a TOML file; see ``engine.settings.weights``."""
    from elolab.engine.games import game_named

    lines = [
        f"game = {json.dumps(game)}",
        f"provenance = {json.dumps(provenance)}",
        f"features = {json.dumps(list(features))}",
        f"# {fitting_of(game_named(game)).rows_in_words(len(phases))}",
        "phases = [",
        *("    [" + ", ".join(f"{weight:5d}" for weight in row) + "]," for row in phases),
        "]",
    ]
    return "\n".join(lines) + "\n"


def strengths_text(found: Fit) -> str:
    """The selected strengths of the prior as text, separated by commas."""
    return ", ".join(f"{strength:g}" for strength in found.strengths)
