"""What a report is written from, and the words that its page and its summary share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING

from arena.figures.match import verdict_sentence
from arena.figures.search_statistics import SearchStatistics
from arena.figures.standings import Tables, percent_text, rating_reference, signed
from arena.records import GameRecord, PlayerSpec
from arena.sequential import SequentialRun
from arena.spec import TournamentSpec
from engine.settings.configuration import specification_word
from engine.settings.parameters import format_value, resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATING_NOTE = (
    "Rating is {reference}, from one joint fit of all games (Davidson's model with draws and the advantage of the "
    "first move); ± is half the width of its 95 % interval. Score and W-D-L are the player's own games. A pair is two "
    "games from one opening with colours swapped; pairs are counted by the player's result in both, from both lost "
    "(LL) to both won (WW); “even” is one win each or two draws. Depth, nodes and time are means."
)
SUPERIORITY_NOTE = (
    "Likelihood that the player on the left is stronger than the one whose number heads the column, in %, from the "
    "joint fit of all games; it takes into account what both did against everyone else. Below it on the page: the "
    "difference of their ratings ± half the width of its 95 % interval. 50.0 stands where nothing is known, between "
    "groups that never met."
)
SEQUENTIAL_NOTE = (
    "A sequential test ends a match as soon as one of two hypotheses is accepted. It looks after every {batch} pairs, "
    "once all games before have ended. The Elo of a match that was stopped so is biased, upwards if it ended well; "
    "the Elo after the test is not: it is as often too high as too low (median-unbiased)."
)
SEARCH_STATISTICS_SECTION = ("instruments", "Inside the search")
SEARCH_STATISTICS_NOTE = (
    "What the searches of built-in players counted, each player's games together; instruments.csv and the tables "
    "beside it have every figure. After last iteration: nodes between the last completed iteration and an abort. After "
    "last result: nodes since the root last had a new result. Wrong null cutoffs: of samples that were searched again "
    "without null moves, with the same depth and bound, outside the player's clock. Branching factor: nodes of an "
    "iteration by those of the one before."
)
CROSSTABLE_NOTE = (
    "Each cell is the view of the player on the left: score in %, then Elo ± half the width of its 95 % interval from "
    "complete pairs (from single games where marked *), LOS, the probability that the player on the left is the "
    "stronger, and W-D-L. Intervals from few pairs are too narrow: of 10 pairs they hold the truth in 90 %, of 30 in "
    "94 %."
)


@dataclass(frozen=True)
class Plot:
    """One figure of the report."""

    name: str
    """File name without ending, and prefix of the ids in the page."""
    title: str
    caption: str
    """What to see in it."""
    figure: Figure


@dataclass(frozen=True)
class Contents:
    """Everything a report is written from."""

    spec: TournamentSpec
    records: Sequence[GameRecord]
    """In schedule order."""
    planned_games: int
    """Games that the tournament consists of; records beyond them are kept but do not count."""
    game_title: str
    side_names: tuple[str, str]
    score_name: str
    tables: Tables
    plots: tuple[Plot, ...]
    search_statistics: SearchStatistics
    """Empty where nothing was counted."""
    instrument_plots: tuple[Plot, ...] = ()
    sequential: SequentialRun | None = None
    """The sequential test, if the tournament is one."""
    runs: tuple[tuple[str, TournamentSpec], ...] = ()
    """Folders and tournaments, if the report is about several."""
    notes: tuple[str, ...] = ()
    """What a reader must know first."""

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Ids and titles of the page's sections."""
        sections = {
            "sequential": "Sequential test" if self.sequential is not None else "",
            "standings": "Standings",
            "crosstable": "Everyone against everyone",
            "superiority": "Who is stronger than whom" if len(self.tables.standings) > 2 else "",
            "figures": "Figures",
            "instruments": SEARCH_STATISTICS_SECTION[1] if self.search_statistics else "",
            "played": "What was played",
        }
        return tuple((name, title) for name, title in sections.items() if title)

    @property
    def again(self) -> str:
        """What the command below does."""
        return "To write this report again" if self.runs else "To play these games again"

    @property
    def counted(self) -> list[GameRecord]:
        """The records that count."""
        return [record for record in self.records if record.pairing.number < self.planned_games]

    def plot(self, name: str) -> Plot:
        """The figure of that name."""
        return next(plot for plot in self.plots if plot.name == name)

    @property
    def rating_note(self) -> str:
        """What the figures of the standings are."""
        return RATING_NOTE.format(reference=rating_reference(self.tables.anchors))


