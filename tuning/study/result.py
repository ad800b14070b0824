"""What came of a study: its rounds one by one, and the whole of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elolab.arena.figures.faults import FaultCount
from elolab.arena.figures.statistics import Pentanomial
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import Decision
from elolab.tuning.study.rounds.pairs_of_settings import SettingsPair
from elolab.tuning.study.space import Values
from elolab.tuning.study.spec import TuningSpec
from elolab.tuning.study.validation.match import Verdict

DEVIATION_ATTRIBUTE = "deviation"
"""Under which a round's trial keeps ``RoundEnd.deviation``."""


@dataclass(frozen=True)
class RoundResult:
    """A finished round."""

    number: int
    values: Values
    """The set at the centre when it began; of a sampler other than ``duel``, the trial's set."""
    results: tuple[tuple[SettingsPair, Pentanomial], ...]
    elo: float | None = None
    """``RoundEnd.elo`` as it was recorded when the round ended; ``None`` where it is ending now."""
    deviation: float | None = None
    """``RoundEnd.deviation`` likewise."""

    @property
    def counts(self) -> Pentanomial:
        """The outcomes of all its pairs, from the view of each settings pair's first set."""
        total = Pentanomial((0, 0, 0, 0, 0))
        for _, counts in self.results:
            total += counts
        return total


@dataclass(frozen=True)
class RoundEnd:
    """How things stood when a round had ended."""

    number: int
    values: Values
    """The set at the centre when it began, or the trial's."""
    counts: Pentanomial
    """From the view of each settings pair's first set."""
    elo: float
    """What the model of the time made of ``values`` against the base; of a trial, its own observed Elo.

    Infinite of a trial that won or lost every pair.
    """
    total_pairs: int
    """Of the study so far."""
    deviation: float | None = None
    """Standard deviation of ``elo`` by the model of the time.

    ``None`` of a trial, and of a round that another worker of a shared study played with an older version.
    """


@dataclass(frozen=True)
class StudyResult:
    """How a run of a study ended."""

    spec: TuningSpec
    directory: Path
    rounds: tuple[RoundEnd, ...]
    planned_rounds: int
    games: int
    """Games in the store."""
    interrupted: bool = False
    """Whether something was left to be played; ``decision`` is then the best that is known so far."""
    waiting_for: tuple[int, ...] = ()
    """Rounds that other workers of a shared study are still playing."""
    stopped_early: bool = False
    """Whether the study ended before its budget because little was left to gain."""
    decision: Decision | None = None
    model: ResponseModel | None = None
    observations: Observations | None = None
    verdicts: tuple[Verdict, ...] = ()
    """Of the validations in turn; none if the recommendation is the base itself."""
    preset: Path | None = None
    """Where a validated recommendation was written."""
    planned: int = 0
    """Games of the rounds and the playoff, at most."""
    study_games: int = 0
    """How many of these are stored."""
    games_before_validation: int = 0
    """Games in the store that no validation played, be it of an earlier recommendation."""
    further: tuple[Verdict, ...] = ()
    """Of validations that were asked for apart from the study, as far as they came."""
    digest: str = ""
    """Digest of all games."""
    engine: str = ""
    """Identity of the engine, or of several: ``arena.run.engines_of``."""
    faults: tuple[FaultCount, ...] = ()
    """What players forfeited games by."""
    caveats: Caveats = NO_CAVEATS
    own_seconds: float | None = None
    """Processor time of this run outside the games: of the thread that decides what is played and keeps the books.
    ``None`` where it was only read again."""
    games_seconds: float | None = None
    """Processor time of all its other threads, which play the built-in engine's games."""

    @property
    def recommended(self) -> dict[str, Value]:
        """The recommended values by name."""
        assert self.decision is not None
        return dict(zip(self.spec.space.names, self.decision.values, strict=True))

    @property
    def confirmed(self) -> bool:
        """Whether every validation speaks for the recommendation."""
        return not self.interrupted and bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def exit_code(self) -> int:
        """0 if a gain was confirmed, 3 if not, 130 after an interruption.

        1 while other workers play, and if a gain was confirmed and players forfeited games by faults.
        """
        if self.interrupted:
            return 130
        if self.waiting_for:
            return 1
        return int(any(fault.lost for fault in self.faults)) if self.confirmed else 3
