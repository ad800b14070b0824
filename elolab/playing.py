"""Functions to play matches, tournaments and bisections from Python."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from elolab.arena.builds.repository import Commit, Repository, split_source
from elolab.arena.keys.engines_file import engines_file
from elolab.arena.keys.player import REFERENCE, SOURCE, keys_of
from elolab.arena.play import tournament_run
from elolab.arena.play.store import Store
from elolab.arena.player_spec import MAX_NAME_LENGTH, PlayerReader, name_players, player_entry
from elolab.arena.players.detect import ProtocolFinder
from elolab.arena.players.registry import protocols
from elolab.arena.records import BUILTIN
from elolab.arena.run import RunOptions
from elolab.arena.statistics.match_statistics import figures_of_match
from elolab.arena.statistics.placing import placing_of
from elolab.arena.statistics.standings import Tables, tables_of
from elolab.arena.testing.bisection import Bisection
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.arguments import naming_arguments, path_text, specified
from elolab.documented import documented
from elolab.engine.errors import UserError
from elolab.engine.games import DEFAULT_GAME
from elolab.engine.language import DEFAULT_LANGUAGE
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import by_canonical_name
from elolab.engine.settings.presets import preset_name
from elolab.runs import (
    SPECIFICATION_NAME,
    FolderLike,
    PlayedGames,
    RunFolder,
    Specification,
    kept_specification,
    read_specification,
    run_options,
)
from elolab.tuning.conditions import describe, short_name

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pandas import DataFrame

Player = str | os.PathLike[str] | Mapping[str, Any]
"""A player: a preset's name, a TOML file, settings of the built-in engine, or a ``[[players]]`` table's contents."""

DEFAULT_PAIRS = 100


@documented
@dataclass(frozen=True, eq=False)
class PlayedMatch(PlayedGames):
    """The result of a match; every number is from the point of view of ``a``."""

    a: str
    """Name of the player given as ``a``."""
    b: str
    planned: int
    """Planned number of games. If a sequential test ended the match early, the number of games until then."""
    interrupted: bool
    """Whether Ctrl-C ended the games early; the same call with the same ``folder`` resumes them."""
    forfeits: int
    """Number of games lost by a fault such as a crash or an illegal move; ``faults`` has players and reasons."""
    pairs: int
    """Number of complete game pairs: one opening played twice, with colours swapped."""
    pentanomial: tuple[int, ...]
    """Number of game pairs by outcome for ``a``, in five classes: both games lost; one lost and one drawn; one won and
    one lost, or both drawn; one drawn and one won; both won."""
    score: float
    """Mean points of ``a`` per game, from 0 to 1."""
    elo: float
    elo_low: float
    """Lower bound of the 95 % interval of ``elo``; ``elo_high`` is the upper bound. Both are computed as for a
    match of fixed length."""
    elo_high: float
    normalized_elo: float
    los: float
    """Likelihood of superiority: the probability that ``a`` is the stronger player, from 0 to 1."""
    llr: float | None
    """Log-likelihood ratio of the sequential test; ``None`` for a match without such a test."""
    verdict: str | None
    """Outcome of the sequential test: ``H1 accepted``, ``H0 accepted`` or ``undecided``; ``None`` without a test."""
    figures: dict[str, Any] = field(repr=False)
    """Statistics of the match by name, as printed by ``elolab match --json`` and ``elolab sprt --json``. After a
    sequential test also ``unbiased_elo``, ``unbiased_elo_low`` and ``unbiased_elo_high``, corrected for optional
    stopping."""
    _run_folder: RunFolder = field(repr=False)


@documented
@dataclass(frozen=True, eq=False)
class PlayedTournament(PlayedGames):
    """The result of a tournament."""

    name: str
    planned: int
    """Planned number of games."""
    stored: int
    """Number of games played."""
    interrupted: bool
    """Whether Ctrl-C ended the games early; the same call with the same ``folder`` resumes them."""
    forfeits: int
    """Number of games lost by a fault such as a crash or an illegal move; ``faults`` has players and reasons."""
    unavailable: dict[str, str]
    """Reason why a player could not be started, by player's name; games of these players were not played."""
    standings: DataFrame = field(repr=False)
    """One row per player, best first: ``rank``, ``player``, ``points``, ``games``, ``wins``, ``draws``, ``losses``.
    ``rating`` is in Elo relative to the mean of the player's group, or to anchors; ``rating_error`` is half the width
    of its 95 % interval. ``score`` is in points per game. ``pairs`` counts complete game pairs, the columns ``LL`` to
    ``WW`` count them by outcome, and ``single_games`` counts the other games. ``mean_depth`` (plies), ``mean_nodes``
    and ``mean_time_ms`` are means per move. ``group`` is the number of the player's group, from 1; no game connects
    players of different groups."""
    crosstable: DataFrame = field(repr=False)
    """One row per ordered pair of players who met, for ``player`` against ``opponent``: ``games``, ``wins``, ``draws``,
    ``losses``, ``score`` (points per game). ``pairs`` counts game pairs, the columns ``LL`` to ``WW`` count them by
    outcome, and ``pairs_ratio`` is pairs won divided by pairs lost. ``elo`` is the Elo difference, with the error
    ``elo_error`` and the 95 % interval ``elo_low`` to ``elo_high``. ``los`` is the probability, 0 to 1, that ``player``
    is the stronger.
    """
    endings: DataFrame = field(repr=False)
    """One row per ``reason`` for which games ended: the number of ``games``, and how many of them ended as
    ``first_won``, ``drawn`` and ``second_won``.
    """
    placing: DataFrame | None = field(repr=False)
    """Places in a Swiss tournament or a knockout after the complete rounds, one row per player, best first; ``None``
    for other formats. Columns are ``place``, ``player`` and ``seed``. A Swiss tournament adds ``points``, the
    tie-breaks ``buchholz``, ``sonneborn_berger``, ``direct_encounter`` and ``game_points``, and a column for each
    round. A knockout adds the last round ``reached``, ``encounters_won`` and ``game_points``.
    """
    _run_folder: RunFolder = field(repr=False)


