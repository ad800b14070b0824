"""The style of figures, and the files and markup they become: PNG, SVG and PDF, and SVG that follows a page's colours.

matplotlib is imported inside functions only.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from elolab.arena.reports.drawing.fonts import LATIN, font_families

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_INCHES = 6.8
PNG_DOTS_PER_INCH = 300
INK, MUTED, GRID, GROUND = "#23272e", "#6a7079", "#dddddb", "#fffefc"
WIN, EVEN, LOSS = "#2f6f9f", "#b9bcc0", "#cf7a30"
GAIN, SETBACK = "#8fb5d1", "#e8bb8d"
BLACK, WHITE = "#15181c", "#f6f3ea"
"""As pieces and discs are, and what is written on a colour that no theme changes: these stay as they are on pages."""
SERIES = ("#2f6f9f", "#c8442f", "#3f8f5f", "#8a5aa8", "#b8862b", "#4d9fb5", "#a8486f", "#6f7f2f")
PALETTE = {
    INK: "ink", MUTED: "muted", GRID: "line", GROUND: "ground", WIN: "win", EVEN: "even", LOSS: "loss", GAIN: "gain",
    SETBACK: "setback", **{color: f"series-{number}" for number, color in enumerate(SERIES) if color != WIN},
}  # fmt: skip
"""The colours figures may use, and the page's variable that replaces each in SVG (so that dark mode works)."""


def new_figure(
    height_inches: float,
    rows: int = 1,
    columns: int = 1,
    *,
    widths: Sequence[float] | None = None,
    share_scale: bool = True,
    font_size: float = 12,
) -> tuple[Figure, Any]:
    """An empty figure in the reports' style and its axes, shape (rows, columns).

    The axes share their vertical scale unless told otherwise; ``widths`` are relative.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = {
        "svg.fonttype": "none", "font.family": font_families(), "font.size": font_size, "text.color": INK,
        "text.parse_math": False, "axes.labelcolor": MUTED, "axes.edgecolor": MUTED, "xtick.color": MUTED,
        "ytick.color": MUTED, "ytick.labelcolor": INK, "axes.unicode_minus": True,
    }  # fmt: skip
    matplotlib.rcParams.update(style)  # type: ignore[arg-type]
    figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained", facecolor=GROUND)
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_scale, width_ratios=widths)
    for axes in grid.flat:
        axes.set_facecolor("none")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(which="both", length=0)
        axes.set_axisbelow(True)
    return figure, grid


def single_axes(height_inches: float, font_size: float = 12) -> tuple[Figure, Axes]:
    """A figure of one picture, and its axes."""
    figure, grid = new_figure(height_inches, font_size=font_size)
    return figure, grid[0, 0]


def draw_grid(axes: Axes, way: str) -> None:
    """Lines at the ticks of the axis ``way``, ``x`` or ``y``."""
    axes.grid(axis=way, color=GRID, linewidth=0.8)  # type: ignore[arg-type]


FORMATS = ("png", "pdf", "svg")
"""The endings that a figure's files may have, in the order in which they are written."""
_drawn_svg: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()
"""A report needs each figure twice as SVG, as a file and in its page, and to draw it takes a while."""


def _lay_out(figure: Figure) -> None:
    """Find the places of all parts once: otherwise every file of the figure is laid out anew, and twice."""
    from matplotlib.layout_engine import PlaceHolderLayoutEngine

    engine = figure.get_layout_engine()
    if engine is None:
        return
    if not isinstance(engine, PlaceHolderLayoutEngine):  # which a figure has that is laid out for good
        figure.draw_without_rendering()
    figure.set_layout_engine(None)


def svg_of(figure: Figure) -> str:
    """The figure as a picture of its own; drawn when it is first asked for."""
    import matplotlib

    if figure not in _drawn_svg:
        _lay_out(figure)
        stream = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": "elolab"}):
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        _drawn_svg[figure] = stream.getvalue()
    return _drawn_svg[figure]


def figure_file(figure: Figure, ending: str) -> bytes:
    """The figure as ``png`` (300 dpi), ``svg`` or ``pdf``; the same bytes for the same figure.

    Text stays text in SVG and PDF.
    """
    _lay_out(figure)
    if ending == "svg":
        return svg_of(figure).encode()
    stream = io.BytesIO()
    if ending == "png":
        figure.savefig(stream, format="png", dpi=PNG_DOTS_PER_INCH, metadata={"Software": None})
    else:
        figure.savefig(stream, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return stream.getvalue()


def svg_text(figure: Figure, name: str, description: str) -> str:
    """The figure as an SVG element for a page: colours are the page's variables, ids begin with ``name``."""
    text = svg_of(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)
    for color, variable in PALETTE.items():
        text = text.replace(color, f"var(--{variable})")
    text = re.sub(rf"font: ([^\"]*?)'{LATIN}'[^;\"]*", r"font: \1var(--sans)", text)
    label = html.escape(description, quote=True)
    return text.replace("<svg ", f'<svg class="chart" role="img" aria-label="{label}" ', 1)
