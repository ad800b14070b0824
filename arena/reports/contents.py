"""The data of a tournament's report, and functions that turn them into sentences, facts and numbers."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from elolab.arena.builds.repository import SHOWN_DIGITS
from elolab.arena.notation.played_tags import PlayedAs, options_text
from elolab.arena.notation.variations import VariationCount
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.arena.records import GameSummary, PlayerSpec
from elolab.arena.reports.packed_games import PackedGames
from elolab.arena.reports.plots import Plot
from elolab.arena.reports.render import REPORTS
from elolab.arena.schedule import format_of, is_match
from elolab.arena.sequential import SequentialRun
from elolab.arena.statistics.faults import fault_sentences
from elolab.arena.statistics.match_statistics import verdict_sentence
from elolab.arena.statistics.numbers import error_text, given_text, percent_text, signed
from elolab.arena.statistics.placing import Placing, result_sentence, withdrawal_text
from elolab.arena.statistics.search_tables import SearchStatistics
from elolab.arena.statistics.standings import Tables
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, game_words
from elolab.engine.settings.configuration import specification_word

ARENA = "elolab.arena"
MAX_TABLED_PLAYERS = 40
"""Maximum number of players for tables with one row and one column per player."""


@dataclass(frozen=True)
class Contents:
    """All data that the report of a tournament shows."""

    spec: TournamentSpec
    records: Sequence[GameSummary]
    """Summaries of the games, in schedule order."""
    games: PackedGames
    """The games with their moves, packed for the page's replay."""
    planned_games: int
    """Number of games, from the start of the schedule, that count; see ``arena.schedule.games_that_count``."""
    tables: Tables
    plots: tuple[Plot, ...]
    search_statistics: SearchStatistics
    """The players' search statistics; empty if no player counted search events."""
    counted_plots: tuple[Plot, ...] = ()
    sequential: SequentialRun | None = None
    """State of the sequential test; ``None`` if the tournament has none."""
    runs: tuple[tuple[str, TournamentSpec], ...] = ()
    """In a joint report, the folder and tournament of each run; otherwise empty."""
    notes: tuple[str, ...] = ()
    """Warnings and explanations for the reader."""
    language: str = DEFAULT_LANGUAGE
    placing: Placing | None = None
    """Final ranking of a Swiss tournament or a knockout; ``None`` in other formats."""
    expected_games: int | None = None
    """Number of games that the complete run should have; ``None`` means ``planned_games``."""
    caveats: Caveats = NO_CAVEATS
    players: Mapping[str, PlayedAs] = field(default_factory=dict)
    """How each player played (program, options and so on), keyed by name, for the replay and copied games."""
    variations: tuple[VariationCount, ...] = ()
    """For each player, the numbers of announced scores and variations, and of the faults in them."""

    @property
    def say(self) -> Catalogue:
        """The message catalogue of reports in the report's language."""
        return Catalogue(REPORTS, self.language)

    @property
    def has_many_players(self) -> bool:
        """Whether there are too many players for tables with one row and one column per player."""
        return len(self.tables.standings) > MAX_TABLED_PLAYERS

    @functools.cached_property
    def counted(self) -> list[GameSummary]:
        """Summaries of the games that count; see ``planned_games``."""
        return [record for record in self.records if record.pairing.number < self.planned_games]

    def plot(self, name: str) -> Plot:
        """The plot with this name, which must exist."""
        return next(plot for plot in self.plots if plot.name == name)


