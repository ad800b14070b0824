"""Output of the parameter table: text for a terminal, and plain data for JSON."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from elolab.engine.games import GAMES, game_named
from elolab.engine.settings.parameters import BY_NAME, Parameter, Value, format_value, parameters_of

SOURCES = {
    "EE": "ElephantEye, chapter 8 (2005); EE 8.2 and 8.3 are its sections",
    "AW": "Aspiration windows (Moreland)",
    "FN": "Null move in practice (fenon, 2006)",
    "XQ": "XQWizard Light 0.3 (2008); XQ 3.1 and 3.4 are its sections",
    "OT": "Othello, iterative deepening (2021)",
    "3.31": "ElephantEye 3.31 as released",
    "ours": "what no text says",
}
"""The literature for each abbreviation in the column of sources."""

MEASUREMENTS = Path(__file__).parent / "parameter_measurements.toml"
"""File with measurements that support the defaults, by parameter.

The file is not Python code, so that a new figure does not require the engine to be compiled again.
"""


@cache
def measurements(game: str) -> Mapping[str, str]:
    """Measured effects of parameters in a game, by parameter: a line of text with Elo differences from the default."""
    found = tomllib.loads(MEASUREMENTS.read_text("utf-8")).get(game, {})
    return {str(name): str(text) for name, text in found.items()}


@cache
def chinese_meanings() -> Mapping[str, str]:
    """Chinese explanations by parameter; the English ones are in the rows of ``parameters.PARAMETERS``."""
    return tomllib.loads((Path(__file__).parent / "parameter_meanings.zh.toml").read_text("utf-8"))


def meaning(row: Parameter, language: str) -> str:
    """The parameter's explanation in ``language``, one of ``engine.language.LANGUAGES``."""
    return chinese_meanings()[row.name] if language == "zh" else row.doc


def unit_in(game: str, row: Parameter) -> str:
    """The parameter's unit in a game. Games that count discs use hundredths of a disc instead of centipawns."""
    return row.unit.replace("centipawns", "hundredths of a disc") if game_named(game).score_unit else row.unit


_INDENT = "    "
_MIN_LEGAL_WIDTH = 24
"""Minimum width, in characters, of the column of legal values. If it is narrower, they go on lines of their own."""


