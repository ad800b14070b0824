"""Results of a study and of its rounds.

A settings pair is two sets of values that play each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.faults import FaultCount
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import Decision
from elolab.tuning.study.rounds.pairs_of_settings import SettingsPair
from elolab.tuning.study.space import Values
from elolab.tuning.study.study_spec import TuningSpec
from elolab.tuning.study.validation.validation_games import Verdict

STUDY_NAME = "study.sqlite"
"""Name of the file, in a run's folder, that holds Optuna's study."""
DEVIATION_ATTRIBUTE = "deviation"
EXPECTED_ATTRIBUTE = "expected"
"""Name of the trial attribute for ``RoundEnd.expected``; ``DEVIATION_ATTRIBUTE`` is for ``RoundEnd.deviation``."""


@dataclass(frozen=True)
class RoundResult:
    """A finished round of a study, with the results of its game pairs."""

    number: int
    values: Values
    """The set of values at the centre of the round; for samplers other than ``duel``, the trial's set."""
    results: tuple[tuple[SettingsPair, Pentanomial], ...]
    elo: float | None = None
    """Elo of ``values``, as in ``RoundEnd.elo``; ``None`` until the end of the round is recorded."""
    deviation: float | None = None
    """Standard deviation of the Elo, as in ``RoundEnd.deviation``; ``None`` until the end of the round is recorded."""
    expected: float | None = None
    """Elo of ``values`` by the model, as in ``RoundEnd.expected``; ``None`` until the end of the round is recorded."""

    @property
    def counts(self) -> Pentanomial:
        """Outcomes of all game pairs, from the point of view of the first set of values in each settings pair."""
        return sum((counts for _, counts in self.results), Pentanomial((0, 0, 0, 0, 0)))


@dataclass(frozen=True)
class RoundEnd:
    """The state of a study when a round ends."""

    number: int
    values: Values
    """The set of values at the centre of the round; for samplers other than ``duel``, the trial's set."""
    counts: Pentanomial
    """Outcomes of the round's game pairs, from the point of view of the first set of values in each settings pair."""
    elo: float
    """Elo of ``values`` relative to the base, by the model after the round; for a trial, its observed Elo.

    The Elo is infinite for a trial that won or lost every pair.
    """
    total_pairs: int
    """Number of game pairs of all rounds up to this one."""
    deviation: float | None = None
    """Standard deviation of the Elo of ``values``, by the model after the round.

    ``None`` for a round that a worker with an older version of elolab played.
    """
    expected: float | None = None
    """Elo of ``values`` relative to the base, by the model after the round.

    ``None`` for a round that a worker with an older version of elolab played.
    """


@dataclass(frozen=True)
class StudyResult:
    """The result of a tuning study, finished or not."""

    spec: TuningSpec
    directory: Path
    rounds: tuple[RoundEnd, ...]
    planned_rounds: int
    games: int
    """Number of games in the store."""
    interrupted: bool = False
    """Whether the run stopped before all games were played; ``decision`` is then preliminary."""
    waiting_for: tuple[int, ...] = ()
    """Numbers of the rounds that other workers of a shared study are still playing."""
    stopped_early: bool = False
    """Whether the rounds ended before the budget was used up, because the expected remaining gain was small."""
    decision: Decision | None = None
    model: ResponseModel | None = None
    observations: Observations | None = None
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of the study's own validations; empty if the base is recommended."""
    preset: Path | None = None
    """The preset file of a validated recommendation; ``None`` if none was written."""
    planned: int = 0
    """Planned maximum number of games of the rounds and the playoff."""
    study_games: int = 0
    """Number of stored games of rounds and playoff."""
    games_before_validation: int = 0
    """Number of stored games outside validations, including playoffs of earlier recommendations."""
    further: tuple[Verdict, ...] = ()
    """Verdicts of the further validations of this recommendation, which ``validate_again`` has played."""
    digest: str = ""
    """Digest of all stored games; equal digests mean equal games."""
    engine: str = ""
    """Identity of the engine or engines that played (``arena.run.engines_of``)."""
    faults: tuple[FaultCount, ...] = ()
    """Number of games forfeited by faults, per player and kind of fault."""
    caveats: Caveats = NO_CAVEATS
    own_seconds: float | None = None
    """Processor seconds of the thread that schedules and records games; ``None`` if read from a folder."""
    games_seconds: float | None = None
    """Processor seconds of all other threads, which play built-in engines; ``None`` if read from a folder."""

    @property
    def recommended(self) -> dict[str, Value]:
        """The recommended values, by name."""
        assert self.decision is not None
        return dict(zip(self.spec.space.names, self.decision.values, strict=True))

    @property
    def confirmed(self) -> bool:
        """Whether the study has ended and its recommendation has passed every validation."""
        return not self.interrupted and bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0 if a gain was confirmed, 3 if not, 130 after an interruption.

        The code is 1 while other workers are still playing, and if a gain was confirmed but players forfeited games by
        faults.
        """
        if self.interrupted:
            return 130
        if self.waiting_for:
            return 1
        return int(any(fault.lost for fault in self.faults)) if self.confirmed else 3
