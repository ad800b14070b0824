"""Recognition of a Dask scheduler's address, without importing the library."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")


def is_scheduler_address(text: str) -> bool:
    """Whether the text is protocol, host and port, such as ``tcp://192.168.1.5:8786``."""
    return bool(_ADDRESS.fullmatch(text))
