"""The result of a study, and of each of its rounds."""

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

DEVIATION_ATTRIBUTE = "deviation"
"""The trial attribute with ``RoundEnd.deviation``."""


@dataclass(frozen=True)
class RoundResult:
    """A finished round."""

    number: int
    values: Values
    """The set at the centre at the round's start; for samplers other than ``duel``, the trial's set."""
    results: tuple[tuple[SettingsPair, Pentanomial], ...]
    elo: float | None = None
    """The recorded ``RoundEnd.elo``; ``None`` for a round that is ending now."""
    deviation: float | None = None
    """The recorded ``RoundEnd.deviation``; ``None`` for a round that is ending now."""

    @property
    def counts(self) -> Pentanomial:
        """Outcomes of all its pairs, from the view of each settings pair's first set."""
        return sum((counts for _, counts in self.results), Pentanomial((0, 0, 0, 0, 0)))


@dataclass(frozen=True)
class RoundEnd:
    """The state of a study at the end of a round."""

    number: int
    values: Values
    """The set at the centre at the round's start, or the trial's set."""
    counts: Pentanomial
    """Outcomes from the view of each settings pair's first set."""
    elo: float
    """Elo of ``values`` relative to the base, by the model at that time; for a trial, its observed Elo.

    Infinite for a trial that won or lost every pair.
    """
    total_pairs: int
    """Pairs of the study so far."""
    deviation: float | None = None
    """Standard deviation of ``elo`` by the model at that time.

    ``None`` for a trial, and for a round played by another worker with an older version.
    """


@dataclass(frozen=True)
class StudyResult:
    """The result of a study's run."""

    spec: TuningSpec
    directory: Path
    rounds: tuple[RoundEnd, ...]
    planned_rounds: int
    games: int
    """Games in the store."""
    interrupted: bool = False
    """Whether games were left unplayed; ``decision`` is then the best known so far."""
    waiting_for: tuple[int, ...] = ()
    """Rounds in progress at other workers of a shared study."""
    stopped_early: bool = False
    """Whether the study ended before its budget because little was left to gain."""
    decision: Decision | None = None
    model: ResponseModel | None = None
    observations: Observations | None = None
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of the validations; empty if the base is recommended."""
    preset: Path | None = None
    """The preset file of a validated recommendation."""
    planned: int = 0
    """Maximum games of the rounds and the playoff."""
    study_games: int = 0
    """Stored games of the rounds and the playoff."""
    games_before_validation: int = 0
    """Stored games outside validations, including playoffs of earlier recommendations."""
    further: tuple[Verdict, ...] = ()
    """Verdicts so far of validations requested separately from the study."""
    digest: str = ""
    """Digest of all games."""
    engine: str = ""
    """Identity of the engine, or of several: ``arena.run.engines_of``."""
    faults: tuple[FaultCount, ...] = ()
    """Faults by which players forfeited games."""
    caveats: Caveats = NO_CAVEATS
    own_seconds: float | None = None
    """Processor seconds of the thread that schedules and records games; ``None`` if the result was only read."""
    games_seconds: float | None = None
    """Processor seconds of all other threads, which play the built-in engine's games."""

    @property
    def recommended(self) -> dict[str, Value]:
        """The recommended values by name."""
        assert self.decision is not None
        return dict(zip(self.spec.space.names, self.decision.values, strict=True))

    @property
    def confirmed(self) -> bool:
        """Whether every validation passed."""
        return not self.interrupted and bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def exit_code(self) -> int:
        """0 if a gain was confirmed, 3 if not, 130 after an interruption.

        1 while other workers play, and if a gain was confirmed but players forfeited games by faults.
        """
        if self.interrupted:
            return 130
        if self.waiting_for:
            return 1
        return int(any(fault.lost for fault in self.faults)) if self.confirmed else 3
