"""Weights of an evaluation fitted to self-play: games, positions, regression, and a match against the weights before.

Each iteration plays games with the weights of the one before, adds their positions to those of all earlier iterations
and fits anew. The run's folder holds the games, the chosen positions and every iteration's weights; the same command
goes on where it was stopped and ends with the same weights, byte for byte.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from arena.figures.statistics import Pentanomial
from arena.files import replace_file
from arena.notation.openings import Suite
from arena.records import BUILTIN, PlayerSpec, digest_of
from arena.run import Purpose, Run, RunOptions
from engine.errors import UserError
from engine.language import console
from engine.rules import Rules
from engine.settings.configuration import find_config
from engine.settings.limits import Limits
from engine.settings.parameters import Value, resolve
from engine.settings.weights import (
    STEPS,
    Weights,
    find_weights,
    pattern_rows,
    patterns_text,
    read_weights,
    rows_of,
    steps_of,
)
from tuning.conditions import Conditions
from tuning.evaluation.logistic import WinSample, expected_score, fit_wins, losses_of
from tuning.evaluation.patterns import fit_patterns
from tuning.evaluation.positions import Positions, joined, positions_of
from tuning.evaluation.ridge import Fit, Sample, fit, is_held_out, phases_of
from tuning.evaluation.self_play import SelfPlay, games_of, play_games, stored_games
from tuning.matches import Match, MatchTable, read_openings

if TYPE_CHECKING:
    from engine.games.contract import EvaluationFitting, Game

KIND = "evaluation fit"
GROWING = ("games", "iterations", "match_pairs")
"""What may become more when a run is resumed."""


@dataclass(frozen=True)
class FitSpec:
    """What a run is asked to do."""

    game: str
    start: str
    """The weights of the first iteration's games: a shipped name or a file."""
    games: int
    """Games of each iteration."""
    limits: Limits
    """What a player may spend on a move of these games."""
    seed: int
    iterations: int
    until_no_gain: bool
    """Whether the first iteration that does not beat the weights before beyond doubt is the last."""
    phases: int
    patterns: bool
    """Whether patterns are fitted beside the features."""
    score_share: int
    """Percent of the search's score, the rest being the game's outcome, in what a logistic regression fits to."""
    match_pairs: int
    """Pairs of each match against the weights before; 0 is none."""
    match_limits: tuple[Limits, ...]
    """The matches' limits, one match each."""

    def content(self, start: Weights) -> dict[str, Any]:
        """What decides the run, as plain data for its folder."""
        return {
            "game": self.game, "from": start.digest, "games": self.games, "limit": str(self.limits),
            "seed": self.seed, "iterations": self.iterations, "until_no_gain": self.until_no_gain,
            "phases": self.phases, "patterns": self.patterns, "score_share": self.score_share,
            "match_pairs": self.match_pairs, "match_limits": [str(limits) for limits in self.match_limits],
        }  # fmt: skip

    def command(self, start: Weights, iterations: int) -> str:
        """The command that fits the weights of an iteration again, without what only says where to write."""
        name = Path(self.start).name.removesuffix(".toml")
        return (
            f"elolab fit-evaluation --game {self.game} --from {name}#{start.digest} --games {self.games} "
            f"--limit {self.limits} --seed {self.seed} --iterations {iterations} {self._regression_words()}"
        )

    def _regression_words(self) -> str:
        from engine.games import game_named

        fitting = game_named(self.game).fitting
        if fitting is not None and fitting.regression == "logistic":
            return f"--score-share {self.score_share}"
        return f"--phases {self.phases} --patterns {'on' if self.patterns else 'off'}"


@dataclass(frozen=True)
class FittedMatch:
    """A match of an iteration's weights against earlier ones."""

    against: str
    """Which: ``the weights before`` or ``the first weights``."""
    limits: Limits
    counts: Pentanomial
    """The new weights' view."""


@dataclass(frozen=True)
class Iteration:
    """One iteration's fit."""

    number: int
    """From 1 on."""
    games: int
    """Games fitted to, those held out and those of earlier iterations included."""
    fit: Fit
    error_before: float
    """Held-out error of the weights before, which played the iteration's games."""
    error_before_scaled: float
    """The same after the weights before were multiplied by whatever factor suits them best."""
    weights: Path
    matches: tuple[FittedMatch, ...]

    @property
    def gained(self) -> bool:
        """Whether the first match says with 95 % certainty that the weights beat those before."""
        return bool(self.matches) and self.matches[0].counts.estimate().elo_low > 0