def as_text(rows: Sequence[Parameter], game: str, width: int) -> str:
    """Aligned lines of at most ``width`` columns: name, default and legal values, followed by the explanation."""
    name_width = max(len(row.name) for row in rows)
    default_width = max(len(format_value(row.default)) for row in rows)
    narrow = width < name_width + default_width + 4 + _MIN_LEGAL_WIDTH
    lines = [f"{'parameter':<{name_width}}  {'default':<{default_width}}{'' if narrow else '  legal values'}"]
    for row in rows:
        head = f"{row.name:<{name_width}}  {format_value(row.default):<{default_width}}"
        if narrow:
            lines.append(head.rstrip())
            lines += textwrap.wrap(_legal(row, game), width, initial_indent=_INDENT, subsequent_indent=_INDENT)
        else:
            head += "  "
            lines += textwrap.wrap(_legal(row, game), width, initial_indent=head, subsequent_indent=" " * len(head))
        lines += textwrap.wrap(_sentence(row.doc), width, initial_indent=_INDENT, subsequent_indent=_INDENT)
        lines += textwrap.wrap(_details(row, game), width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    lines += ["", "Sources"]
    for mark, meaning in SOURCES.items():
        lines += textwrap.wrap(f"[{mark}] {meaning}", width, initial_indent=_INDENT, subsequent_indent=_INDENT * 2)
    return "\n".join(lines) + "\n"


def as_data(rows: Sequence[Parameter], game: str) -> list[dict[str, Any]]:
    """Plain data: for each parameter a dictionary with every column of the table."""
    return [
        {
            "name": row.name,
            "aliases": list(row.aliases),
            "kind": row.kind,
            "default": row.default,
            "legal": list(row.legal),
            "tuning": list(row.tuning),
            "scale": row.scale,
            "unit": unit_in(game, row),
            "games": list(row.games),
            "depends_on": {"parameter": row.depends_on[0], "values": list(row.depends_on[1])}
            if row.depends_on
            else None,
            "sound": row.sound,
            "protocol_name": row.protocol_name,
            "doc": row.doc,
            "source": row.source,
            "measured": measurements(game).get(row.name),
        }
        for row in rows
    ]


PARAMETER_KINDS = {"switch": "switch", "integer": "whole number", "choice": "choice", "weights": "file of weights"}


def in_full(names: Sequence[str], games: Sequence[str], width: int) -> str:
    """All properties of the named parameters in the given games, in lines of at most ``width`` columns.

    A value that differs between games is followed by the game in brackets. Each parameter must apply to at least one of
    the games.
    """
    return "\n".join(_one_in_full(_rows_by_game(name, games), width) for name in names)


def in_full_as_data(names: Sequence[str], games: Sequence[str]) -> list[dict[str, Any]]:
    """The named parameters as plain data: the columns of ``as_data`` for the first game to which a parameter applies,
    and the parameter's defaults, units and measurements by game.
    """
    found = []
    for name in names:
        rows = _rows_by_game(name, games)
        first = next(iter(rows))
        found.append(as_data([rows[first]], first)[0] | {
            "defaults": {game: row.default for game, row in rows.items()},
            "units": {game: unit_in(game, row) for game, row in rows.items()},
            "measurements": {game: measurements(game).get(name) for game in rows},
        })  # fmt: skip
    return found


def _rows_by_game(name: str, games: Sequence[str]) -> dict[str, Parameter]:
    """The parameter's row for each of ``games`` that it applies to."""
    return {game: row for game in games for row in parameters_of(game) if row.name == name}


def _one_in_full(rows: Mapping[str, Parameter], width: int) -> str:
    row = next(iter(rows.values()))

    def by_game(text: Callable[[Parameter, str], str]) -> str:
        texts = {game: text(own, game) for game, own in rows.items()}
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        alike = {one: [game for game in texts if texts[game] == one] for one in texts.values() if one}
        return "; ".join(f"{one} ({', '.join(games)})" for one, games in alike.items())

    tuning = "" if not row.tuning else by_game(lambda own, game: _values(own.kind, own.tuning))
    properties = {
        "aliases": ", ".join(row.aliases),
        "option": row.protocol_name,
        "kind": PARAMETER_KINDS[row.kind],
        "games": ", ".join(row.games or GAMES),
        "default": by_game(lambda own, game: format_value(own.default)),
        "legal": by_game(lambda own, game: _values(own.kind, own.legal)),
        "tuning": f"{tuning} (log)" if tuning and row.kind == "integer" and row.scale == "log" else tuning,
        "unit": by_game(lambda own, game: unit_in(game, own)),
        "needs": by_game(lambda own, game: _need(own)),
        "sound": "yes" if row.sound else "no",
        "meaning": _sentence(row.doc),
        "source": _sentence(row.source),
        "measured": by_game(lambda own, game: measurements(game).get(own.name, "")),
    }
    title_width = max(map(len, properties))
    lines = [row.name]
    for title, metadata in properties.items():
        head = f"{_INDENT}{title:<{title_width}}  "
        lines += textwrap.wrap(metadata or "-", width, initial_indent=head, subsequent_indent=" " * len(head))
    return "\n".join(lines) + "\n"


def _legal(row: Parameter, game: str) -> str:
    return f"{_values(row.kind, row.legal)} {unit_in(game, row)}".strip()


def _details(row: Parameter, game: str) -> str:
    parts = []
    if row.depends_on is not None:
        parts.append(f"Needs {_need(row)}.")
    if row.kind == "integer" and row.tuning:
        parts.append(f"Tuned over {_values(row.kind, row.tuning)}{' (log)' if row.scale == 'log' else ''}.")
    if row.games:
        parts.append(f"Only in {', '.join(row.games)}.")
    if row.sound:
        parts.append("Sound.")
    if row.aliases:
        parts.append(f"Also called {', '.join(row.aliases)}.")
    parts.append(f"Option {row.protocol_name}. {_sentence(row.source)}")
    if row.name in measurements(game):
        parts.append(f"Measured: {_sentence(measurements(game)[row.name])}")
    return " ".join(parts)


def _need(row: Parameter) -> str:
    if row.depends_on is None:
        return ""
    name, values = row.depends_on
    if BY_NAME[name].kind == "integer":
        return f"{name} = {_values('integer', (values[0], values[-1]))}"
    return f"{name} = {' or '.join(format_value(value) for value in values)}"


def _values(kind: str, values: Sequence[Value]) -> str:
    if kind == "weights" and values:
        return f"a file of weights for {' or '.join(map(str, values))}"
    separator = " to " if kind == "integer" else ", "
    return separator.join(format_value(value) for value in values)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