@documented
@dataclass(frozen=True, eq=False)
class PlayedBisection:
    """The result of a bisection."""

    suspects: tuple[str, ...]
    """Full names of the commits that may be the first bad one.

    There is one if it was found, and none if the last commit is good. There are several if commits next to it were
    skipped, or if the bisection has not ended.
    """
    finished: bool
    """Whether the search is complete: false after Ctrl-C, and after a test that ended without a verdict."""
    steps: DataFrame = field(repr=False)
    """One row per tested or skipped commit, in order: ``commit``, ``subject``, ``date``, ``verdict`` (``good``,
    ``bad``, ``skipped`` or ``undecided``) and ``games``. ``elo`` is the commit's Elo against the reference, with the
    95 % interval ``elo_low`` to ``elo_high``; all three are corrected for optional stopping. A positive ``llr``
    supports H1: the reference is stronger. ``folder`` is the name of the folder with the games. ``reason`` explains why
    the commit was skipped.
    """
    _run_folder: RunFolder = field(repr=False)

    @property
    def folder(self) -> Path:
        """The folder, with one run's folder for each step. A temporary folder is deleted together with this object."""
        return self._run_folder.path


@naming_arguments("folder")
def play_match(
    a: Player,
    b: Player,
    *,
    game: str = DEFAULT_GAME,
    limit: str = "nodes=1000",
    pairs: int | None = None,
    openings: str | os.PathLike[str] | None = None,
    seed: int = 1,
    sprt: Mapping[str, Any] | bool = False,
    folder: FolderLike | None = None,
    concurrency: int = 1,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
    progress: TextIO | None = None,
    accept_engine_change: bool = False,
) -> PlayedMatch:
    """Play ``a`` against ``b``: every opening twice, with colours swapped.

    - ``a`` and ``b``: the name of a preset such as ``"fenon"``, a TOML file, settings of the built-in engine such as
      ``{"null_move": False}``, or the contents of a tournament's ``[[players]]`` table. Tables are ``{"name": "mine",
      "preset": "fenon", "set": {...}}`` or ``{"name": "other", "protocol": "uci", "command": ["./other"]}``.
    - ``game``: ``xiangqi``, ``othello`` or ``chess``.
    - ``limit``: per move, for players without a limit of their own: ``nodes=1000``, ``depth=6``, ``move_time=0.1``
      (seconds); or per game: ``clock=10+0.1`` (seconds and increment).
    - ``pairs``: number of openings, 100 by default. With a sequential test the maximum, by default the whole suite.
    - ``openings``: a suite's name or file; by default the game's own suite.
    - ``seed``: determines the order of the openings.
    - ``sprt``: ``True`` for a sequential test, which ends the match once the result is clear, or its settings:
      ``{"elo0": 0, "elo1": 10, "alpha": 0.05, "beta": 0.05, "model": "normalized", "batch_pairs": 32}``.
    - ``folder``: folder that keeps the games. The same call resumes the match, and more ``pairs`` extend it. Without a
      folder, a temporary one lives as long as the result.
    - ``concurrency``: number of simultaneous games. It does not affect games limited by nodes or depth.
    - ``cluster``: plays on other machines or processes. It is the address of a Dask scheduler
      (``"tcp://192.168.1.5:8786"``), or an executor of ``concurrent.futures``, which plays ``concurrency`` chunks of
      games at a time.
    - ``wall_clock_on_cluster``: permits limits in seconds on a cluster, although other load may disturb clocks there.
    - ``progress``: a text stream such as ``sys.stderr`` for progress lines; ``None`` for silence.
    - ``accept_engine_change``: whether to resume a folder whose games another version of the engine, or of a player's
      program, played.

    Raises ``UserError`` for wrong input, for a program that cannot be started, and for a folder that holds something
    else. Ctrl-C ends the match early and sets ``interrupted`` in the result; a second Ctrl-C raises KeyboardInterrupt.
    """
    options = run_options(concurrency, progress, accept_engine_change, cluster, wall_clock_on_cluster)
    run_folder = RunFolder(folder)
    spec, content = _match_of(
        (a, b), run_folder.path, game=game, limit=limit, pairs=pairs, openings=openings, seed=seed, sprt=sprt
    )
    result, tables = _played(spec, content, run_folder.path, options)
    if result.unavailable:
        raise _unavailable(result.unavailable)
    figures = figures_of_match(tables, result.sequential)
    one, other = (player.name for player in spec.players)
    return PlayedMatch(
        a=one,
        b=other,
        planned=result.planned,
        interrupted=result.interrupted,
        forfeits=sum(fault.lost for fault in tables.faults),
        pairs=figures["pairs"],
        pentanomial=tuple(tables.counter.between(0, 1).pentanomial().counts),
        figures=figures,
        llr=figures["llr"],
        verdict=figures.get("verdict"),
        _run_folder=run_folder,
        **{name: figures[name] for name in ("score", "elo", "elo_low", "elo_high", "normalized_elo", "los")},
    )


