"""The style of plots and their output: PNG, SVG and PDF files, and SVG in the colours of a page.

matplotlib is imported only inside functions.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal
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
"""A dark and a light colour that do not depend on the page's theme: for pieces, and for text on fixed backgrounds."""
SERIES = ("#2f6f9f", "#c8442f", "#3f8f5f", "#8a5aa8", "#b8862b", "#4d9fb5", "#a8486f", "#6f7f2f")
PALETTE = {
    INK: "ink", MUTED: "muted", GRID: "line", GROUND: "ground", WIN: "win", EVEN: "even", LOSS: "loss", GAIN: "gain",
    SETBACK: "setback", **{color: f"series-{number}" for number, color in enumerate(SERIES) if color != WIN},
}  # fmt: skip
"""Colours of plots, each with the name of a CSS variable that replaces it in pages, for light and dark mode."""


def new_figure(
    height_inches: float, rows: int = 1, columns: int = 1, *, widths: Sequence[float] | None = None,
    share_scale: bool = True, font_size: float = 10,
) -> tuple[Figure, Any]:  # fmt: skip
    """Create an empty figure in the style of reports; returns it and an array of its axes, shape (rows, columns).

    The figure is ``WIDTH_INCHES`` wide; ``widths`` are the relative widths of its columns. With ``share_scale``, all
    plots have a common y scale. ``font_size`` is in points.
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
    """Create an empty figure with a single plot, see ``new_figure``; returns the figure and its axes."""
    figure, grid = new_figure(height_inches, font_size=font_size)
    return figure, grid[0, 0]


def draw_grid(axes: Axes, way: Literal["x", "y"]) -> None:
    """Draw grid lines at the ticks of an axis; ``way`` is ``x`` or ``y``."""
    axes.grid(axis=way, color=GRID, linewidth=0.8)


def whole_numbers(axes: Axes, way: Literal["x", "y"], most: int = 7) -> None:
    """Restrict the ticks of an axis to whole numbers, and to about ``most`` ticks; ``way`` is ``x`` or ``y``."""
    from matplotlib.ticker import MaxNLocator

    (axes.xaxis if way == "x" else axes.yaxis).set_major_locator(MaxNLocator(nbins=most, integer=True))


def name_rows(axes: Axes, names: Sequence[str], font_size: float | None = None) -> None:
    """Label the rows of a chart with names. Rows are numbered from 0 at the top, and each is 1 high."""
    axes.set_yticks(range(len(names)), names, fontsize=font_size)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)


def legend_above(
    figure: Figure, columns: int, font_size: float = 11,
    loc: Literal["outside upper center", "outside upper left"] = "outside upper center", **options: Any,
) -> None:  # fmt: skip
    """Add a legend with ``columns`` columns above the plots of a figure.

    ``font_size`` is in points; ``loc`` and ``options`` are passed to ``Figure.legend``. A legend on the left remains
    visible on a phone, which shows only the left part of a wide figure.
    """
    space = {"columnspacing": 1.2} if loc == "outside upper center" else {"columnspacing": 0.8, "handletextpad": 0.4}
    figure.legend(loc=loc, frameon=False, ncols=columns, fontsize=font_size, **{**space, **options})


FORMATS = ("png", "pdf", "svg")
"""File formats of plots, in the order in which they are written."""
_drawn_svg: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()
"""The SVG text of figures; cached because a report uses it twice, in a file and in the page."""


def _lay_out(figure: Figure) -> None:
    """Compute the layout of the figure once and fix it, because matplotlib would compute it twice for every file."""
    from matplotlib.layout_engine import PlaceHolderLayoutEngine

    engine = figure.get_layout_engine()
    if engine is None:
        return
    if not isinstance(engine, PlaceHolderLayoutEngine):  # the layout is not finished
        figure.draw_without_rendering()
    figure.set_layout_engine(None)


def _with_numbered_ids(svg: str) -> str:
    """Replace the ids that end in ten hexadecimal digits by numbered ones, such as ``p1`` for the first clip path.

    matplotlib computes these ids from coordinates, whose last digits differ between versions of its libraries.
    """
    found = dict.fromkeys(re.findall(r'\bid="(\w*[0-9a-f]{10})"', svg))
    numbered = {name: f"{name[0]}{number}" for number, name in enumerate(found, start=1)}
    return re.sub("|".join(found), lambda name: numbered[name[0]], svg) if found else svg


def svg_of(figure: Figure) -> str:
    """The figure as the text of an SVG file; rendered only once."""
    import matplotlib

    if figure not in _drawn_svg:
        _lay_out(figure)
        stream = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": "elolab"}):
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        _drawn_svg[figure] = _with_numbered_ids(stream.getvalue())
    return _drawn_svg[figure]


def figure_file(figure: Figure, ending: str) -> bytes:
    """The figure as the content of a file: ``ending`` is ``png`` (300 dpi), ``svg`` or ``pdf``.

    Equal figures give equal bytes. SVG and PDF contain text as text, not as outlines.
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
    """The figure as an SVG element for a page. ``description`` is for screen readers.

    CSS variables of the page replace the colours; all ids get the prefix ``name``.
    """
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
