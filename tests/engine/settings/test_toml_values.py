"""Values as TOML writes them."""

from __future__ import annotations

import tomllib
from datetime import date
from typing import Any

import pytest

from elolab.engine.settings.toml_values import format_toml, toml_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (False, "false"), (7, "7"), (0.5, "0.5"), (float("inf"), "inf"), ("it's\n\"炮\"", None),
        ([True, "a", [1]], '[true, "a", [1]]'), (["a\\b"], '["a\\\\b"]'), (date(2026, 1, 31), "2026-01-31"),
        ({"a": False, "b c": {"d-e": []}}, '{a = false, "b c" = {d-e = []}}'),
    ],
)  # fmt: skip
def test_values_are_written_as_toml_reads_them(value: Any, text: str | None) -> None:
    assert text in (None, toml_value(value))
    assert tomllib.loads(f"value = {toml_value(value)}")["value"] == value


def test_a_text_that_is_told_has_single_quotation_marks() -> None:
    assert [format_toml(value) for value in ("a", True, ["a"], None, date)] == [
        "'a'", "true", '["a"]', "None", "<class 'datetime.date'>",
    ]  # fmt: skip
