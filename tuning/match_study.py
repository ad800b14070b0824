"""Tuning by any match of two sets of values, such as a command's or a function's, instead of elolab's own games.

The matches, one line of JSON each in the run's folder, are authoritative: a run repeats its search from the start, and
plays only those that are not stored. The next matches depend only on the specification and the earlier ones. So a run
that was stopped ends as if it had not been, and Optuna's study is rebuilt for its dashboard.
"""

from __future__ import annotations

import io
import json
import math
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

import optuna

from elolab.arena.files import OTHER_FOLDER, replace_file
from elolab.arena.play.store import GAMES_ELSEWHERE
from elolab.arena.provenance.status import Conclusion
from elolab.arena.run import Purpose, Run, differences, plain, told_setting
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.numbers import signed
from elolab.arena.tournament_reader import folder_name
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue, console
from elolab.engine.settings.parameters import Value
from elolab.engine.settings.schema import Table
from elolab.tuning.conditions import describe
from elolab.tuning.match_command import MatchCommand
from elolab.tuning.paired import Confirmation, Match, PairedObjective, counts_of, decision_of
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import SHARE, Decision
from elolab.tuning.study.result import DEVIATION_ATTRIBUTE, RoundEnd
from elolab.tuning.study.rounds.pairs_of_settings import game_pairs_per_settings_pair
from elolab.tuning.study.sampler import (
    RESULTS_ATTRIBUTE,
    ReproducibleSampler,
    SpsaSampler,
    check_sampler,
    distribution_of,
)
from elolab.tuning.study.space import Space, read_options
from elolab.tuning.study.storage import STUDY_NAME, folder_storage
from elolab.tuning.study.study_spec import (
    COMMAND_PAIRS,
    DEFAULT_ROUND_PAIRS,
    DEFAULT_TRIALS,
    MAX_SEARCH,
    MIN_ITERATIONS,
    MIN_PAIRS,
    MIN_ROUNDS,
    PAIRED_SAMPLERS,
    SPSA_PAIRS,
    STARTUP_TRIALS,
    STUDY,
    TRIALS_SEARCH,
    refuse_spsa_keys,
)
from elolab.tuning.study.validation.gain_test import POWERS, GainTest

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

KEYS = (
    "name", "description", "command", "match_pairs", "dimensions", "constraints", "budget", "sampler", "round_pairs",
    "seed",
)  # fmt: skip
MATCH_STUDY = STUDY.only(KEYS)
"""The keys of a study by matches; the other keys of ``STUDY`` are about elolab's own games."""
PROGRESS_LINES = 20
"""Largest number of progress lines of a search."""
MATCHES_NAME, RECOMMENDED_NAME = "matches.jsonl", "recommended.json"
KIND, FILE_METADATA = "tuning by matches", "file of a tuning by matches"
"""The kind of run, and the metadata entry with the contents of its file and the file's name."""