@dataclass(frozen=True)
class FitResult:
    """How a run ended."""

    spec: FitSpec
    directory: Path
    regression: str
    """``linear`` or ``logistic``."""
    unit: int
    """Points of an error in one point of the game's own score; 1 in a logistic regression."""
    iterations: tuple[Iteration, ...]
    output: Path | None = None
    """Where the weights that are kept were also written."""
    interrupted: bool = False

    @property
    def kept(self) -> Path | None:
        """The last weights; if a gain was asked for, the last that brought one, ``None`` if none did."""
        kept = [done for done in self.iterations if done.gained or not self.spec.until_no_gain]
        return kept[-1].weights if kept else None


@dataclass(frozen=True)
class ErrorKind:
    """What a regression minimises, in words."""

    name: str
    prior: str
    """What was chosen by the games held out."""


ERRORS = {
    "linear": ErrorKind("root mean square error", "ridge strength"),
    "logistic": ErrorKind("logistic loss", "spread of the prior"),
}
"""By regression."""


AGAINST_BEFORE, AGAINST_FIRST = "the weights before", "the first weights"
"""Against which weights new ones are matched."""


class Interrupted(Exception):
    """The stop flag was set."""


def fitting_of(game: Game) -> EvaluationFitting:
    """What a game has for fitting; raises ``UserError`` if its weights do not come from a file."""
    from engine.games import GAMES, game_named

    fitting = game.fitting
    if fitting is None:
        able = ", ".join(name for name in GAMES if game_named(name).fitting is not None)
        raise UserError(f"fit-evaluation: the evaluation of {game.name} has no file of weights to fit; --game {able}")
    return fitting


def check_fit(spec: FitSpec) -> EvaluationFitting:
    """What the game has for fitting; raises ``UserError`` with one line for what cannot be asked of it."""
    from engine.games import game_named

    fitting = fitting_of(game_named(spec.game))
    if spec.until_no_gain and not spec.match_pairs:
        raise UserError("fit-evaluation: --until-no-gain needs matches; give --match-pairs of at least 1")
    if spec.patterns and not fitting.pattern_weights:
        raise UserError(f"fit-evaluation: the evaluation of {spec.game} has no patterns; --patterns off")
    if fitting.regression == "logistic" and spec.phases != fitting.phases:
        raise UserError(
            f"fit-evaluation: --phases {spec.phases}: the evaluation of {spec.game} has {fitting.phases} rows of "
            "weights, with all the material and with none; leave the option out"
        )
    if fitting.regression == "linear" and spec.score_share:
        raise UserError(
            f"fit-evaluation: --score-share {spec.score_share}: positions of {spec.game} have exact results; leave the "
            "option out"
        )
    if fitting.regression == "linear" and STEPS % spec.phases:
        divisors = ", ".join(str(number) for number in range(1, STEPS + 1) if STEPS % number == 0)
        raise UserError(f"fit-evaluation: --phases {spec.phases}: expected one of {divisors}")
    for limits in (spec.limits, *spec.match_limits):
        if not limits.is_reproducible:
            raise UserError(
                f"fit-evaluation: limit {limits}: games on a clock cannot be repeated; give nodes=N or depth=N"
            )
    return fitting


def fit_evaluation(
    spec: FitSpec, directory: Path, *, output: Path | None = None, **options: Unpack[RunOptions]
) -> FitResult:
    """Run or resume a fit in its folder; the last weights are also written to ``output``.

    Raises ``UserError`` if the folder belongs to another run or engine, or the disk is full.
    """
    from engine.games import game_named

    fitting = check_fit(spec)
    start = find_weights(spec.start, (spec.game,))
    done: list[Iteration] = []
    purpose = Purpose(KIND, spec.content(start), "the command", GROWING)
    matches = _MatchOpenings.of(spec, game_named(spec.game))
    with Run(directory, purpose, **options) as run:
        iterations = _Iterations(spec, game_named(spec.game), fitting, start, run, matches)
        first = directory / "weights-0.toml"
        if not first.is_file() or read_weights(first).digest != start.digest:
            replace_file(first, find_config("weights", spec.start.partition("#")[0]).read_bytes())
        try:
            while len(done) < spec.iterations:
                done.append(iterations.next())
                if spec.until_no_gain and not done[-1].gained:
                    break
        except Interrupted:
            run.is_interrupted = True
            return FitResult(spec, directory, fitting.regression, fitting.unit, tuple(done), interrupted=True)
    fitted = FitResult(spec, directory, fitting.regression, fitting.unit, tuple(done))
    if output is None or fitted.kept is None:
        return fitted
    replace_file(output, fitted.kept.read_bytes())
    return replace(fitted, output=output)