def number_text(count: int) -> str:
    """A whole number as text, with spaces between groups of three digits."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def mean_text(value: float | None, digits: int) -> str:
    """A mean as text: ``digits`` decimals below 1000, otherwise a whole number; a dash for ``None``."""
    if value is None:
        return "\N{EN DASH}"
    return number_text(round(value)) if digits == 0 or value >= 1000 else f"{value:.{digits}f}"


def summary_of(contents: Contents) -> str:
    """The summary of the report: the number of games, the outcome, and a sentence for each kind of fault."""
    say, arena = contents.say, Catalogue(ARENA, contents.language)
    if contents.placing is not None:
        finding = result_sentence(contents.placing, arena)
    elif contents.sequential is not None:
        one, other = (player.name for player in contents.spec.players)
        finding = verdict_sentence(contents.sequential, one, other, arena)
    else:
        finding = _leader_sentence(contents)
    for sentence in fault_sentences(contents.tables.faults, arena, contents.language):
        finding = say("report.and", finding=finding, sentence=sentence).strip()
    return say(
        "report.summary", games=number_text(len(contents.counted)), players=len(contents.spec.players),
        pairs=number_text(contents.tables.counter.complete_pairs), finding=finding,
    ).strip()  # fmt: skip


def _leader_sentence(contents: Contents) -> str:
    rows, say = contents.tables.standings, contents.say
    if not contents.records or len(rows) < 2 or contents.tables.separate_groups > 1:
        return ""
    if len(rows) == 2 and not contents.tables.anchors:
        return _match_sentence(contents.tables, say)
    best, second = rows[0], rows[1]
    names = contents.tables.counter.players
    elo, error = contents.tables.ratings.difference(names.index(best.player), names.index(second.player))
    difference = say("report.difference", elo=signed(elo), error=error_text(error))
    key = "report.ahead" if elo > error else "report.not_ahead" if round(elo, 1) else "report.level"
    return say(key, best=best.player, second=second.player, difference=difference)


def _match_sentence(tables: Tables, say: Catalogue) -> str:
    """A sentence on the result of a match: the leader, the Elo difference and its 95 % interval."""
    found = tables.head_to_heads[0]
    if found.elo < 0:
        found = tables.head_to_heads[1]
    difference = say(
        "report.difference_between", elo=signed(found.elo), low=signed(found.elo_low), high=signed(found.elo_high)
    )
    key = "report.ahead" if found.elo_low > 0 else "report.not_ahead" if round(found.elo, 1) else "report.level"
    return say(key, best=found.player, second=found.opponent, difference=difference)


def warnings_of(contents: Contents) -> list[str]:
    """Warnings that a reader should see before the results."""
    counter, say = contents.tables.counter, contents.say
    found = [*contents.caveats.sentences(contents.language), *contents.notes]
    arena = Catalogue(ARENA, contents.language)
    if contents.placing is not None:
        found += [withdrawal_text(entry, arena) for entry in contents.placing.withdrawals]
    expected = contents.planned_games if contents.expected_games is None else contents.expected_games
    missing = expected - len(contents.counted)
    if missing > 0:
        planned = number_text(expected)
        is_bound = contents.placing is not None and not contents.placing.is_over
        key = "warning.missing_at_most" if is_bound else "warning.missing"
        found.append(say(key, missing=number_text(missing), planned=planned))
    if beyond := len(contents.records) - len(contents.counted):
        found.append(say("warning.beyond", games=number_text(beyond)))
    if counter.single_games:
        found.append(say("warning.single", games=number_text(counter.single_games)))
    if counter.unfinished:
        found.append(say("warning.unfinished", games=number_text(counter.unfinished)))
    if (groups := contents.tables.separate_groups) > 1:
        key = "warning.groups_anchored" if contents.tables.anchors else "warning.groups"
        found.append(say(key, groups=groups))
    if len(identities := _identities(contents)) > 1:
        found.append(say("warning.versions", count=len(identities), identities=say("fact.comma").join(identities)))
    return found


def _identities(contents: Contents) -> list[str]:
    return sorted({record.engine_identity for record in contents.records if record.engine_identity})


def facts_of(contents: Contents) -> list[tuple[str, str]]:
    """The conditions and basic facts of the games, as pairs of a label and a text."""
    say, words = contents.say, game_words(contents.spec.game, contents.language)
    counts = contents.tables.counter.first_mover()
    advantage, error = contents.tables.ratings.first_move_advantage, contents.tables.ratings.first_move_error
    first, second = words.side_names
    value = say(
        "fact.advantage_text", first=first, score=f"{100 * counts.score:.1f}", wins=counts.wins, draws=counts.draws,
        losses=counts.losses, elo=signed(advantage), error=error_text(error),
    )  # fmt: skip
    identities = say("fact.comma").join(_identities(contents)) or say("fact.no_games")
    specification = (
        [] if contents.runs else [(say("fact.specification"), specification_word("tournaments", contents.spec.source))]
    )
    return [
        (say("fact.game"), say("fact.game_text", game=words.title, first=first, second=second)),
        *([] if contents.runs else _conditions(contents.spec, say)),
        *((folder, _run_text(spec, say)) for folder, spec in contents.runs),
        (say("fact.advantage", first=first), value),
        (say("fact.identity"), identities),
        *specification,
    ]


def _conditions(spec: TournamentSpec, say: Catalogue) -> list[tuple[str, str]]:
    """The conditions of a tournament, as pairs of a label and a text."""
    words = game_words(spec.game, say.language, spec.rules)
    openings = say(
        "fact.openings_text", suite=spec.openings, part=say.name_of("fact", f"part_{spec.opening_part}"),
        order=say.name_of("fact", f"order_{spec.opening_order}"), start=spec.opening_start,
    )  # fmt: skip
    if not spec.swap_colours:
        first = spec.players[0].name if is_match(spec) else say("fact.first_listed")
        openings = say("fact.openings_unswapped", openings=openings, first=first)
    if spec.opening_reuse:
        openings = say("fact.openings_reused", openings=openings)
    adjudication = say("fact.semicolon").join(_adjudication(spec.adjudication, words.score_name, say))
    return [
        (say("fact.format"), _format_text(spec, say)),
        (say("fact.openings"), openings),
        (say("fact.seed"), str(spec.seed)),
        *([(say("fact.rules"), say("fact.comma").join(words.rules))] if words.rules else []),
        (say("fact.adjudication"), adjudication or say("fact.adjudication_none")),
    ]


def _run_text(spec: TournamentSpec, say: Catalogue) -> str:
    """Name and conditions of one tournament in a joint report, in one line."""
    conditions = [say("fact.condition", label=label.lower(), text=text) for label, text in _conditions(spec, say)]
    return say("fact.run", name=spec.name, conditions=say("fact.semicolon").join(conditions))


def _format_text(spec: TournamentSpec, say: Catalogue) -> str:
    """The format of a tournament and its settings, as text."""
    text = say(
        f"format.{spec.format}_text", pairs=number_text(spec.pairs_of_encounter), rounds=spec.rounds,
        challengers=spec.gauntlet_players, tiebreak_pairs=spec.tiebreak_pairs,
        tiebreak=say(f"format.tiebreak_{spec.tiebreak}"),
    )  # fmt: skip
    if spec.rounds > 1 and spec.format != "swiss":
        text = say("format.rounds", format=text, rounds=spec.rounds)
    if "seeding" in format_of(spec).keys:
        text = say("format.seeds", format=text, seeding=say(f"format.seeding_{spec.seeding}"))
    return text


def _adjudication(adjudication: object, unit: str, say: Catalogue) -> list[str]:
    values = asdict(adjudication)  # type: ignore[call-overload]
    parts = []
    if values["resign_moves"]:
        score = f"{values['resign_score'] / 100:g}"
        key = "fact.adjudication_won" if values["resign_twosided"] else "fact.adjudication_won_onesided"
        parts.append(say(key, score=score, unit=unit, moves=values["resign_moves"]))
    if values["draw_moves"]:
        score, ply = f"{values['draw_score'] / 100:g}", values["draw_after_ply"]
        parts.append(say("fact.adjudication_drawn", score=score, unit=unit, moves=values["draw_moves"], ply=ply))
    if values["solved_empties"]:
        parts.append(say("fact.adjudication_solved", empties=values["solved_empties"]))
    if values["tablebases"]:
        key = "fact.adjudication_tablebases" if values["tablebase_pieces"] else "fact.adjudication_tablebases_all"
        tables = say(key, pieces=values["tablebase_pieces"])
        results = values["tablebase_results"]
        parts.append(tables if results == "both" else say(f"fact.adjudication_{results}", tables=tables))
    if values["maximum_plies"]:
        parts.append(say("fact.adjudication_length", plies=values["maximum_plies"]))
    return parts


def setting_text(player: PlayerSpec, game: str, say: Catalogue) -> str:
    """A player's settings as text.

    For a built-in player these are the parameters that differ from their defaults; for an external player protocol,
    command and options.
    """
    options = options_text(player, game)
    if not player.is_builtin:
        key = "fact.program_options" if options else "fact.program"
        return say(key, protocol=player.protocol, command=command_text(player, say), options=options)
    return options or say("fact.default_setting")


def command_text(player: PlayerSpec, say: Catalogue) -> str:
    """The command line of an external player as text, with the commit if elolab built the program."""
    command = shlex.join(player.shown_command)
    if player.built is None:
        return command
    commit, repository = player.built.commit[:SHOWN_DIGITS], player.built.repository
    return say("fact.command_of_commit", command=command, commit=commit, repository=repository)


def sequential_facts(contents: Contents) -> list[tuple[str, str]]:
    """The state of the sequential test, as pairs of a label and a text."""
    run, say, arena = contents.sequential, contents.say, Catalogue(ARENA, contents.language)
    assert run is not None
    test, settings = run.state, run.settings
    naive, after = run.counts.estimate(), settings.estimate(run.counts)
    one, other = (player.name for player in contents.spec.players)
    hypotheses = {name: given_text(getattr(settings, name)) for name in ("elo0", "elo1", "alpha", "beta")}
    ratio, low, high = (signed(value, 3) for value in (test.log_likelihood_ratio, test.lower_bound, test.upper_bound))
    texts = {
        "verdict": verdict_sentence(run, one, other, arena),
        "hypotheses": say(
            "sequential.hypotheses_text", unit=arena(f"verdict.unit_{settings.model}"), one=one, other=other,
            **hypotheses,
        ),
        "ratio": say("sequential.ratio_text", ratio=ratio, low=low, high=high),
        "pairs": say("sequential.pairs_text", counts=" / ".join(map(str, run.counts.counts)), one=one),
        "after": say(
            "sequential.after_text", elo=signed(after.elo), low=signed(after.elo_low),
            high=signed(after.elo_high), los=percent_text(after.los),
        ),
        "games": say(
            "sequential.games_text", elo=signed(naive.elo), error=error_text(naive.elo_error),
            normalized=signed(naive.normalized_elo), los=percent_text(naive.los),
        ),
    }  # fmt: skip
    return [(say(f"sequential.{name}"), text) for name, text in texts.items()]


def figure_text(value: float | None, digits: int) -> str:
    """A search statistic as text with ``digits`` decimals; a dash for ``None``."""
    return "\N{EN DASH}" if value is None else number_text(round(value)) if digits == 0 else f"{value:.{digits}f}"