def expect_test(
    sprt: Mapping[str, Any] | None = None,
    *,
    pairs: int = 10_000,
    strengths: Sequence[float] | None = None,
    draws: float | None = None,
    pentanomial: Sequence[int] | None = None,
) -> DataFrame:
    """Compute the probabilities of a sequential test's verdicts, and its length, before it is played.

    - ``sprt``: settings as for ``play_match``, by default ``{"elo0": 0, "elo1": 5}``. ``pairs`` is the maximum length.
    - ``strengths``: true strengths of the first player, in the unit of the hypotheses: normalized Elo unless ``model``
      is ``logistic``. By default they range from below H0 to above H1.
    - ``draws``: expected share of drawn games, above 0 and below 1.
    - ``pentanomial``: instead of ``draws``, counts of an earlier match's pairs in the order of
      ``PlayedMatch.pentanomial``. Without both, a pair's mean score has a standard deviation of 0.3.

    Returns one row per strength: ``elo`` (logistic), ``normalized_elo``, the probabilities ``h1``, ``h0`` and
    ``undecided`` from 0 to 1, and the mean number of ``pairs``. Half of all tests end within ``median_pairs``, 95 %
    within ``late_pairs``. Raises ``UserError`` for wrong input.
    """
    from pandas import DataFrame

    from elolab.arena.testing.expectation import expectations, outcomes_of_draws, outcomes_of_pairs

    if draws is not None and pentanomial is not None:
        raise UserError("draws and pentanomial both describe the pairs", "give one of them")
    if draws is not None and not 0 < draws < 1:
        raise UserError(f"draws = {draws}, expected a share between 0 and 1")
    if pentanomial is not None and (len(pentanomial) != 5 or min(pentanomial) < 0 or not any(pentanomial)):
        raise UserError(f"pentanomial = {tuple(pentanomial)}, expected five counts of which one is above 0")
    spec = _test_of({"sprt": dict(sprt or {}), "pairs": pairs, "limit": "nodes=1"}, "expect_test")
    assert spec.sprt is not None
    outcomes = outcomes_of_pairs(pentanomial) if pentanomial is not None else None
    outcomes = outcomes_of_draws(draws) if draws is not None else outcomes
    return DataFrame(map(asdict, expectations(spec.sprt, spec.pairs, outcomes, strengths)))