@dataclass(frozen=True)
class _MatchOpenings:
    """What the matches of a run have in common."""

    conditions: Conditions
    suite: Suite
    openings: tuple[int, ...]

    @classmethod
    def of(cls, spec: FitSpec, game: Game) -> _MatchOpenings:
        """Raises ``RunError`` if the game's suite has too few openings."""
        conditions = Conditions(
            name=KIND, game=spec.game, base_name=spec.start, base=(), limits=spec.limits, openings=game.default_suite,
            seed=spec.seed, rules=Rules(), adjudication=game.adjudication, source="fit-evaluation",
        )  # fmt: skip
        return cls(conditions, *read_openings(conditions, "validation", spec.match_pairs, "--match-pairs"))


class _Iterations:
    """The iterations of a run in turn, each raising ``Interrupted`` when the stop flag is set."""

    def __init__(
        self, spec: FitSpec, game: Game, fitting: EvaluationFitting, start: Weights, run: Run, matches: _MatchOpenings
    ) -> None:
        self._spec, self._game, self._fitting, self._start, self._run = spec, game, fitting, start, run
        self._openings = matches.openings
        self._table = MatchTable(matches.conditions.of_games, matches.suite, run)
        self._positions: list[Positions] = []
        self._number = 0

    def next(self) -> Iteration:
        """Games, positions, fit and matches of the next iteration."""
        plan = SelfPlay(
            self._spec.game, self._number, self._player(self._number, self._spec.limits, self._fitting.self_play),
            self._spec.games, self._spec.seed, self._fitting.opening_plies, self._fitting.adjudication,
        )  # fmt: skip
        self._play(plan)
        self._positions.append(self._chosen(plan))
        positions = joined(self._positions)
        found, before = self._fitted(positions)
        self._number += 1
        path = self._weights_path(self._number)
        replace_file(path, self._weights_text(found, before[0]))
        return Iteration(self._number, self._number * self._spec.games, found, *before, path, self._matches())

    def _fitted(self, positions: Positions) -> tuple[Fit, tuple[float, float]]:
        """The fit, and the held-out error of the weights before: as they are, and scaled by the best factor."""
        steps, features = self._fitting.survey(positions.rows)
        before = read_weights(self._weights_path(self._number))
        if self._fitting.regression == "logistic":
            scale = self._fitting.odds_scale
            share = self._spec.score_share / 100
            predicted = expected_score(positions.scores, scale)
            targets = share * predicted + (1 - share) * positions.results
            wins = WinSample(features, self._fitting.row_shares(steps), positions.results, targets, positions.games)
            start = _two_ends(rows_of(self._start), self._spec.phases)
            found = fit_wins(wins, start, self._fitting.groups, scale)
            kept = wins.part(is_held_out(wins.games))
            return found, losses_of(kept, _two_ends(rows_of(before), self._spec.phases), scale)
        phases = phases_of(steps, self._spec.phases)
        sample = Sample(features.astype(np.float64), phases, positions.results * self._fitting.unit, positions.games)
        errors_before = self._errors_before(before, sample, steps, positions)
        if not self._spec.patterns:
            return fit(sample, self._spec.phases), errors_before
        numbers = self._fitting.patterns(positions.rows)
        found = fit_patterns(sample, steps, numbers, self._fitting.pattern_weights, self._spec.phases)
        return found, errors_before

    def _errors_before(
        self, weights: Weights, sample: Sample, steps: np.ndarray, positions: Positions
    ) -> tuple[float, float]:
        """Held-out error of weights in a linear regression: as they are, and after scaling by the best factor."""
        kept = is_held_out(sample.games)
        table = steps_of(weights)
        values = np.einsum("nf,nf->n", sample.features[kept], table[steps[kept]].astype(np.float64))
        if weights.pattern_phases:
            rows = pattern_rows(weights).astype(np.float64)
            numbers = self._fitting.patterns(positions.rows[kept])
            values += rows[phases_of(steps[kept], len(rows))[:, None], numbers].sum(axis=1)
        size = float(values @ values)
        factor = float(values @ sample.results[kept]) / size if size else 0.0
        plain, scaled = (
            float(np.sqrt(np.mean((by * values - sample.results[kept]) ** 2))) for by in (1.0, factor)
        )
        return plain, scaled

    def _weights_path(self, number: int) -> Path:
        return self._run.directory / f"weights-{number}.toml"

    def _player(self, number: int, limits: Limits, settings: Mapping[str, Value] | None = None) -> PlayerSpec:
        own = {self._fitting.parameter: str(self._weights_path(number))}
        values = resolve({**(settings or {}), **own}, game=self._spec.game)
        digest = str(values[self._fitting.parameter]).partition("#")[2]
        return PlayerSpec(f"weights {digest}", BUILTIN, limits, parameters=tuple(values.items()))

    def _begin(self, games: int, key: str, done: int = 0) -> None:
        words = console("tuning")(key, number=self._number + 1, iterations=self._spec.iterations)
        self._run.progress.begin(games, words, done=done)

    def _play(self, plan: SelfPlay) -> None:
        self._begin(plan.games, "progress.fit_games", len(stored_games(plan, self._run.store)))
        if not play_games(plan, self._game, self._run):
            raise Interrupted

    def _chosen(self, plan: SelfPlay) -> Positions:
        """The iteration's positions: from the folder, if they are of just these games."""
        records = list(games_of(plan, self._run.store))
        digest = digest_of([self._spec.seed, *([record.key, record.digest] for record in records)])
        path = self._run.directory / f"positions-{plan.iteration}.npz"
        stored = _read_positions(path, digest)
        if stored is not None:
            return stored
        self._run.release_players()
        self._begin(len(records), "progress.fit_results")

        def finished() -> None:
            self._run.progress.finished()
            self._run.tick()

        run = self._run
        found = positions_of(records, self._game, self._spec.seed, run.concurrency, run.stop, finished)
        if found is None:
            raise Interrupted
        content = io.BytesIO()
        np.savez(content, digest=digest, **asdict(found))
        replace_file(path, content.getvalue())
        return found

    def _weights_text(self, found: Fit, error_before: float) -> str:
        from engine.compiled.identity import engine_identity

        kind, unit = ERRORS[self._fitting.regression], self._fitting.unit
        provenance = (
            f"Fitted by: {self._spec.command(self._start, self._number)}. "
            f"{self._number * self._spec.games} games of engine {engine_identity()}, {found.training} positions; "
            f"{kind.name} on {found.held_out} positions of games held out "
            f"{found.held_out_error / unit:.4f} ({error_before / unit:.4f} with the weights before), "
            f"{kind.prior} {strengths_text(found)}."
        )
        text = weights_text(self._spec.game, provenance, self._fitting.features, found.weights.tolist())
        return text if found.patterns is None else text + patterns_text(found.patterns)

    def _matches(self) -> tuple[FittedMatch, ...]:
        """The newest weights against those before, and against the first, on openings that no fit has seen."""
        spec = self._spec
        opponents = {AGAINST_BEFORE: self._number - 1}
        if self._number > 1:
            opponents[AGAINST_FIRST] = 0
        planned = [(against, number, limits) for against, number in opponents.items() for limits in spec.match_limits]
        return tuple(
            self._match(index, against, number, limits)
            for index, (against, number, limits) in enumerate(planned if spec.match_pairs else [])
        )

    def _match(self, index: int, against: str, number: int, limits: Limits) -> FittedMatch:
        spec = self._spec
        new, old = self._player(self._number, limits), self._player(number, limits)
        match = Match(
            new, old, self._openings, tuple(range(0, 2 * spec.match_pairs, 2)), tuple(range(spec.match_pairs)),
            series=f"match {self._number:03d}.{index:02d}", round=self._number,
        )  # fmt: skip
        games = 2 * spec.match_pairs
        key = "progress.match_before" if against == AGAINST_BEFORE else "progress.match_first"
        words = console("tuning")(key, number=self._number, iterations=spec.iterations, limit=limits)
        self._run.progress.begin(games, words, done=games - self._table.missing_games([match]))
        if not self._table.play([match]):
            raise Interrupted
        return FittedMatch(against, limits, self._table.counts(match))


def _read_positions(path: Path, digest: str) -> Positions | None:
    """Positions written before; ``None`` if there are none, or they are of other games."""
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(path) as stored:
        if str(stored["digest"]) == digest:
            return Positions(stored["rows"], stored["results"], stored["scores"], stored["games"])
    return None


def _two_ends(rows: np.ndarray, phases: int) -> np.ndarray:
    """Rows of weights as many as are fitted: a single one holds for all."""
    return np.repeat(rows, phases, axis=0) if len(rows) == 1 else rows


def weights_text(game: str, provenance: str, features: Sequence[str], phases: Sequence[Sequence[int]]) -> str:
    """A file of weights as TOML; see ``engine.settings.weights``."""
    from engine.games import game_named

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
    """The strengths of the prior that were chosen."""
    return ", ".join(f"{strength:g}" for strength in found.strengths)