@dataclass(frozen=True)
class MatchSpec:
    """The specification of a study by matches."""

    name: str
    command: str
    """The command that plays a match; empty if a function does."""
    space: Space
    games: int
    """Budget in games, for search, playoff and confirmation."""
    sampler: str
    match_pairs: int
    """Game pairs of a match, or fewer."""
    round_pairs: int
    """Game pairs of a trial."""
    seed: int
    source: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """The contents of the file that were read."""

    @property
    def is_paired(self) -> bool:
        """Whether the sampler plays pairs of settings against each other, instead of trials against the base."""
        return self.sampler in PAIRED_SAMPLERS

    @property
    def search_pairs(self) -> int:
        """Largest number of game pairs of the search and the playoff."""
        return round(self.games / 2 * (MAX_SEARCH if self.sampler == "duel" else TRIALS_SEARCH))

    @property
    def trials(self) -> int:
        """Largest number of trials."""
        return max(1, int(self.search_pairs * (1 - SHARE)) // self.round_pairs)

    def content(self) -> dict[str, Any]:
        """Everything that determines the matches, as plain data."""
        return {
            "command": self.command,
            "budget": {"games": self.games},
            "sampler": self.sampler,
            "match_pairs": self.match_pairs,
            "round_pairs": self.round_pairs,
            "seed": self.seed,
            "base": dict(self.space.base),
            "constraints": list(self.space.constraints),
            "dimensions": {dimension.name: dimension.content() for dimension in self.space.dimensions},
        }


@dataclass(frozen=True)
class MatchResult:
    """The result of a study by matches; ``None`` for what an interruption has prevented."""

    spec: MatchSpec
    directory: Path
    rounds: tuple[RoundEnd, ...]
    """The trials; their Elo is the one at that time."""
    decision: Decision | None = None
    model: ResponseModel | None = None
    observations: Observations | None = None
    confirmation: Confirmation | None = None
    """The test of the recommendation; ``None`` if it is the base."""
    interrupted: bool = False
    """Whether the study was stopped before its end; ``decision`` is then the best so far."""

    @property
    def recommended(self) -> dict[str, Value]:
        """The recommended values by name."""
        assert self.decision is not None
        return dict(zip(self.spec.space.names, self.decision.values, strict=True))

    @property
    def confirmed(self) -> bool:
        """Whether a gain is confirmed."""
        return self.confirmation is not None and self.confirmation.is_confirmed

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0 if a gain is confirmed, 3 if not, 130 after an interruption."""
        return 130 if self.interrupted else 0 if self.confirmed else 3


def read_match_study(data: Mapping[str, Any], where: str) -> MatchSpec:
    """Read a study by matches, with all checks; raises ``UserError`` with one line for the first mistake."""
    foreign = next((key for key in data if key in STUDY and key not in MATCH_STUDY), None)
    if foreign is not None:
        raise UserError(
            f"{where}: {foreign} is about elolab's own games, which a study with a command has none of; leave it out"
        )
    table = Table(data, where, MATCH_STUDY, kind="tuning")
    space, budget, sampler = read_options(table), table.table("budget"), table["sampler"]
    if list(budget.data) != ["games"]:
        raise table.error("budget", "{ games = N }")
    check_sampler(sampler, where)
    refuse_spsa_keys(space, sampler, where)
    games = budget["games"]
    if games < 2 * MIN_PAIRS:
        raise UserError(f"{where}: budget: games = {games}, expected at least {2 * MIN_PAIRS}")
    pairs = round(games / 2 * (MAX_SEARCH if sampler == "duel" else TRIALS_SEARCH) * (1 - SHARE))
    round_pairs = table.get("round_pairs", _round_pairs(sampler, pairs), high=pairs)
    each = table.get("match_pairs", game_pairs_per_settings_pair(games) if sampler == "duel" else COMMAND_PAIRS)
    each = min(each, round_pairs)
    return MatchSpec(
        name=folder_name(table, PurePath(where).stem), command=table.get("command", ""), space=space, games=games,
        sampler=sampler, match_pairs=each, round_pairs=round_pairs // each * each, seed=table["seed"], source=where,
        data=data,
    )  # fmt: skip


def _round_pairs(sampler: str, pairs: int) -> int:
    """Default number of game pairs of a trial in a search of so many."""
    if sampler == "duel":
        return min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS))
    return min(SPSA_PAIRS, max(1, pairs // MIN_ITERATIONS)) if sampler == "spsa" else max(1, pairs // DEFAULT_TRIALS)


class StoredMatches:
    """The matches of a folder; called like a match, it plays those that are not stored, from any thread."""

    def __init__(self, spec: MatchSpec, match: Match, file: Path, stop: StopFlag) -> None:
        """Read the file, or begin it; raises ``UserError`` if it belongs to another study.

        Once ``stop`` is set, a call for a match that is not stored raises ``KeyboardInterrupt``.
        """
        self._match, self._stop, self._lock = match, stop, threading.Lock()
        self.games = 0
        """Number of games of the stored matches."""
        self._stored: dict[str, list[int]] = {}
        whole, header = b"", json.dumps({"study": plain(spec.content())}, ensure_ascii=False)
        if file.is_file():
            content = file.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]  # a killed process may have left a part of a line
        lines = whole.decode("utf-8").splitlines()
        try:
            recorded = json.loads(lines[0])["study"] if lines else None
            for line in lines[1:]:
                entry = json.loads(line)
                self._stored[_key(entry["a"], entry["b"], entry["pairs"], entry["seed"])] = entry["counts"]
                self.games += 2 * sum(entry["counts"])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{file}: its matches cannot be read ({error})", f"remove it, or {OTHER_FOLDER}") from None
        for path, old, new in differences(recorded, json.loads(header)["study"]) if recorded is not None else ():
            raise UserError(
                f"{file}: holds matches of another study: {path} = {told_setting(old)} there, {told_setting(new)} now",
                OTHER_FOLDER,
            )
        self._stream: IO[bytes] = open(file, "r+b" if file.is_file() else "w+b")  # noqa: SIM115 (closed by ``close``)
        self._stream.truncate(len(whole))
        self._stream.seek(len(whole))
        if recorded is None:
            self._write(header)

    def __len__(self) -> int:
        return len(self._stored)

    def __call__(self, one: dict[str, Value], other: dict[str, Value], pairs: int, seed: int) -> list[int]:
        """The outcomes of a match, stored ones or new ones."""
        key = _key(one, other, pairs, seed)
        if key not in self._stored:
            if self._stop.is_set():
                raise KeyboardInterrupt
            counts = list(counts_of(self._match(dict(one), dict(other), pairs, seed), pairs, seed).counts)
            entry = {"a": plain(one), "b": plain(other), "pairs": pairs, "seed": seed, "counts": counts}
            with self._lock:
                self._write(json.dumps(entry, ensure_ascii=False))
                self._stored[key] = counts
                self.games += 2 * sum(counts)
        return self._stored[key]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._stream.close()

    def _write(self, line: str) -> None:
        self._stream.write(line.encode("utf-8") + b"\n")
        self._stream.flush()


def _key(one: Mapping[str, Value], other: Mapping[str, Value], pairs: int, seed: int) -> str:
    return json.dumps([plain(one), plain(other), pairs, seed])


def tune_by_matches(
    spec: MatchSpec, directory: Path, match: Match | None = None, *, concurrency: int = 1,
    progress: Callable[[str], None] = lambda text: None, stop: StopFlag | None = None,
) -> MatchResult:  # fmt: skip
    """Run or resume a study by matches in its folder: search, playoff and confirmation, within the budget.

    ``match`` is a function, by default the specification's command; ``concurrency`` is the number of matches at a time,
    which affects only the duration. Ctrl-C, SIGTERM and ``stop`` end the study, and the result is what is known.
    Raises ``UserError`` if the folder belongs to another run or is in use, and for a match that fails.
    """
    purpose = Purpose(KIND, spec.content(), spec.source, more={FILE_METADATA: [plain(spec.data), spec.source]})
    options: Any = {"concurrency": concurrency, "stop": stop, "stream": io.StringIO(), "accept_engine_change": True}
    with Run(directory, purpose, **options) as run, ExitStack() as resources:
        played = MatchCommand(spec.command, spec.source, run.stop) if match is None else match
        matches = StoredMatches(spec, played, directory / MATCHES_NAME, run.stop)
        resources.callback(matches.close)
        resources.callback(_count, run, matches, spec)
        pool = ThreadPoolExecutor(concurrency, "match")
        resources.callback(pool.shutdown, wait=True, cancel_futures=True)
        resources.push(lambda kind, *error: run.stop.set() if kind else None)  # ends the matches beside one that failed
        _count(run, matches, spec)

        def show(text: str) -> None:
            _count(run, matches, spec)
            progress(text)

        result = _played(spec, directory, matches, pool, show)
        run.is_interrupted = result.interrupted
        if not result.interrupted:
            run.conclusion = Conclusion("confirmed" if result.confirmed else "not confirmed")
        if result.decision is not None:
            values = json.dumps(result.recommended, ensure_ascii=False, indent=1)
            replace_file(directory / RECOMMENDED_NAME, values + "\n")
    return result


def _count(run: Run, matches: StoredMatches, spec: MatchSpec) -> None:
    """Record and publish the number of games played so far."""
    run.has_other_results = len(matches) > 0
    run.store.record_metadata({GAMES_ELSEWHERE: matches.games})
    run.progress.planned, run.progress.done, run.progress.is_bound = spec.games, matches.games, True
    run.progress.publish()


def _played(
    spec: MatchSpec, directory: Path, matches: StoredMatches, pool: ThreadPoolExecutor, progress: Callable[[str], None]
) -> MatchResult:
    say = console("elolab.tuning")
    distributions = {dimension.name: distribution_of(dimension) for dimension in spec.space.dimensions}
    objective = PairedObjective(
        matches, spec.space, spec.space.default, pairs_per_trial=spec.round_pairs, pairs_per_match=spec.match_pairs,
        seed=spec.seed, map_matches=pool.map,
    )  # fmt: skip
    sampler: optuna.samplers.BaseSampler = objective.sampler()
    if spec.sampler == "spsa":
        sampler = SpsaSampler(spec.space, spec.trials * spec.round_pairs, spec.seed)
    elif spec.sampler != "duel":
        sampler = ReproducibleSampler(spec.sampler, spec.seed, distributions, STARTUP_TRIALS)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    (directory / STUDY_NAME).unlink(missing_ok=True)
    storage = folder_storage(directory)
    study = optuna.create_study(storage=storage, study_name=spec.name, direction="maximize", sampler=sampler)
    total, decision, confirmation, is_stopped = spec.games // 2, None, None, False
    try:
        for number in range(spec.trials):
            if spec.sampler == "duel" and objective.is_time_to_confirm(total):
                break
            study.optimize(objective, n_trials=1)
            if (number + 1) % math.ceil(spec.trials / PROGRESS_LINES) == 0:
                progress(say("match_study.trial", number=number + 1, trials=spec.trials, matches=len(matches)))
        searched = len(study.get_trials(deepcopy=False)) * spec.round_pairs
        playoff = max(3, round(searched * SHARE / (1 - SHARE)))
        decision = decision_of(objective, study, playoff)
        if not decision.is_base:
            left = max(1, total - searched - playoff)
            progress(say("match_study.confirming", pairs=left))
            confirmation = objective.confirm(dict(zip(spec.space.names, decision.values, strict=True)), left)
    except KeyboardInterrupt:
        is_stopped = True
        if decision is None and len(objective.observations):
            decision = decision_of(objective, study)
    rounds: list[RoundEnd] = []
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)):
        values = tuple(trial.params[name] for name in spec.space.names)
        played = [Pentanomial(tuple(counts)) for *_, counts in trial.user_attrs[RESULTS_ATTRIBUTE]]
        deviation = trial.user_attrs.get(DEVIATION_ATTRIBUTE)
        counts, before = sum(played, Pentanomial((0, 0, 0, 0, 0))), rounds[-1].total_pairs if rounds else 0
        elo = float(trial.value or 0.0)
        rounds.append(RoundEnd(trial.number, values, counts, elo, before + counts.pairs, deviation))
    return MatchResult(
        spec, directory, tuple(rounds), decision, objective.model, objective.observations, confirmation, is_stopped
    )  # fmt: skip


def match_plan(spec: MatchSpec, language: str | None = None) -> str:
    """The planned matches of a study and the gains that they confirm, as text; by default in the console's language."""
    say = _words(language)
    left = max(1, spec.games // 2 - spec.search_pairs)
    test = GainTest(left)
    gains = say("dry_run.comma").join(
        say("reach.gain", elo=math.ceil(test.confirmed_gain(power)), percent=f"{100 * power:.0f}") for power in POWERS
    )
    plan = say("match_study.plan", trials=spec.trials, pairs=spec.round_pairs, each=spec.match_pairs)
    return f"{plan}\n{say('reach.gains', pairs=left, gains=gains)}"


def match_text(result: MatchResult, language: str | None = None) -> str:
    """The outcome of a study by matches as text; by default in the console's language."""
    lines, confirmed = match_sentences(result, language), result.confirmation
    if confirmed is not None:
        lines.insert(2, _words(language)("console.pentanomial", counts=" ".join(map(str, confirmed.counts))))
    return "\n".join(lines)


def match_sentences(result: MatchResult, language: str | None = None) -> list[str]:
    """The outcome of a study by matches in sentences; by default in the console's language."""
    say, found, confirmed = _words(language), result.decision, result.confirmation
    if found is None:
        return [say("match_study.unknown")]
    stopped = [say("match_study.stopped")] if result.interrupted else []
    if found.is_base:
        return [say("match_study.base"), *stopped]
    low, high = map(signed, found.interval())
    values = describe(result.recommended)
    lines = [say("match_study.found", gain=signed(found.gain), values=values, low=low, high=high), *stopped]
    if confirmed is not None:
        key = "confirmed" if confirmed.is_confirmed else "not_confirmed"
        interval = {"low": signed(confirmed.elo_low), "high": signed(confirmed.elo_high)}
        lines.append(say(f"match_study.{key}", elo=signed(confirmed.elo), pairs=sum(confirmed.counts), **interval))
        if confirmed.pairs_needed is not None:
            lines.append(say("match_study.needed", pairs=confirmed.pairs_needed))
    return lines


def match_data(result: MatchResult, report: Path | None = None) -> dict[str, Any]:
    """The outcome of a study by matches, and the path of its report, as plain data for JSON."""
    found, recommended = result.decision, None
    if found is not None:
        low, high = found.interval()
        recommended = {
            "values": result.recommended, "is_base": found.is_base, "elo": found.gain, "low": low, "high": high,
        }  # fmt: skip
    return {
        "recommended": recommended,
        "confirmation": None if result.confirmation is None else asdict(result.confirmation),
        "trials": [
            {"values": dict(zip(result.spec.space.names, end.values, strict=True)), "elo": end.elo,
             "pairs": result.spec.round_pairs}
            for end in result.rounds
        ],
        "interrupted": result.interrupted,
        "report": None if report is None else str(report),
    }  # fmt: skip


def _words(language: str | None) -> Catalogue:
    return console("elolab.tuning") if language is None else Catalogue("elolab.tuning", language)
