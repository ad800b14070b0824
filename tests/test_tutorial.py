"""The pages in ``docs``: commands run as printed, what they name is there, and both languages say the same."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from elolab.arena.tournament_reader import spec_from_mapping
from elolab.cli import COMMANDS
from elolab.engine.settings.configuration import read_toml
from elolab.tuning.ablation.ablation_spec import load_ablation
from elolab.tuning.study.study_spec import load_tuning, matches_from_mapping, tuning_from_mapping
from tests.support.documents import (
    ROOT,
    blocks_in,
    broken_links_in,
    commands_in,
    files_in,
    in_chinese,
    read_command,
    text_of,
    without_comments,
)
from tests.support.printed import (
    block_of_now,
    brought_up_to_date,
    figures_in,
    is_printed,
    printed_in,
    prose_of,
    sections_of,
    unfounded_figures,
)

GUIDE = tuple(
    f"docs/{name}.md"
    for name in (
        "commands", "tournaments", "engines", "tuning", "ablation", "other-engines", "runs", "cluster", "files",
        "builtin-engine", "literature",
    )
)  # fmt: skip
"""The pages by task that show commands."""
PAGES = (
    "docs/guide.md", "docs/tutorial.md", "docs/python.md", "docs/statistics.md", "docs/glossary.md", "docs/how-to.md",
    "docs/programs.md",
    *GUIDE,
)  # fmt: skip
"""Each has a Chinese page beside it; ``docs/claims.md`` is generated, and tested in ``test_claims_page.py``."""


def each(*pages: str) -> pytest.MarkDecorator:
    """Every page in both languages."""
    return pytest.mark.parametrize("page", [name for page in pages for name in (page, in_chinese(page))])


COMMAND_SECONDS = 1800
"""The most for one command; the longest take about a minute, or compile the engine first."""
EXIT_CODES = {"sprt": {0, 3}, "tune": {0, 3}, "validate": {0, 3}}
"""3 is an answer of these; everything else must end with 0."""

NOT_RUN = {
    "elolab match ./mine default": "plays with a program of the reader's",
    "elolab match --engine cmd=./new option.Hash=64 --engine cmd=./old --each tc=10+0.1 --pairs 500": "the same",
    "elolab match --engine cmd=./new name=new option.Hash=64 --engine cmd=./old --each tc=10+0.1 --pairs 500":
        "the same",
    "elolab tournament --engine ./new --engine ./old --engine default set.null_move=off --rounds 2 --each nodes=1000":
        "the same",
    "elolab sprt ./new ./old --elo0 0 --elo1 10 --limit nodes=10000": "the same",
    "elolab sprt default no-null-move --elo0 0 --elo1 10 --limit nodes=1000": "plays up to tens of thousands of games",
    "elolab match fenon xqwlight-0.3 --pairs 200": "minutes; the tutorial has a shorter match",
    "elolab stats --pgn results/match-fenon-xqwlight-0.3-nodes-1000-seed-1/games.pgn --player fenon":
        "reads what that match wrote",
    'elolab sprt ./mine@HEAD ./mine@HEAD~1 --each cmd=src/mine build="make -j -C src" --limit clock=10+0.1':
        "builds a program of the reader's",
    "elolab bisect mine@v1.2 mine@main --elo1 10 --limit clock=10+0.1": "builds a program of the reader's",
    "elolab convert games.pgn --to jsonl | gzip > train.jsonl.gz": "reads games of the reader's",
    "elolab convert results/my-run --to epd --every-ply --out labelled.epd": "reads a run of the reader's",
    "elolab convert results/my-run --to plain --skip check,first=16,faults --out train.plain":
        "reads a run of the reader's",
    'elolab solve --fen "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1" --tb syzygy --moves': "reads tablebases of the reader's",
    "elolab tune first": "minutes; the tutorial has a shorter study",
    "elolab ablate null-depth": "minutes; the tutorial has a shorter ablation",
    "elolab ablate first": "minutes; the tutorial has a shorter ablation",
    "elolab claims --repeat C3f": "minutes",
    "elolab claims --game othello --only C20": "minutes",
    "elolab claims --budget full --minutes 240": "hours",
    "elolab claims --budget full --only C9a C12": "hours",
    "elolab check --protocol uci -- /path/to/engine --its-own arguments": "the same of a program of the reader's",
    "elolab adapt --option hashsize=32 -- eleeye": "adapts a program of the reader's",
    "elolab fit-evaluation --game othello --games 5000 --output mine.toml": "fits weights for many minutes",
    "elolab fit-evaluation --game xiangqi --games 5000 --iterations 3 --until-no-gain --output mine.toml":
        "fits weights for hours",
}  # fmt: skip
"""Commands of README.md and the guide that are too long for a test or need something else; all are parsed."""
STANDS_FOR = {"make demo": f"elolab tournament {ROOT}/configs/tournaments/demo-othello.toml"}
"""What is run instead: the figures in README.md are those of Othello, and packages are installed already."""
FIGURES_OF_GAMES = ("docs/tutorial.md", "README.md")
"""The pages that print what their commands do; the guide prints excerpts with names of its own."""
PRINTED_WITH = ROOT / "tests" / "data" / "golden" / "readme.txt"
"""The total of ``elolab bench`` when the figures in README.md were printed."""
RUN = ("docs/tutorial.md", *GUIDE, "README.md")
"""The pages whose commands are run."""


@each("docs/tutorial.md", "docs/claims.md", "docs/claims-methods.md", *GUIDE)
def test_commands_are_read_by_the_command_line(page: str) -> None:
    for line in commands_in(page):
        read_command(line)


@each("docs/tutorial.md")
def test_its_files_are_valid(page: str, tmp_path: Path) -> None:
    for name, content in files_in(page).items():
        (tmp_path / name).write_text(content, "utf-8")
    assert read_toml(tmp_path / "first.toml")["pairs"] == 20
    assert load_tuning(tmp_path / "gain.toml").base_name == "default with quiescence off"
    assert load_ablation(tmp_path / "worth.toml").questions == 3


@each("docs/commands.md")
def test_the_guide_has_every_command(page: str) -> None:
    assert set(re.findall(r"^\| `elolab ([\w-]+)", text_of(page), re.MULTILINE)) >= {row.name for row in COMMANDS}


@pytest.mark.parametrize("language", ["", ".zh-CN"])
def test_the_files_in_the_guide_are_valid(language: str, tmp_path: Path) -> None:
    names = ("tournaments", "engines", "tuning", "ablation", "other-engines")
    blocks = [blocks_in(f"docs/{name}{language}.md", "toml") for name in names]
    (
        (tournament, openings),
        (commit, xiangqi, othello),
        (tuning, validation, limits, spsa, constraints, matches),
        (ablation,),
        (external, builds),
    ) = blocks
    assert tomllib.loads(commit)["mine"]["source"] == "./mine@main"
    spec = spec_from_mapping(tomllib.loads(tournament), "mine.toml")
    assert [player.protocol for player in spec.players] == ["builtin", "builtin", "uci"]
    assert dict(spec.players[1].parameters)["null_move"] is False
    spec = spec_from_mapping({"pairs": 1, **tomllib.loads(xiangqi)}, "xiangqi.toml")
    assert [player.protocol for player in spec.players] == ["ucci", "xboard"]
    players = [{"name": "default"}, {"name": "no-null-move", "preset": "no-null-move"}]
    more = {"pairs": 1, "limit": "depth=1", "players": players, "opening_start": 2}
    spec = spec_from_mapping({**tomllib.loads(openings), **more}, str(tmp_path / "openings.toml"))
    assert (spec.opening_order, spec.opening_part) == ("sequential", "all")
    spec = spec_from_mapping({"game": "othello", "pairs": 1, **tomllib.loads(othello)}, "othello.toml")
    assert [player.protocol for player in spec.players] == ["gtp", "nboard"]
    (tmp_path / "gain.toml").write_text(tuning, "utf-8")
    assert len(load_tuning(tmp_path / "gain.toml").space.dimensions) == 4
    (tmp_path / "gain.toml").write_text(f"{tuning}\n{validation}", "utf-8")
    assert load_tuning(tmp_path / "gain.toml").validation.maximum_pairs == 4000
    several = {"game": "xiangqi", "budget": {"games": 8000}, "parameters": ["null_depth"], **tomllib.loads(limits)}
    assert len(tuning_from_mapping(several, "limits.toml").limit_shares.limits) == 3
    walk = {"game": "xiangqi", "limit": "depth=1", "budget": {"games": 8000}, **tomllib.loads(spsa)}
    assert tuning_from_mapping(walk, "spsa.toml").space.dimensions[0].c_end == 4
    own, more = tomllib.loads(matches), tomllib.loads(constraints)
    bounds = {name: {"low": 0, "high": 99, "default": default} for name, default in (("low", 20), ("high", 60))}
    bounds |= {"Pruning": {"choices": [True, False], "default": True}, **more["dimensions"]}
    assert matches_from_mapping(own, "mine.toml").space.names == ("margin", "mode")
    assert len(matches_from_mapping(own | more | {"dimensions": bounds}, "mine.toml").space.constraints) == 2
    (tmp_path / "worth.toml").write_text(ablation, "utf-8")
    assert load_ablation(tmp_path / "worth.toml").factorials
    questions = {"external.toml": (external, 9), "builds.toml": (builds, 1)}
    for name, (content, number) in questions.items():
        (tmp_path / name).write_text(content, "utf-8")
        assert load_ablation(tmp_path / name).questions == number


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_show_the_same(page: str) -> None:
    other = in_chinese(page)
    assert commands_in(page) == commands_in(other)
    tables = [[without_comments(block) for block in blocks_in(one, "toml")] for one in (page, other)]
    assert tables[0] == tables[1]
    assert blocks_in(page, "text", "python") == blocks_in(other, "text", "python")
    headings = [re.findall(r"^#+(?= )", text_of(one), re.MULTILINE) for one in (page, other)]
    assert headings[0] == headings[1]
    rows = [len(re.findall(r"^\|", text_of(one), re.MULTILINE)) for one in (page, other)]
    assert rows[0] == rows[1]


def test_the_glossaries_have_the_same_terms() -> None:
    rows = [
        [[cell.strip() for cell in line.split("|")[1:3]] for line in text_of(page).splitlines()[6:] if line[:1] == "|"]
        for page in ("docs/glossary.md", "docs/glossary.zh-CN.md")
    ]
    assert rows[0] == [[english, chinese] for chinese, english in rows[1]]


@each("docs/glossary.md")
def test_a_glossary_is_short(page: str) -> None:
    assert len(text_of(page).splitlines()) <= 40


@each(*PAGES, "docs/claims.md", "docs/claims-methods.md", "docs/claims-appendix.md", "docs/ablations.md")
def test_links_lead_somewhere(page: str) -> None:
    assert broken_links_in(page) == []


@each("docs/how-to.md")
def test_files_and_names_in_how_tos_exist(page: str) -> None:
    quoted = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)))
    files = {text for text in quoted if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", text) and ("/" in text or "." in text)}
    files = {text for text in files if "NAME" not in text and not text.startswith("parameters.")}
    games = [path.parent for path in (ROOT / "engine/games").glob("*/__init__.py")]
    missing = {
        name
        for name in files
        if not any((ROOT / base / name).exists() for base in ("", "engine/games"))
        and not all((game / name).exists() for game in games)  # files of every game's folder
    }
    assert missing <= {"contract.py", "__init__.py", ".venv"}  # of the folder spoken of, and what `make` makes
    words = {
        word
        for folder in ("engine", "arena", "tuning", "tests", "configs/engines")
        for pattern in ("*.py", "*.toml", "*.js")
        for path in (ROOT / folder).rglob(pattern)
        if path.name != Path(__file__).name
        for word in re.findall(r"\w+", path.read_text("utf-8"))
    }
    names = {name for text in quoted - files for name in re.findall(r"^[A-Za-z_]\w+(?=$|\()", text)} - {"NAME"}
    assert len(names) > 30
    assert names <= words, f"not in the sources: {', '.join(sorted(names - words))}"


def test_commands_that_are_not_run_are_still_there() -> None:
    assert set(NOT_RUN) <= {line for page in RUN for line in commands_in(page)}


def output_of(commands: list[str], folder: Path, programs: Path) -> dict[str, str]:
    """What each command prints, one after another in a folder; all must end as they should."""
    programs.mkdir()
    (programs / "elolab").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m elolab "$@"\n')
    (programs / "elolab").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "80", "ELOLAB_LANGUAGE": "en",
    }  # fmt: skip
    outputs = {}
    for line in commands:
        ended = subprocess.run(
            STANDS_FOR.get(line, line), shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_SECONDS,
        )  # fmt: skip
        assert ended.returncode in EXIT_CODES.get(line.split()[1], {0}), f"{line}\n{ended.stdout}"
        outputs[line] = ended.stdout
    return outputs


@pytest.mark.slow  # plays the games of the tutorial: minutes
@pytest.mark.parametrize("page", RUN)
def test_commands_run_and_print_as_printed(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    for name, content in files_in(page).items() if page in FIGURES_OF_GAMES else ():
        (folder / name).write_text(content, "utf-8")
    commands = [line for line in commands_in(page) if line not in NOT_RUN]
    outputs = output_of(commands, folder, tmp_path / "bin")
    text = text_of(page)
    blocks = [
        (printed, "".join(outputs[line] for line in printed.commands if line in outputs))
        for printed in printed_in(text)
        if page in FIGURES_OF_GAMES
    ]
    if request.config.getoption("--update-golden"):
        now = [(printed, block_of_now(printed.text, output)) for printed, output in blocks]
        lost = [printed.text for printed, block in now if block is None]
        assert not lost, "no longer printed, whatever the figures: edit the page by hand:\n" + "\n\n".join(lost)
        for one in (page, in_chinese(page)):
            there = [(there, block) for there, (_, block) in zip(printed_in(text_of(one)), now, strict=True) if block]
            (ROOT / one).write_text(brought_up_to_date(text_of(one), there), "utf-8")
        if page == "README.md":
            PRINTED_WITH.write_text(bench_total())
        return
    stale = [printed.text for printed, output in blocks if not is_printed(printed.text, output)]
    assert not stale, "prints other figures now (pytest --update-golden writes them):\n" + "\n\n".join(stale)
    if page in FIGURES_OF_GAMES:
        reports = {str(path): path.read_text("utf-8") for path in folder.rglob("results/**/*.md")}
        versions = {"Makefile": text_of("Makefile")}  # of Python
        assert unfounded_figures(text, outputs | reports | versions) == []


def bench_total() -> str:
    """The line with the total of the benchmark, without chess: no figure in README.md is from chess."""
    (line,) = re.findall(r"^Bench: \d+\n", text_of("tests/data/golden/bench.txt"), re.MULTILINE)
    return str(line)


def test_figures_in_the_readme_are_those_of_the_engine_today() -> None:
    assert PRINTED_WITH.read_text() == bench_total(), (
        "the engine plays otherwise than when README.md was printed: python -m pytest -m slow tests/test_tutorial.py "
        "-k README --update-golden prints it anew"
    )


@pytest.mark.parametrize("page", FIGURES_OF_GAMES)
def test_both_languages_have_the_same_figures(page: str) -> None:
    pages = [sections_of(text_of(one)) for one in (page, in_chinese(page))]
    assert len(pages[0]) == len(pages[1])
    for english, chinese in zip(*pages, strict=True):
        figures = [figures_in(prose_of(one)) for one in (english, chinese)]
        longer = [sorted(figure for figure in some if len(figure) > 1) for some in figures]
        assert longer[0] == longer[1]


def test_what_a_page_prints_is_compared_and_brought_up_to_date() -> None:
    block = "1 old  +12.5\n2 new   −3.0"
    page = f"## One\n\n```sh\nelolab match a b\n```\n\n```text\n{block}\n```\n\nIt leads by 12.5, −3.0.\n"
    (printed,) = printed_in(page)
    assert (printed.section, printed.text, printed.commands) == (1, block, ("elolab match a b",))
    assert is_printed(printed.text, "before\n1 old  +12.5\n2 new   −3.0\nafter\n")
    assert not is_printed(printed.text, "1 old  +12.5\n2 new   −3.1\n")
    now = block_of_now(block, "1 new  +100.0\n2 old  −20.25\n")
    assert now == "1 new  +100.0\n2 old  −20.25"
    assert block_of_now(block, "1 new  +100.0\n") is None
    assert brought_up_to_date(page, [(printed, now)]) == page.replace(block, now).replace(
        "by 12.5, −3.0", "by −20.25, 100.0"
    )
    assert unfounded_figures(page, {}) == []
    assert unfounded_figures(page + "Now it is 13.5.", {}) == ["13.5"]
    assert unfounded_figures(page + "Now it is 13.5.", {"elolab match a b": "13.5"}) == []
