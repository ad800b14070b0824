"""Finds a font with Chinese characters for plots, if this machine has one."""

from __future__ import annotations

import functools
from pathlib import Path

LATIN = "DejaVu Sans"
"""Name of the font for Latin text; matplotlib includes it."""
CHINESE = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC", "Hiragino Sans GB",
    "Heiti SC", "STHeiti", "Microsoft YaHei", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Noto Sans CJK TC",
    "Noto Sans CJK JP", "Droid Sans Fallback", "Arial Unicode MS",
)  # fmt: skip
"""Names of fonts with simplified Chinese characters, best first.

A font collection (``.ttc``) appears under the name of its first font, because matplotlib reads only that one.
"""
FILES = (
    "notosanscjk", "notosanssc", "sourcehansans", "pingfang", "heiti", "msyh", "simhei", "wqy-", "droidsansfallback",
)  # fmt: skip
"""Prefixes of the file names of fonts with Chinese characters, in lower case."""


def font_families() -> list[str]:
    """Font families of plots. Each character is taken from the first family that has it."""
    chinese = chinese_font()
    return [LATIN] if chinese is None else [LATIN, chinese]


def chart_language(language: str) -> str:
    """The language of text in plots: ``language``, or English if this machine has no font for it."""
    return language if language == "en" or chinese_font() is not None else "en"


@functools.cache
def chinese_font() -> str | None:
    """The name of a font with Chinese characters; ``None`` if this machine has none."""
    from matplotlib import font_manager

    known = _known_font()
    if known is not None:
        return known
    # matplotlib caches its list of fonts and misses fonts that were installed later.
    for path in font_manager.findSystemFonts():
        if Path(path).name.lower().startswith(FILES):
            font_manager.fontManager.addfont(path)
    return _known_font()


def _known_font() -> str | None:
    from matplotlib import font_manager

    names = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in CHINESE if name in names), None)