@naming_arguments("folder")
def bisect(
    player: Mapping[str, Any],
    good: str,
    bad: str,
    *,
    reference: Player | None = None,
    sprt: Mapping[str, Any] | None = None,
    folder: FolderLike | None = None,
    game: str = DEFAULT_GAME,
    limit: str = "nodes=1000",
    pairs: int | None = None,
    openings: str | os.PathLike[str] | None = None,
    seed: int = 1,
    concurrency: int = 1,
    progress: TextIO | None = None,
) -> PlayedBisection:
    """Find the first commit between ``good`` and ``bad`` that is weaker, by a sequential test at each step.

    - ``player``: the engine as a ``[[players]]`` table whose ``source`` is a repository without a commit, such as
      ``{"source": "~/mine", "build": "make -j", "command": "./mine", "protocol": "uci"}``. An engine in
      ``engines.toml`` is given as ``{"engine": "mine"}``.
    - ``good`` and ``bad``: a commit, and a later one that is weaker, each by its hash, tag or branch.
    - ``reference``: the player that every commit meets; by default the good commit.
    - ``sprt``: settings of the tests as for ``play_match``. A commit is bad if H1 is accepted: the reference is
      stronger.
    - ``folder``: keeps the games of each step, ``bisect.json``, ``report.html``, ``report.md`` and ``status.json``; the
      same call resumes the bisection.

    All other arguments are as for ``play_match``. The last commit is tested first, then the middle of the remaining
    ones. Commits that cannot be built or started are skipped. Raises ``UserError`` for wrong input, and if the last
    commit or the reference cannot be built or started.
    """
    from pandas import DataFrame

    from elolab.arena.reports.testing.bisection_folder import BisectionFolder
    from elolab.arena.reports.testing.bisection_report import BisectionReport

    if not isinstance(player, Mapping) or not {SOURCE, REFERENCE} & player.keys():
        raise UserError(
            f"player = {player!r}, expected a [[players]] table with a repository",
            'such as {"source": "~/mine", "build": "make", "command": "./mine"}',
        )
    table = {key: value for key, value in specified(player).items() if key != "name"}
    good, bad = path_text(good, "good", "a commit"), path_text(bad, "bad", "a commit")
    entry = _at(table, good)
    if REFERENCE in entry:
        entry = engines_file(None, Path()).entry(entry[REFERENCE], "bisect")
    repository = Repository(split_source(entry[SOURCE])[0])
    first = repository.commit(good)
    commits = repository.line(first.name, repository.commit(bad).name)
    conditions: dict[str, Any] = {
        "game": game,
        "limit": limit,
        "pairs": pairs,
        "openings": openings,
        "sprt": dict(sprt or {}),
    }
    test = _test_of(conditions, "bisect")
    assert test.sprt is not None
    run_folder = RunFolder(folder)
    report = BisectionReport(repository.place, first, "", test.sprt, test.pairs, Bisection(commits, {}), (), "")
    strong = _at(table, first.name) if reference is None else reference
    options = run_options(concurrency, progress, False)

    def play(commit: Commit, step_folder: Path) -> tuple[str, tournament_run.TournamentResult]:
        spec, content = _match_of((strong, _at(table, commit.name)), step_folder, seed=seed, **conditions)
        return spec.players[0].name, _run(spec, content, step_folder, options)

    with BisectionFolder(run_folder.path, report, DEFAULT_LANGUAGE) as kept:
        for _ in kept.search(play):
            pass
    report = kept.report
    suspects = tuple(suspect.name for suspect in report.bisection.suspects)
    return PlayedBisection(suspects, report.is_finished, DataFrame([step.data() for step in report.steps]), run_folder)


