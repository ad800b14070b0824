"""Renders pages from the templates in a package's folder, ``templates/*.html.j2``, in one language.

Everything that a template prints is escaped, including messages, unless it is ``markupsafe.Markup``. jinja2 is imported
when the first page is rendered.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from elolab.engine.language import in_number, messages_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment
REPORTS = "elolab.arena.reports"
"""The package whose shared templates and messages every page may use."""


def render(template: str, language: str, /, **values: Any) -> str:
    """Render a template with ``values``.

    ``template`` is ``package/file``, such as ``elolab.arena.reports/document.html.j2``; templates refer to each other
    by such names. Templates call ``message`` for messages of their package and ``shell`` for messages that all pages
    share; fields of messages may be markup. Raises ``jinja2.TemplateError`` for a missing template, and ``KeyError``
    for a missing message.
    """
    package = template.partition("/")[0]
    page = _environment().get_template(template)
    messages = {"message": markup_messages(package, language), "shell": markup_messages(REPORTS, language)}
    return page.render(**messages, **values)


def markup_messages(package: str, language: str) -> Callable[..., Markup]:
    """A function that returns a message of a package, by its key, as markup.

    It escapes the message and its fields, except fields that are already markup.
    """

    def message(key: str, /, **values: Any) -> Markup:
        text = escape(in_number(messages_of(package, language)[key], values))
        return text.format(**values) if values else text

    return message


def asset(name: str) -> Markup:
    """The text of a style sheet or script of this package, as markup to include in a page."""
    return Markup((resources.files(REPORTS) / "assets" / name).read_text("utf-8"))


def board_script(game: str) -> Markup:
    """The script with a game's boards, from the game's folder, to follow ``boards.js``; empty if there is none."""
    path = resources.files("elolab.engine.games") / game / "board.js"
    return Markup(path.read_text("utf-8") if path.is_file() else "")


def picture(figure: Any, name: str, description: Markup) -> Markup:
    """A figure as an SVG element in the page's colours.

    ``name`` is the prefix of the ids in the element; ``description`` is for screen readers.
    """
    from elolab.arena.reports.drawing.style import svg_text

    return Markup(svg_text(figure, name, description.unescape()))


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.update(asset=asset, board_script=board_script, picture=picture)
    return environment


def _source(template: str) -> str | None:
    package, _, name = template.partition("/")
    try:
        return (resources.files(package) / "templates" / name).read_text("utf-8")
    except (ModuleNotFoundError, FileNotFoundError):
        return None
