"""Formatting of values as TOML, for files and messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any


def toml_value(value: Any) -> str:
    """Format plain data as TOML; values of types that TOML does not have are written as Python writes them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(toml_lines(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str | bool):  # written alike in JSON and TOML
        return json.dumps(value, ensure_ascii=False)
    return value.isoformat() if isinstance(value, date | time) else repr(value)


def toml_lines(table: Mapping[Any, Any]) -> list[str]:
    """The lines ``key = value`` of a table."""
    return [f"{toml_key(str(key))} = {toml_value(value)}" for key, value in table.items()]


def toml_key(key: str) -> str:
    """Format a key as TOML, in quotation marks if necessary."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_value(key)


def format_toml(value: Any) -> str:
    """Format a value as TOML for an error message; strings are quoted as by Python's ``repr``."""
    return repr(value) if isinstance(value, str) else toml_value(value)