def _test_of(conditions: Mapping[str, Any], where: str) -> TournamentSpec:
    """The specification of a sequential test between two placeholder players, ``A`` and ``B``.

    ``conditions`` has keys of a tournament's file; ``None`` stands for the default. Error messages begin with
    ``where``.
    """
    content = {"format": "sprt", "players": [{"name": "A"}, {"name": "B"}], **conditions}
    return spec_from_mapping(specified({key: value for key, value in content.items() if value is not None}), where)


@naming_arguments("folder")
def play_tournament(
    specification: Specification,
    *,
    folder: FolderLike | None = None,
    concurrency: int = 1,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
    progress: TextIO | None = None,
    accept_engine_change: bool = False,
) -> PlayedTournament:
    """Play a tournament and rate its players.

    ``specification`` is a TOML file as ``elolab tournament`` reads it, the name of a shipped one, or a mapping with the
    contents of such a file. ``folder``, ``concurrency``, ``cluster``, ``wall_clock_on_cluster``, ``progress`` and
    ``accept_engine_change`` are as for ``play_match``.

    The same call with the same folder plays only missing games; the specification may gain players and pairs.

    Raises ``UserError`` for wrong input and for a folder that holds something else. If a player cannot be started, the
    result's ``unavailable`` names it. In a new folder, if no game can begin for that reason, ``UserError`` is raised.
    """
    options = run_options(concurrency, progress, accept_engine_change, cluster, wall_clock_on_cluster)
    run_folder = RunFolder(folder)
    finder = ProtocolFinder(tournament_run.players_in(run_folder.path))
    read = partial(spec_from_mapping, finder=finder)
    spec = read_specification(specification, "tournaments", "tournament", read)
    content = specification if isinstance(specification, Mapping) else None
    result, tables = _played(spec, content, run_folder.path, options)
    return PlayedTournament(
        name=spec.name,
        planned=result.planned,
        stored=result.stored,
        interrupted=result.interrupted,
        forfeits=sum(fault.lost for fault in tables.faults),
        unavailable=result.unavailable,
        standings=tables.standings_frame(),
        crosstable=tables.crosstable_frame(),
        endings=tables.endings_frame(),
        placing=_placing(spec, run_folder.path),
        _run_folder=run_folder,
    )


def _match_of(
    players: tuple[Player, Player],
    folder: Path,
    *,
    game: str,
    limit: str,
    pairs: int | None,
    openings: str | os.PathLike[str] | None,
    seed: int,
    sprt: Mapping[str, Any] | bool,
) -> tuple[TournamentSpec, dict[str, Any]]:
    """The specification of a match, and the contents of its file; the arguments are as for ``play_match``."""
    if not isinstance(sprt, Mapping | bool):
        raise UserError(f"sprt = {sprt!r}, expected True, False or a mapping of its settings")
    limits = Limits.parse(limit)
    finder = ProtocolFinder(tournament_run.players_in(folder))
    reader = PlayerReader(game, limits, engines=engines_file(None, Path()), finder=finder)
    entries = [_entry(player, reader) for player in players]
    name_players(entries)
    kind = "match" if sprt is False else "sprt"
    content: dict[str, Any] = {"game": game, "format": kind, "seed": seed, "limit": str(limits), "players": entries}
    names = (str(entry.get("name", "engine")) for entry in entries)
    content["name"] = re.sub(r"[^\w.+-]+", "-", "-".join((kind, *names)))[:MAX_NAME_LENGTH]
    if pairs is not None or kind == "match":
        content["pairs"] = DEFAULT_PAIRS if pairs is None else pairs
    if openings is not None:
        content["openings"] = path_text(openings, "openings", "a suite's name or file")
    if isinstance(sprt, Mapping):
        content["sprt"] = dict(sprt)
    content = specified(content)
    return spec_from_mapping(content, kind, finder), content


