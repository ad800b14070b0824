"""The page report.html: self-contained, with a board on which every game can be replayed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib import resources

from arena.figures.search_statistics import end_rows, iteration_rows, player_row, shown_columns
from arena.figures.standings import HeadToHead, Tables, error_text, percent_text, rating_text
from arena.reports.contents import (
    CROSSTABLE_NOTE,
    SEARCH_STATISTICS_NOTE,
    SEQUENTIAL_NOTE,
    SUPERIORITY_NOTE,
    Contents,
    Plot,
    elo_text,
    facts_of,
    figure_text,
    interval_text,
    mean_text,
    number_text,
    repeat_command,
    sequential_facts,
    setting_text,
    summary_of,
    warnings_of,
)
from arena.reports.games import packed_games
from engine.rules import REASON_TEXT


def html_page(contents: Contents) -> str:
    """The whole page; it loads nothing from elsewhere."""
    assets = resources.files("arena.reports") / "assets"
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
        "summary": summary_of(contents, lambda name: f'<strong class="name">{escape(name)}</strong>'),
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
        "standings": "".join(f'<p class="note warning">{escape(text)}</p>' for text in warnings_of(contents))
        + _standings_html(contents)
        + _figure_html(contents.plot("ratings")),
        "crosstable": _crosstable_html(contents.tables),
        "superiority": _superiority_html(contents.tables),
        "sequential": _sequential_html(contents),
        "figures": _figures_html(contents.plots),
        "instruments": _search_statistics_html(contents),
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
            rating_text(row, tables), error_text(row, tables), f"{row.points:g}", number_text(row.games),
            number_text(row.wins), number_text(row.draws), number_text(row.losses), f"{100 * row.score:.1f}", pairs,
            mean_text(row.mean_depth, 1), mean_text(row.mean_nodes, 0), mean_text(row.mean_time_ms, 2),
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


def _duel_cell(duel: HeadToHead | None, is_self: bool) -> str:
    if duel is None:
        return '<td class="self"></td>' if is_self else "<td>\N{EN DASH}</td>"
    share = min(0.75, 1.5 * abs(duel.score - 0.5))
    direction = "up" if duel.score >= 0.5 else "down"
    mark = "" if duel.from_pairs else " *"
    return (
        f'<td class="{direction}" style="--share: {share:.2f}"><strong>{100 * duel.score:.1f}</strong>'
        f"{elo_text(duel.elo)} ± {interval_text(duel.elo_error)}{mark}"
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
    difference = f"{elo_text(elo)} ± {interval_text(error)}" if error < float("inf") else "\N{EN DASH}"
    direction = "up" if share >= 0.5 else "down"
    return (
        f'<td class="{direction}" style="--share: {1.5 * abs(share - 0.5):.2f}"><strong>{escape(percent_text(share))}'
        f'</strong><span class="small">{difference}</span></td>'
    )


def _sequential_html(contents: Contents) -> str:
    if contents.sequential is None:
        return ""
    facts = "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in sequential_facts(contents)
    )
    note = SEQUENTIAL_NOTE.format(batch=contents.sequential.settings.batch_pairs)
    figure = _figure_html(contents.plot("sequential"))
    return f'<p class="note">{escape(note)}</p><dl class="facts">{facts}</dl>{figure}'


def _figures_html(plots: Sequence[Plot]) -> str:
    """The figures that the page does not have elsewhere: ratings stand by the standings, scores in the crosstable."""
    figures = [_figure_html(plot) for plot in plots if plot.name not in ("ratings", "crosstable", "sequential")]
    return f'<div class="figures">{"".join(figures)}</div>'


def _figure_html(plot: Plot) -> str:
    from arena.reports.charts import svg_text

    picture = svg_text(plot.figure, plot.name, f"{plot.title}. {plot.caption}")
    caption = f"<strong>{escape(plot.title)}.</strong> {escape(plot.caption)}"
    return f'<figure><div class="chart-scroll">{picture}</div><figcaption>{caption}</figcaption></figure>'


def _search_statistics_html(contents: Contents) -> str:
    search_statistics = contents.search_statistics
    rows = [player_row(name, total, search_statistics.games[name]) for name, total in search_statistics.totals.items()]
    columns = shown_columns()
    main = _plain_table(
        [("Player", ""), *((head, unit) for head, unit, _, _ in columns)],
        [(row["player"], *(figure_text(figure(row), digits) for _, _, figure, digits in columns)) for row in rows],
    )
    ends = [row for name, total in search_statistics.totals.items() for row in end_rows(name, total)]
    endings = _plain_table(
        [("Player", ""), ("Ended by", ""), ("Searches", ""), ("Share", "%"), ("Nodes", "mean"), ("Time", "ms, mean")],
        [
            (
                row["player"], row["reason"].replace("_", " "), number_text(row["searches"]),
                figure_text(row["searches_percent"], 1), figure_text(row["mean_nodes"], 0),
                figure_text(row["mean_time_ms"], 2),
            )
            for row in ends
        ],
    )  # fmt: skip
    depths = [row for name, total in search_statistics.totals.items() for row in iteration_rows(name, total)]
    iterations = _plain_table(
        [
            ("Player", ""), ("Depth", "plies"), ("Searches", ""), ("Nodes", "mean"), ("Time", "ms, mean"),
            ("Nodes to depth", "mean"), ("Branching", "factor"),
        ],
        [
            (
                row["player"], str(row["depth_plies"]), number_text(row["searches"]), figure_text(row["mean_nodes"], 0),
                figure_text(row["mean_time_ms"], 2), figure_text(row["mean_nodes_to_depth"], 0),
                figure_text(row["branching_factor"], 2),
            )
            for row in depths
        ],
    )  # fmt: skip
    figures = "".join(_figure_html(plot) for plot in contents.instrument_plots)
    return (
        f'<p class="note">{escape(SEARCH_STATISTICS_NOTE)}</p>{main}<div class="figures">{figures}</div>'
        f"<h3>What ended the searches</h3>{endings}<h3>Iterations</h3>{iterations}"
    )


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
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in facts_of(contents))
    rows = "".join(
        f'<tr><th scope="row">{escape(player.name)}</th><td><code>{escape(str(player.limits))}</code></td>'
        f"<td>{escape(setting_text(player, contents.spec.game))}</td></tr>"
        for player in contents.spec.players
    )
    return (
        f'<dl class="facts">{facts}</dl><h3>Players</h3>'
        '<div class="scroll"><table><thead><tr><th scope="col">Player</th><th scope="col">Limit</th>'
        '<th scope="col">Setting</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div><h3>{contents.again}</h3>"
        f"<pre><code>{escape(repeat_command(contents.spec))}</code></pre>"
    )
