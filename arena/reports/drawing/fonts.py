"""Which font draws Chinese in figures, and so whether figures can be in Chinese on this machine."""

from __future__ import annotations

import functools
from pathlib import Path

LATIN = "DejaVu Sans"
"""Comes with matplotlib."""
CHINESE = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC", "Hiragino Sans GB",
    "Heiti SC", "STHeiti", "Microsoft YaHei", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Noto Sans CJK TC",
    "Noto Sans CJK JP", "Droid Sans Fallback", "Arial Unicode MS",
)  # fmt: skip
"""Fonts that have simplified Chinese, best first; matplotlib calls a collection by its first font."""
FILES = (
    "notosanscjk", "notosanssc", "sourcehansans", "pingfang", "heiti", "msyh", "simhei", "wqy-", "droidsansfallback",
)  # fmt: skip
"""How the files of such fonts begin."""


def font_families() -> list[str]:
    """The families that figures are drawn with: each character by the first that has it."""
    chinese = chinese_font()
    return [LATIN] if chinese is None else [LATIN, chinese]


def chart_language(language: str) -> str:
    """The language of figures in a report: English where no font could draw another one."""
    return language if language == "en" or chinese_font() is not None else "en"


@functools.cache
def chinese_font() -> str | None:
    """The name of a font with Chinese characters, if this machine has one."""
    from matplotlib import font_manager

    known = _known_font()
    if known is not None:
        return known
    # matplotlib keeps its list of fonts and does not look again for what was installed since.
    for path in font_manager.findSystemFonts():
        if Path(path).name.lower().startswith(FILES):
            font_manager.fontManager.addfont(path)
    return _known_font()


def _known_font() -> str | None:
    from matplotlib import font_manager

    names = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in CHINESE if name in names), None)
