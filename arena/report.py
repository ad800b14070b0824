"""The report of a tournament: one self-contained HTML page, a Markdown summary, tables as CSV and plots as PNG."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from arena.files import FileError, replace_file
from arena.instruments import Instruments, end_rows, instruments_of, iteration_rows, player_row, shown_columns
from arena.records import GameRecord, PlayerSpec
from arena.report_games import packed_games
from arena.schedule import Outcome, sequential_run
from arena.sequential import SequentialRun
from arena.spec import TournamentSpec
from arena.standings import (
    Duel,
    Tables,
    error_text,
    percent_text,
    rating_reference,
    rating_text,
    signed,
    tables_of,
)
from arena.stats import verdict_sentence
from engine.parameters import format_value, resolve
from engine.rules import REASON_TEXT

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
INSTRUMENT_SECTION = ("instruments", "Inside the search")
INSTRUMENTS_NOTE = (
    "What the searches of built-in players counted, each player's games together; instruments.csv and the tables "
    "beside it have every figure. After last iteration: nodes between the last completed iteration and an abort. After "
    "last result: nodes since the root last had a new result. Wrong null cutoffs: of samples that were searched again "
    "without null moves, with the same depth and bound, outside the player's clock. Branching factor: nodes of an "
    "iteration by those of the one before."
)
CROSSTABLE_NOTE = (
    "Each cell is the view of the player on the left: score in %, then Elo ± half the width of its 95 % interval from "
    "complete pairs (from single games where marked *), LOS, the probability that the player on the left is the "
    "stronger, and W-D-L."
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
    instruments: Instruments
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
            "instruments": INSTRUMENT_SECTION[1] if self.instruments else "",
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


def write_report(
    directory: Path,
    spec: TournamentSpec,
    records: Sequence[GameRecord],
    *,
    planned_games: int,
    runs: Sequence[tuple[str, TournamentSpec]] = (),
    notes: Sequence[str] = (),
) -> Path:
    """Write report.html, report.md, standings.csv, crosstable.csv, superiority.csv and plots/*.png into ``directory``.

    Where players' searches were counted also instruments.csv and its companions. Records whose number is
    ``planned_games`` or more lie beyond the end of a sequential test: the page shows them, marked, and nothing counts
    them. ``runs`` are the folders and tournaments that a joint report is about, ``notes`` what to say of it first.

    Returns the path of report.html. The files depend on nothing but the arguments. Raises ``FileError`` if one of them
    cannot be written.
    """
    from engine.games import game_named

    game = game_named(spec.game)
    names = [player.name for player in spec.players]
    ordered = sorted(records, key=lambda record: record.pairing.number)
    counted = [record for record in ordered if record.pairing.number < planned_games]
    tables = tables_of(names, counted, dict(spec.anchors))
    sequential = sequential_run(spec, [Outcome(record.key, record.pairing, record.score) for record in ordered])
    plots = (*_plots(tables, counted, game.side_names), *_sequential_plots(sequential))
    instruments = instruments_of(names, counted)
    instrument_plots = _instrument_plots(instruments) if instruments else ()
    contents = Contents(
        spec, ordered, planned_games, game.title, game.side_names, game.score_name, tables, plots,
        instruments, instrument_plots, sequential, tuple(runs), tuple(notes)
    )
    folder = directory / "plots"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {error.strerror}") from None
    _write_plots(folder, (*plots, *instrument_plots))
    if instruments:
        for name, frame in instruments.frames().items():
            replace_file(directory / f"{name}.csv", frame.to_csv(index=False))
    replace_file(directory / "standings.csv", lambda stream: tables.standings_frame().to_csv(stream, index=False))
    replace_file(directory / "crosstable.csv", lambda stream: tables.crosstable_frame().to_csv(stream, index=False))
    replace_file(directory / "superiority.csv", lambda stream: tables.superiority_frame().to_csv(stream))
    replace_file(directory / "report.md", markdown(contents))
    page = directory / "report.html"
    replace_file(page, html_page(contents))
    return page


def _plots(tables: Tables, records: Sequence[GameRecord], side_names: tuple[str, str]) -> tuple[Plot, ...]:
    from arena import charts

    first = side_names[0]
    origin = "the players whose ratings are given" if tables.anchors else "the mean of the field"
    return (
        Plot(
            "ratings",
            "Ratings",
            f"Points are ratings, lines their 95 % intervals relative to {origin}. Where two lines do not "
            "overlap, the order is settled; where they do, the pairs between the two, in the crosstable, say more.",
            charts.ratings_chart(tables),
        ),
        Plot(
            "convergence",
            "Ratings as games came in",
            "Joint ratings at forty moments of the tournament, games in schedule order. Lines that have run flat have "
            "settled; lines that still cross have not.",
            charts.convergence_chart(tables, records),
        ),
        Plot(
            "pairs",
            "Outcomes of pairs",
            "Shares of each player's complete pairs, from that player's view. The more grey, the more the openings or "
            "draws decided; the balance of blue over orange is the player's strength.",
            charts.pairs_chart(tables),
        ),
        Plot(
            "endings",
            "How games ended",
            f"Games by reason, split by who won ({first} moves first). Time forfeits, illegal moves or crashes here "
            "mean that a player was at fault, not outplayed; many games at the maximum length mean that the limit "
            "decides.",
            charts.endings_chart(tables, side_names),
        ),
        Plot(
            "lengths",
            "Lengths of games",
            "Plies played after the opening. A spike at the right end comes from the maximum length or the move limit.",
            charts.lengths_chart(records),
        ),
        Plot(
            "crosstable",
            "Scores",
            "Score in % of the player on the left against the one below; blue is above one half, orange below.",
            charts.crosstable_chart(tables),
        ),
    )


def _sequential_plots(run: SequentialRun | None) -> tuple[Plot, ...]:
    from arena import charts

    if run is None:
        return ()
    return (
        Plot(
            "sequential",
            "The test as games came in",
            "Log-likelihood ratio after each pair, in schedule order; the test ends at the first look at which it is "
            "beyond one of the dashed bounds.",
            charts.sequential_chart(run),
        ),
    )


def _instrument_plots(instruments: Instruments) -> tuple[Plot, ...]:
    from arena import charts

    return (
        Plot(
            "nodes_to_depth",
            "Nodes to depth",
            "Mean nodes from the start of a search to the end of each iteration, over the searches that completed it. "
            "Equal slopes are equal branching factors; the deepest points come from the few searches that got there.",
            charts.iterations_chart(instruments),
        ),
        Plot(
            "null_failures",
            "Null moves that failed",
            "Share of the verified null cutoffs that the verification refuted, and of the sampled ones that a search "
            "without null moves refuted, by the material of the side that skipped its turn (generals not counted), all "
            "players together.",
            charts.null_failures_chart(instruments),
        ),
    )


def _write_plots(folder: Path, plots: Sequence[Plot]) -> None:
    from arena.charts import png_bytes

    for plot in plots:
        replace_file(folder / f"{plot.name}.png", png_bytes(plot.figure))


# What both formats say


def _number(count: int) -> str:
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _mean(value: float | None, digits: int) -> str:
    if value is None:
        return "\N{EN DASH}"
    return _number(round(value)) if digits == 0 or value >= 1000 else f"{value:.{digits}f}"


def _error(value: float) -> str:
    return "∞" if value == float("inf") else f"{value:.1f}"


def _elo(value: float) -> str:
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
    return f"{shown(best.player)} leads, {certain} {shown(second.player)} ({_elo(elo)} ± {_error(error)} Elo)."


def _summary(contents: Contents, shown: Callable[[str], str] = str) -> str:
    played, players = len(contents.counted), len(contents.spec.players)
    counter = contents.tables.counter
    pairs = _number(counter.complete_pairs)
    text = f"{_number(played)} games between {players} players in {pairs} complete pairs."
    if contents.sequential is not None:
        one, other = (shown(player.name) for player in contents.spec.players)
        return f"{text} {verdict_sentence(contents.sequential, one, other)}"
    return f"{text} {_leader_sentence(contents, shown)}".strip()


def _warnings(contents: Contents) -> list[str]:
    """What a reader must know before trusting the numbers."""
    counter, ratings = contents.tables.counter, contents.tables.ratings
    found = list(contents.notes)
    missing = contents.planned_games - len(contents.counted)
    if missing > 0:
        found.append(f"{_number(missing)} of {_number(contents.planned_games)} planned games have not been played.")
    if beyond := len(contents.records) - len(contents.counted):
        found.append(
            f"{_number(beyond)} {'game' if beyond == 1 else 'games'} ended after the test was decided; they can be "
            "replayed below, but count nowhere."
        )
    if counter.single_games:
        found.append(
            f"{_number(counter.single_games)} games are outside complete pairs: they count in scores and ratings, not "
            "in pairs, Elo of two players and their intervals."
        )
    if counter.unfinished:
        found.append(f"{_number(counter.unfinished)} games have no result and count nowhere.")
    if len(ratings.groups) > 1:
        found.append(f"{len(ratings.groups)} groups of players never met; ratings compare only within a group.")
    if len(identities := _identities(contents)) > 1:
        found.append(
            f"Games were played by {len(identities)} versions of the built-in engine: {', '.join(identities)}."
        )
    return found


def _identities(contents: Contents) -> list[str]:
    return sorted({record.engine_identity for record in contents.records if record.engine_identity})


def _facts(contents: Contents) -> list[tuple[str, str]]:
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
            f"the first move is worth {_elo(advantage)} ± {_error(error)} Elo from these openings",
        ),
        ("Engine identity", ", ".join(_identities(contents)) or "no games"),
        *([] if contents.runs else [("Specification", contents.spec.source)]),
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
        return f"sequential test over at most {_number(spec.pairs)} colour-swapped pairs"
    return f"{spec.format.replace('_', ' ')}, {_number(spec.pairs)} colour-swapped pairs for every two players"


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


def _setting(player: PlayerSpec, game: str) -> str:
    """How a player differs from the default built-in engine, or which program it is."""
    if player.protocol != "builtin":
        options = ", ".join([*(f"{name} = {value}" for name, value in player.options), *player.commands])
        return f"{player.protocol}: {shlex.join(player.command)}" + (f" ({options})" if options else "")
    defaults = resolve({}, game=game)
    changes = [f"{name} = {format_value(value)}" for name, value in player.parameters if value != defaults.get(name)]
    return ", ".join(changes) or "all parameters at their defaults"


def repeat_command(spec: TournamentSpec) -> str:
    """The command that plays the same games again."""
    return shlex.join(("elolab", *spec.words))


# HTML


def html_page(contents: Contents) -> str:
    """The whole page; it loads nothing from elsewhere."""
    assets = resources.files("arena") / "report_assets"
    spec = contents.spec
    first = contents.side_names[0]
    facts = {
        "game": spec.game,
        "sides": list(contents.side_names),
        "counted": contents.planned_games,
        "reasons": {record.reason: REASON_TEXT.get(record.reason, "") for record in contents.records},
    }
    values = {
        "title": escape(spec.name),
        "kicker": escape(f"{contents.game_title} tournament report"),
        "summary": _summary(contents, lambda name: f'<strong class="name">{escape(name)}</strong>'),
        "navigation": _navigation(contents),
        "sections": _sections(contents),
        "first_side": escape(first),
        "score_name": escape(contents.score_name),
        "footer": f"Written by elolab. {contents.again}: <code>{escape(repeat_command(spec))}</code>",
        "style": (assets / "report.css").read_text(encoding="utf-8"),
        "script": (assets / "report.js").read_text(encoding="utf-8"),
        "facts": json.dumps(facts, ensure_ascii=False).replace("<", "\\u003c"),
        "packed": packed_games(contents.tables.counter.players, contents.records),
    }
    return _filled((assets / "report.html").read_text(encoding="utf-8"), values)


def _filled(template: str, values: dict[str, str]) -> str:
    """The template with every ``{{name}}`` replaced, once: a value may contain anything."""
    pieces = template.split("{{")
    return pieces[0] + "".join(values[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


def _navigation(contents: Contents) -> str:
    links = (*contents.sections, ("games", "All games"), ("replay", "Replay"))
    return "".join(f'<a href="#{target}">{escape(title)}</a>' for target, title in links)


def _sections(contents: Contents) -> str:
    bodies = {
        "standings": "".join(f'<p class="note warning">{escape(text)}</p>' for text in _warnings(contents))
        + _standings_html(contents)
        + _figure_html(contents.plot("ratings")),
        "crosstable": _crosstable_html(contents.tables),
        "superiority": _superiority_html(contents.tables),
        "sequential": _sequential_html(contents),
        "figures": _figures_html(contents.plots),
        "instruments": _instruments_html(contents),
        "played": _played_html(contents),
    }
    return "\n".join(
        f'<section id="{name}"><h2>{escape(title)}</h2>{bodies[name]}</section>'
        for name, title in contents.sections
    )


def _standings_html(contents: Contents) -> str:
    rows, tables = contents.tables.standings, contents.tables
    heads = (
        ("#", ""), ("Player", None), ("Rating", "Elo"), ("±", "Elo"), ("Points", ""), ("Games", ""), ("W", ""),
        ("D", ""), ("L", ""), ("Score", "%"), ("Pairs", "LL / LD / even / WD / WW"), ("Depth", "plies"),
        ("Nodes", "a move"), ("Time", "ms a move"),
    )  # fmt: skip
    head = "".join(
        f'<th scope="col"{"" if unit is None else " class=number"}>{title}'
        + (f'<span class="unit">{unit}</span>' if unit else "")
        + "</th>"
        for title, unit in heads
    )
    body = []
    for row in rows:
        pairs = " / ".join(str(count) for count in (row.LL, row.LD, row.even, row.WD, row.WW))
        cells = (
            rating_text(row, tables), error_text(row, tables), f"{row.points:g}", _number(row.games),
            _number(row.wins), _number(row.draws), _number(row.losses), f"{100 * row.score:.1f}", pairs,
            _mean(row.mean_depth, 1), _mean(row.mean_nodes, 0), _mean(row.mean_time_ms, 2),
        )  # fmt: skip
        body.append(
            f'<tr><td class="number">{row.rank}</td><th scope="row">{escape(row.player)}</th>'
            + "".join(f'<td class="number">{cell}</td>' for cell in cells)
            + "</tr>"
        )
    return (
        f'<p class="note" id="rating-note">{escape(contents.rating_note)}</p>'
        '<div class="scroll"><table aria-describedby="rating-note"><caption class="visually-hidden">Standings</caption>'
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _crosstable_html(tables: Tables) -> str:
    names = [row.player for row in tables.standings]
    duels = {(duel.player, duel.opponent): duel for duel in tables.duels}
    head = "".join(f'<th scope="col" class="vertical">{escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(_duel_cell(duels.get((name, other)), name == other) for other in names)
        + "</tr>"
        for name in names
    )
    return (
        f'<p class="note" id="cross-note">{escape(CROSSTABLE_NOTE)}</p>'
        '<div class="scroll"><table class="cross" aria-describedby="cross-note">'
        '<caption class="visually-hidden">Everyone against everyone</caption>'
        f'<thead><tr><th scope="col"><span class="visually-hidden">Player</span></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _duel_cell(duel: Duel | None, is_self: bool) -> str:
    if duel is None:
        return '<td class="self"></td>' if is_self else "<td>\N{EN DASH}</td>"
    share = min(0.75, 1.5 * abs(duel.score - 0.5))
    direction = "up" if duel.score >= 0.5 else "down"
    mark = "" if duel.from_pairs else " *"
    return (
        f'<td class="{direction}" style="--share: {share:.2f}"><strong>{100 * duel.score:.1f}</strong>'
        f"{_elo(duel.elo)} ± {_error(duel.elo_error)}{mark}"
        f'<span class="small">LOS {escape(percent_text(duel.los))} %</span>'
        f'<span class="small">{duel.wins}-{duel.draws}-{duel.losses}</span></td>'
    )


def _superiority_html(tables: Tables) -> str:
    names = [row.player for row in tables.standings]
    head = "".join(f'<th scope="col">{number}</th>' for number in range(1, len(names) + 1))
    body = "".join(
        f'<tr><th scope="row"><span class="rank">{place + 1}</span> {escape(name)}</th>'
        + "".join(_superiority_cell(tables, place, other, share) for other, share in enumerate(shares))
        + "</tr>"
        for place, (name, shares) in enumerate(zip(names, tables.superiority(), strict=True))
    )
    return (
        f'<p class="note" id="superiority-note">{escape(SUPERIORITY_NOTE)}</p>'
        '<div class="scroll"><table class="cross matrix" aria-describedby="superiority-note">'
        '<caption class="visually-hidden">Likelihood of superiority</caption>'
        f'<thead><tr><th scope="col"><span class="visually-hidden">Player</span></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _superiority_cell(tables: Tables, row: int, column: int, share: float) -> str:
    """``row`` and ``column`` are places in the standings."""
    if row == column:
        return '<td class="self"></td>'
    elo, error = tables.difference(row, column)
    difference = f"{_elo(elo)} ± {_error(error)}" if error < float("inf") else "\N{EN DASH}"
    direction = "up" if share >= 0.5 else "down"
    return (
        f'<td class="{direction}" style="--share: {1.5 * abs(share - 0.5):.2f}"><strong>{escape(percent_text(share))}'
        f'</strong><span class="small">{difference}</span></td>'
    )


def _sequential_html(contents: Contents) -> str:
    if contents.sequential is None:
        return ""
    facts = "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in _sequential_facts(contents)
    )
    note = SEQUENTIAL_NOTE.format(batch=contents.sequential.settings.batch_pairs)
    figure = _figure_html(contents.plot("sequential"))
    return f'<p class="note">{escape(note)}</p><dl class="facts">{facts}</dl>{figure}'


def _sequential_facts(contents: Contents) -> list[tuple[str, str]]:
    """The state of the test: pairs of a label and a text."""
    run = contents.sequential
    assert run is not None
    test, settings = run.state, run.settings
    naive, after = run.counts.estimate(), settings.estimate(run.counts)
    one, other = (player.name for player in contents.spec.players)
    interval = f"95 % interval {_elo(after.elo_low)} to {_elo(after.elo_high)}"
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
        ("Elo after the test", f"{_elo(after.elo)}, {interval}; LOS {percent_text(after.los)} %"),
        (
            "Elo of the games",
            f"{_elo(naive.elo)} ± {_error(naive.elo_error)}; normalized {_elo(naive.normalized_elo)}; LOS "
            f"{percent_text(naive.los)} %",
        ),
    ]


def _figures_html(plots: Sequence[Plot]) -> str:
    """The figures that the page does not have elsewhere: ratings stand by the standings, scores in the crosstable."""
    figures = [_figure_html(plot) for plot in plots if plot.name not in ("ratings", "crosstable", "sequential")]
    return f'<div class="figures">{"".join(figures)}</div>'


def _figure_html(plot: Plot) -> str:
    from arena.charts import svg_text

    picture = svg_text(plot.figure, plot.name, f"{plot.title}. {plot.caption}")
    caption = f"<strong>{escape(plot.title)}.</strong> {escape(plot.caption)}"
    return f'<figure><div class="chart-scroll">{picture}</div><figcaption>{caption}</figcaption></figure>'


def _instruments_html(contents: Contents) -> str:
    instruments = contents.instruments
    rows = [player_row(name, total, instruments.games[name]) for name, total in instruments.totals.items()]
    columns = shown_columns()
    main = _plain_table(
        [("Player", ""), *((head, unit) for head, unit, _, _ in columns)],
        [(row["player"], *(_figure_text(figure(row), digits) for _, _, figure, digits in columns)) for row in rows],
    )
    ends = [row for name, total in instruments.totals.items() for row in end_rows(name, total)]
    endings = _plain_table(
        [("Player", ""), ("Ended by", ""), ("Searches", ""), ("Share", "%"), ("Nodes", "mean"), ("Time", "ms, mean")],
        [
            (
                row["player"], row["reason"].replace("_", " "), _number(row["searches"]),
                _figure_text(row["searches_percent"], 1), _figure_text(row["mean_nodes"], 0),
                _figure_text(row["mean_time_ms"], 2),
            )
            for row in ends
        ],
    )  # fmt: skip
    depths = [row for name, total in instruments.totals.items() for row in iteration_rows(name, total)]
    iterations = _plain_table(
        [
            ("Player", ""), ("Depth", "plies"), ("Searches", ""), ("Nodes", "mean"), ("Time", "ms, mean"),
            ("Nodes to depth", "mean"), ("Branching", "factor"),
        ],
        [
            (
                row["player"], str(row["depth_plies"]), _number(row["searches"]), _figure_text(row["mean_nodes"], 0),
                _figure_text(row["mean_time_ms"], 2), _figure_text(row["mean_nodes_to_depth"], 0),
                _figure_text(row["branching_factor"], 2),
            )
            for row in depths
        ],
    )  # fmt: skip
    figures = "".join(_figure_html(plot) for plot in contents.instrument_plots)
    return (
        f'<p class="note">{escape(INSTRUMENTS_NOTE)}</p>{main}<div class="figures">{figures}</div>'
        f"<h3>What ended the searches</h3>{endings}<h3>Iterations</h3>{iterations}"
    )


def _figure_text(value: float | None, digits: int) -> str:
    return "\N{EN DASH}" if value is None else _number(round(value)) if digits == 0 else f"{value:.{digits}f}"


def _plain_table(heads: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and the others figures; heads have a title and a unit."""
    head = "".join(
        f'<th scope="col"{" class=number" if column else ""}>{escape(title)}'
        + (f'<span class="unit">{escape(unit)}</span>' if unit else "")
        + "</th>"
        for column, (title, unit) in enumerate(heads)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        + "</tr>"
        for first, *cells in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _played_html(contents: Contents) -> str:
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in _facts(contents))
    rows = "".join(
        f'<tr><th scope="row">{escape(player.name)}</th><td><code>{escape(str(player.limits))}</code></td>'
        f"<td>{escape(_setting(player, contents.spec.game))}</td></tr>"
        for player in contents.spec.players
    )
    return (
        f'<dl class="facts">{facts}</dl><h3>Players</h3>'
        '<div class="scroll"><table><thead><tr><th scope="col">Player</th><th scope="col">Limit</th>'
        '<th scope="col">Setting</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div><h3>{contents.again}</h3>"
        f"<pre><code>{escape(repeat_command(contents.spec))}</code></pre>"
    )


# Markdown


def markdown(contents: Contents) -> str:
    """The report without games, for reading in a repository or a terminal; plots are linked."""
    spec, tables = contents.spec, contents.tables
    parts = [f"# {spec.name}", _summary(contents), *(f"> {text}" for text in _warnings(contents))]
    if contents.sequential is not None:
        parts += ["## Sequential test", SEQUENTIAL_NOTE.format(batch=contents.sequential.settings.batch_pairs)]
        parts += ["\n".join(f"- {label}: {text}" for label, text in _sequential_facts(contents))]
        parts += [_plot_markdown(contents, "sequential")]
    parts += ["## Standings", contents.rating_note, _standings_markdown(tables), _plot_markdown(contents, "ratings")]
    parts += ["## Everyone against everyone", CROSSTABLE_NOTE, _duels_markdown(tables.duels)]
    if len(tables.standings) > 2:
        parts += ["## Who is stronger than whom", SUPERIORITY_NOTE, _superiority_markdown(tables)]
    parts += [_plot_markdown(contents, name) for name in ("crosstable", "pairs", "convergence", "endings", "lengths")]
    if contents.instruments:
        parts += [f"## {INSTRUMENT_SECTION[1]}", INSTRUMENTS_NOTE, _instruments_markdown(contents.instruments)]
        parts += [_plot_link(plot) for plot in contents.instrument_plots]
    parts += ["## What was played", "\n".join(f"- {label}: {text}" for label, text in _facts(contents))]
    players = [(player.name, f"`{player.limits}`", _setting(player, spec.game)) for player in spec.players]
    parts += [_table(("player", "limit", "setting"), players, numbers=())]
    parts += [f"{contents.again}:\n\n    {repeat_command(spec)}"]
    return "\n\n".join(parts) + "\n"


def _plot_markdown(contents: Contents, name: str) -> str:
    return _plot_link(contents.plot(name))


def _plot_link(plot: Plot) -> str:
    return f"![{plot.title}](plots/{plot.name}.png)\n\n*{plot.title}.* {plot.caption}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    lines = [heads, ["---:" if column in numbers else "---" for column in range(len(heads))], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _instruments_markdown(instruments: Instruments) -> str:
    """The main table turned over: one row a figure, one column a player."""
    rows = [player_row(name, total, instruments.games[name]) for name, total in instruments.totals.items()]
    cells = [
        (f"{head} ({unit})" if unit else head, *(_figure_text(figure(row), digits) for row in rows))
        for head, unit, figure, digits in shown_columns()
    ]
    return _table(("figure", *(row["player"] for row in rows)), cells, numbers=range(1, len(rows) + 1))


def _standings_markdown(tables: Tables) -> str:
    heads = ("#", "player", "rating (Elo)", "±", "points", "games", "W-D-L", "score %", "pairs", "depth", "nodes", "ms")
    cells = [
        (
            str(row.rank), row.player, rating_text(row, tables), error_text(row, tables), f"{row.points:g}",
            str(row.games),
            f"{row.wins}-{row.draws}-{row.losses}", f"{100 * row.score:.1f}",
            f"{row.LL} / {row.LD} / {row.even} / {row.WD} / {row.WW}", _mean(row.mean_depth, 1),
            _mean(row.mean_nodes, 0), _mean(row.mean_time_ms, 2),
        )
        for row in tables.standings
    ]  # fmt: skip
    return _table(heads, cells, numbers=(0, 2, 3, 4, 5, 7, 9, 10, 11))


def _superiority_markdown(tables: Tables) -> str:
    names = [row.player for row in tables.standings]
    cells = [
        (str(place + 1), name, *("" if other == place else percent_text(share) for other, share in enumerate(shares)))
        for place, (name, shares) in enumerate(zip(names, tables.superiority(), strict=True))
    ]
    heads = ("#", "player", *(str(number) for number in range(1, len(names) + 1)))
    return _table(heads, cells, numbers=(0, *range(2, len(names) + 2)))


def _duels_markdown(duels: Sequence[Duel]) -> str:
    seen: set[frozenset[str]] = set()
    cells = []
    for duel in duels:
        if (both := frozenset((duel.player, duel.opponent))) in seen:
            continue
        seen.add(both)
        mark = "" if duel.from_pairs else " *"
        cells.append(
            (
                duel.player, duel.opponent, f"{_elo(duel.elo)}{mark}", _error(duel.elo_error), percent_text(duel.los),
                f"{duel.wins}-{duel.draws}-{duel.losses}", f"{100 * duel.score:.1f}",
            )
        )  # fmt: skip
    return _table(("player", "opponent", "Elo", "±", "LOS %", "W-D-L", "score %"), cells, numbers=(2, 3, 4, 6))
