"""Files of settings that Python's own reader gives up on are one line that names the file and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.engine.settings.configuration import ConfigurationError, read_toml

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"a = 1\npairs = {LONG}\n", "line 2: pairs is a whole number of more than 4300 digits; write a shorter one"),
        (f"a = [\n{LONG}]\n", "line 2: there is a whole number of more than 4300 digits; write a shorter one"),
        (f"a = {'9_' * 5000}9", "line 1: a is a whole number of more than 4300 digits; write a shorter one"),
        ("a = " + "[" * 100_000, "lists or tables are nested too deeply; take some of the brackets out"),
    ],
)
def test_what_no_reader_takes_is_one_line(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        read_toml(path)
    assert str(raised.value) == f"{path}: {reason}"


def test_a_loop_of_links_is_one_line(tmp_path: Path) -> None:
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(ConfigurationError, match=r"one\.toml: cannot be read: Too many levels of symbolic links"):
        read_toml(one)