def number_text(count: int) -> str:
    """A whole number with its thousands apart."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def mean_text(value: float | None, digits: int) -> str:
    """A mean; large ones without digits, a dash where there is none."""
    if value is None:
        return "\N{EN DASH}"
    return number_text(round(value)) if digits == 0 or value >= 1000 else f"{value:.{digits}f}"


def interval_text(value: float) -> str:
    """Half the width of an interval, in Elo."""
    return "∞" if value == float("inf") else f"{value:.1f}"


def elo_text(value: float) -> str:
    """Elo with its sign."""
    return signed(value).replace("inf", "∞")


def _leader_sentence(contents: Contents, shown: Callable[[str], str]) -> str:
    """One sentence with the main finding; ``shown`` marks up a player's name."""
    rows = contents.tables.standings
    if not contents.records or len(rows) < 2 or len(contents.tables.ratings.groups) > 1:
        return ""
    best, second = rows[0], rows[1]
    names = contents.tables.counter.players
    elo, error = contents.tables.ratings.difference(names.index(best.player), names.index(second.player))
    certain = "clearly ahead of" if elo > error else "not clearly ahead of"
    difference = f"{elo_text(elo)} ± {interval_text(error)} Elo"
    return f"{shown(best.player)} leads, {certain} {shown(second.player)} ({difference})."


def summary_of(contents: Contents, shown: Callable[[str], str] = str) -> str:
    """What was played and what came of it in two sentences; ``shown`` marks up a player's name."""
    played, players = len(contents.counted), len(contents.spec.players)
    counter = contents.tables.counter
    pairs = number_text(counter.complete_pairs)
    text = f"{number_text(played)} games between {players} players in {pairs} complete pairs."
    if contents.sequential is not None:
        one, other = (shown(player.name) for player in contents.spec.players)
        return f"{text} {verdict_sentence(contents.sequential, one, other)}"
    return f"{text} {_leader_sentence(contents, shown)}".strip()


def warnings_of(contents: Contents) -> list[str]:
    """What a reader must know before trusting the numbers."""
    counter, ratings = contents.tables.counter, contents.tables.ratings
    found = list(contents.notes)
    missing = contents.planned_games - len(contents.counted)
    if missing > 0:
        planned = number_text(contents.planned_games)
        found.append(f"{number_text(missing)} of {planned} planned games have not been played.")
    if beyond := len(contents.records) - len(contents.counted):
        found.append(
            f"{number_text(beyond)} {'game' if beyond == 1 else 'games'} ended after the test was decided; they can be "
            "replayed below, but count nowhere."
        )
    if counter.single_games:
        found.append(
            f"{number_text(counter.single_games)} games are outside complete pairs: they count in scores and ratings, "
            "not in pairs, Elo of two players and their intervals."
        )
    if counter.unfinished:
        found.append(f"{number_text(counter.unfinished)} games have no result and count nowhere.")
    if len(ratings.groups) > 1:
        given = "; those of a group without a given rating are above its own mean" if ratings.anchors else ""
        found.append(f"{len(ratings.groups)} groups of players never met; ratings compare only within a group{given}.")
    if len(identities := _identities(contents)) > 1:
        found.append(
            f"Games were played by {len(identities)} versions of the built-in engine: {', '.join(identities)}."
        )
    return found


def _identities(contents: Contents) -> list[str]:
    return sorted({record.engine_identity for record in contents.records if record.engine_identity})


def facts_of(contents: Contents) -> list[tuple[str, str]]:
    """What was played: pairs of a label and a text."""
    counts = contents.tables.counter.first_mover()
    advantage, error = contents.tables.ratings.first_move_advantage, contents.tables.ratings.first_move_error
    first, second = contents.side_names
    return [
        ("Game", f"{contents.game_title}; {first} moves first, then {second}"),
        *([] if contents.runs else _conditions(contents.spec, contents.score_name)),
        *((folder, _run_text(spec, contents.score_name)) for folder, spec in contents.runs),
        (
            f"{first}'s advantage",
            f"{first} scored {100 * counts.score:.1f} % "
            f"({counts.wins} won, {counts.draws} drawn, {counts.losses} lost); "
            f"the first move is worth {elo_text(advantage)} ± {interval_text(error)} Elo from these openings",
        ),
        ("Engine identity", ", ".join(_identities(contents)) or "no games"),
        *([] if contents.runs else [("Specification", specification_word("tournaments", contents.spec.source))]),
    ]


