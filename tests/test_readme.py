"""The READMEs: short, their examples work, and the two languages say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from elolab.engine.language import columns_of
from elolab.tuning.study.study_spec import load_tuning
from tests.support.documents import (
    blocks_in,
    broken_links_in,
    commands_in,
    files_in,
    in_chinese,
    links_in,
    read_command,
    text_of,
)

PAGE = "README.md"
EACH_PAGE = pytest.mark.parametrize("page", [PAGE, in_chinese(PAGE)])
MAX_LINES = 120
MAX_COLUMNS = 120
"""Of a terminal, in which a Chinese character takes two."""


@EACH_PAGE
def test_it_is_short(page: str) -> None:
    lines = text_of(page).splitlines()
    assert len(lines) <= MAX_LINES
    assert [line for line in lines if columns_of(line) > MAX_COLUMNS] == []


@EACH_PAGE
def test_its_commands_are_read_by_the_command_line(page: str) -> None:
    commands = [line for line in commands_in(page) if not line.startswith("make ")]
    assert {line.split()[1] for line in commands} == {"match", "sprt", "tune", "ablate"}
    for line in commands:
        read_command(line)


@EACH_PAGE
def test_commands_name_files_that_it_tells_to_save(page: str) -> None:
    named = {word for line in commands_in(page) for word in line.split() if word.endswith(".toml")}
    assert named == set(files_in(page))


@EACH_PAGE
def test_its_files_are_valid(page: str, tmp_path: Path) -> None:
    for name, content in files_in(page).items():
        (tmp_path / name).write_text(content, "utf-8")
    study = load_tuning(tmp_path / "search.toml")
    assert {dimension.name for dimension in study.space.dimensions} == {
        "null_depth", "history_weight", "aspiration_window", "quiescence",
    }  # fmt: skip


def test_the_first_screens_say_what_it_is() -> None:
    start = " ".join(text_of(PAGE).split("## Test your own engine")[0].split())
    for words in (
        "round-robin tournaments of self-play", "Optuna", "pandas", "numba", "matplotlib", "null move depth",
        "aspiration window (`valWINDOW`)", "history weight", "time divisor", "`engine/`", "`arena/`", "`tuning/`",
        "`configs/`", "`results/`", "`tests/`", "against none",
    ):  # fmt: skip
        assert words.lower() in start.lower(), words


def test_both_languages_show_the_same() -> None:
    pages = (PAGE, in_chinese(PAGE))
    files = [{name: tomllib.loads(content) for name, content in files_in(page).items()} for page in pages]
    assert files[0] == files[1]
    for shown in (
        [blocks_in(page, "text", "sh") for page in pages],
        [{link.replace(".zh-CN.md", ".md") for link in links_in(page)} for page in pages],
        [re.findall(r"^#+(?= )", text_of(page), re.MULTILINE) for page in pages],
    ):
        assert shown[0] == shown[1]


@EACH_PAGE
def test_links_to_files_lead_somewhere(page: str) -> None:
    assert broken_links_in(page) == []


@EACH_PAGE
def test_make_examples_are_targets(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", text_of("Makefile"), re.MULTILINE))
    named = {line.split()[1] for line in commands_in(page) if line.startswith("make ")}
    assert named
    assert named <= targets
