"""Renders pages from the templates of a package, ``templates/*.html.j2``, in a language.

All text is escaped, including messages, unless it is ``markupsafe.Markup``. jinja2 is imported when the first page is
rendered.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from elolab.engine.language import messages_of, with_number_forms

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment
REPORTS = "elolab.arena.reports"
"""The package whose templates and messages all pages may use."""


def render(template: str, language: str, /, **values: Any) -> str:
    """Render a template with ``values``; returns the page.

    ``template`` is ``package/file``, such as ``elolab.arena.reports/document.html.j2``. A template includes another
    template by a name of this form. A template calls the function ``message`` for a message of its own package and
    ``shell`` for a message of the package ``REPORTS``; fields of messages may be markup. Raises
    ``jinja2.TemplateError`` for a missing template and ``KeyError`` for a missing message.
    """
    package = template.partition("/")[0]
    page = _environment().get_template(template)
    messages = {"message": markup_messages(package, language), "shell": markup_messages(REPORTS, language)}
    return page.render(**messages, **values)


def markup_messages(package: str, language: str) -> Callable[..., Markup]:
    """A function that returns a package's message as markup. Its arguments are the message's key and fields.

    The function escapes the message, and all fields that are not markup.
    """

    def message(key: str, /, **values: Any) -> Markup:
        text = escape(with_number_forms(messages_of(package, language)[key], values))
        return text.format(**values) if values else text

    return message


def asset(name: str) -> Markup:
    """The text of a style sheet or script in this package's ``assets``, as markup to include in a page."""
    return Markup((resources.files(REPORTS) / "assets" / name).read_text("utf-8"))


def board_script(game: str) -> Markup:
    """The script that draws a game's boards, to be included after ``boards.js``; empty if the game has none."""
    path = resources.files("elolab.engine.games") / game / "board.js"
    return Markup(path.read_text("utf-8") if path.is_file() else "")


def picture(figure: Any, name: str, description: Markup) -> Markup:
    """A figure as an SVG element in the colours of the page.

    ``name`` is the prefix of the ids in the element; ``description`` is for screen readers.
    """
    from elolab.arena.reports.drawing.style import svg_text

    return Markup(svg_text(figure, name, description.unescape()))


def breakable(name: object) -> Markup:
    """A name as markup that allows a line break after each underscore, so that long names break between their words."""
    return escape(name).replace("_", Markup("_<wbr>"))


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["breakable"] = breakable
    environment.globals.update(asset=asset, board_script=board_script, picture=picture)
    return environment


def _source(template: str) -> str | None:
    package, _, name = template.partition("/")
    try:
        return (resources.files(package) / "templates" / name).read_text("utf-8")
    except (ModuleNotFoundError, FileNotFoundError):
        return None