def _conditions(spec: TournamentSpec, score_name: str) -> list[tuple[str, str]]:
    """How a tournament was played: pairs of a label and a text."""
    from engine.games import game_named

    rules = game_named(spec.game).describe_rules(spec.rules)
    return [
        ("Format", _format_text(spec)),
        (
            "Openings",
            f"{spec.openings} (part {spec.opening_part}, order {spec.opening_order}, from number {spec.opening_start})",
        ),
        ("Random seed", str(spec.seed)),
        *([("Rules", rules)] if rules else []),
        ("Adjudication", "; ".join(_adjudication(spec.adjudication, score_name)) or "none"),
    ]


def _run_text(spec: TournamentSpec, score_name: str) -> str:
    """One of several tournaments in one line."""
    conditions = [f"{label.lower()} {text}" for label, text in _conditions(spec, score_name)]
    return f"{spec.name}: {'; '.join(conditions)}"


def _format_text(spec: TournamentSpec) -> str:
    if spec.format == "sprt":
        return f"sequential test over at most {number_text(spec.pairs)} colour-swapped pairs"
    return f"{spec.format.replace('_', ' ')}, {number_text(spec.pairs)} colour-swapped pairs for every two players"


def _adjudication(adjudication: object, score_name: str) -> list[str]:
    values = asdict(adjudication)  # type: ignore[call-overload]
    parts = []
    if values["resign_moves"]:
        parts.append(
            f"won at {values['resign_score'] / 100:g} {score_name} for {values['resign_moves']} moves, both players "
            "agreeing"
        )
    if values["draw_moves"]:
        parts.append(
            f"drawn within {values['draw_score'] / 100:g} {score_name} for {values['draw_moves']} moves of each "
            f"from ply {values['draw_after_ply']}"
        )
    if values["maximum_plies"]:
        parts.append(f"drawn after {values['maximum_plies']} plies")
    return parts


def setting_text(player: PlayerSpec, game: str) -> str:
    """How a player differs from the default built-in engine, or which program it is."""
    if not player.is_builtin:
        lists = [value for _, value in player.protocol_keys if isinstance(value, tuple)]
        options = ", ".join([*(f"{name} = {value}" for name, value in player.options), *chain.from_iterable(lists)])
        return f"{player.protocol}: {shlex.join(player.command)}" + (f" ({options})" if options else "")
    defaults = resolve({}, game=game)
    changes = [f"{name} = {format_value(value)}" for name, value in player.parameters if value != defaults.get(name)]
    return ", ".join(changes) or "all parameters at their defaults"


def repeat_command(spec: TournamentSpec) -> str:
    """The command that plays the same games again."""
    return shlex.join(("elolab", *spec.words))


def sequential_facts(contents: Contents) -> list[tuple[str, str]]:
    """The state of the test: pairs of a label and a text."""
    run = contents.sequential
    assert run is not None
    test, settings = run.state, run.settings
    naive, after = run.counts.estimate(), settings.estimate(run.counts)
    one, other = (player.name for player in contents.spec.players)
    interval = f"95 % interval {elo_text(after.elo_low)} to {elo_text(after.elo_high)}"
    return [
        ("Verdict", verdict_sentence(run, one, other)),
        (
            "Hypotheses",
            f"H0: {settings.elo0:g}, H1: {settings.elo1:g} {settings.model} Elo of {one} over {other}; "
            f"alpha {settings.alpha:g}, beta {settings.beta:g}",
        ),
        (
            "Log-likelihood ratio",
            f"{signed(test.log_likelihood_ratio, 3)}, bounds {signed(test.lower_bound, 3)} and "
            f"{signed(test.upper_bound, 3)}",
        ),
        ("Pairs", f"{' / '.join(map(str, run.counts.counts))} (both lost to both won, from the view of {one})"),
        ("Elo after the test", f"{elo_text(after.elo)}, {interval}; LOS {percent_text(after.los)} %"),
        (
            "Elo of the games",
            f"{elo_text(naive.elo)} ± {interval_text(naive.elo_error)}; normalized {elo_text(naive.normalized_elo)}; "
            f"LOS {percent_text(naive.los)} %",
        ),
    ]


def figure_text(value: float | None, digits: int) -> str:
    """A figure of the instruments; a dash where there is none."""
    return "\N{EN DASH}" if value is None else number_text(round(value)) if digits == 0 else f"{value:.{digits}f}"