def _unavailable(reasons: Mapping[str, str]) -> UserError:
    name, reason = next(iter(reasons.items()))
    return UserError(f"player {name!r} cannot be started: {reason}")


def _run(
    spec: TournamentSpec, content: Mapping[str, Any] | None, folder: Path, options: RunOptions
) -> tournament_run.TournamentResult:
    """Play the games that are missing in ``folder``; ``content`` is as for ``_played``."""
    if content is not None:
        spec = replace(spec, command=("tournament", str(folder / SPECIFICATION_NAME)))
    options["files"] = kept_specification(content)
    return tournament_run.run(spec, folder, **options)


def _played(
    spec: TournamentSpec, content: Mapping[str, Any] | None, folder: Path, options: RunOptions
) -> tuple[tournament_run.TournamentResult, Tables]:
    """Play the games that are missing in ``folder``, with the given run options.

    Returns the result, and tables of all games that count. ``content`` is the specification if the caller gave it as a
    mapping, otherwise ``None``.
    """
    result = _run(spec, content, folder, options)
    if not folder.exists():  # no game could begin, and the run has removed its folder
        raise _unavailable(result.unavailable)
    with Store(folder, read_only=True) as store:
        count = tournament_run.count_of(spec, store)
        records = (record for record in store.iterate() if record.pairing.number < count)
        tables = tables_of(spec.game, [player.name for player in spec.players], records, dict(spec.anchors))
    return result, tables


def _at(table: Mapping[str, Any], commit: str) -> dict[str, Any]:
    """Copy a ``[[players]]`` table, with the engine's repository set to the given commit."""
    key = SOURCE if SOURCE in table else REFERENCE
    return {**table, key: f"{table[key]}@{commit}"}


def _placing(spec: TournamentSpec, folder: Path) -> DataFrame | None:
    with Store(folder, read_only=True) as store:
        placing = placing_of(spec, store.outcomes(), tournament_run.withdrawals_of(store))
    return None if placing is None else placing.frame()


def _entry(player: Player, reader: PlayerReader) -> dict[str, Any]:
    """Convert a player, in any form that callers may pass, to a ``[[players]]`` table. Raises ``UserError``.

    ``reader`` resolves names of players.
    """
    if not isinstance(player, Mapping):
        expected = "a preset's name, a TOML file, settings, or the contents of a [[players]] table"
        return player_entry(path_text(player, "player", expected), reader)
    entry: dict[str, Any] = specified(player)
    if REFERENCE in entry:
        return dict(reader.resolved(entry, "play_match"))
    if not any(key in keys for key in entry for keys in map(keys_of, protocols())):
        entry = {"set": entry}
    if SOURCE in entry:
        return dict(reader.resolved(entry, "play_match"))
    if "name" not in entry and "command" not in entry and entry.get("protocol", BUILTIN) == BUILTIN:
        entry["name"] = _name_of(entry)
    return entry


def _name_of(entry: Mapping[str, Any]) -> str:
    """Default name of a player: its preset's name and the settings that differ from the preset."""
    preset, own = preset_name(str(entry.get("preset", "default"))), entry.get("set")
    if not own or not isinstance(own, Mapping):
        return preset
    words = describe(by_canonical_name(own))
    return short_name(words if preset == "default" else f"{preset} with {words}")
