"""Text apart from code: the catalogues of both languages, what uses them, and reports and console in Chinese."""

from __future__ import annotations

import ast
import csv
import functools
import io
import json
import re
import string
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from elolab.arena.play.live import RunProgress
from elolab.arena.play.scores import Scoreboard
from elolab.arena.records import Outcome, Pairing
from elolab.arena.reports.drawing import fonts
from elolab.arena.reports.render import markup_messages
from elolab.arena.statistics.elo import SPRT_MODELS
from elolab.command_line import main
from elolab.engine.games import GAMES
from elolab.engine.language import (
    LANGUAGES,
    Catalogue,
    clipped,
    columns_of,
    cut,
    game_words,
    messages_of,
    padded,
    speak,
    wrapped,
)
from elolab.engine.rules import REASONS, Rules
from elolab.engine.search.records import END_REASONS
from elolab.engine.settings.parameters import parameters_of
from elolab.engine.settings.reference import unit_in
from elolab.engine.settings.schema import Schema
from elolab.tuning.ablation import comparison_verdicts
from elolab.tuning.claims import part_verdicts
from elolab.tuning.keys import claims as claim_keys
from elolab.tuning.keys.reference import KINDS, entries_of
from tests.arena.reports import test_report
from tests.support.browser import Browser
from tests.support.report_files import write_report

ROOT = Path(__file__).parent.parent
CHINESE = re.compile("[\N{CJK UNIFIED IDEOGRAPH-4E00}-\N{CJK UNIFIED IDEOGRAPH-9FA5}]")
ROOMS = ("engine", "arena", "tuning")
PACKAGES = sorted(
    ".".join(("elolab", *path.parent.parent.relative_to(ROOT).parts))
    for room in ROOMS
    for path in (ROOT / room).rglob("messages/en.toml")
)
KEY = re.compile(r"[a-z_]+\.\w+")
SPEAKERS = ("say", "arena", "message", "words")
"""What code calls a catalogue."""


def fields_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


# Both languages say everything


@pytest.mark.parametrize("package", PACKAGES)
def test_both_languages_have_the_same_messages_with_the_same_fields(package: str) -> None:
    english, chinese = (messages_of(package, language) for language in LANGUAGES)
    assert list(english) == list(chinese)
    for key, text in english.items():
        assert fields_of(text) == fields_of(chinese[key]), key
        assert text.strip(), key
        assert not CHINESE.search(text), key


@pytest.mark.parametrize("package", PACKAGES)
def test_chinese_messages_are_chinese(package: str) -> None:
    """Those with words that are no names, that is: three letters and more beside the fields."""
    for key, text in messages_of(package, "zh").items():
        bare = re.sub(r"\{.*?\}|\S+\.csv|zh-CN", "", text)
        words = set(re.findall(r"[A-Za-z]{3,}", bare)) - {"Elo", "LOS", "LLR"}
        assert CHINESE.search(text) or not words, f"{key}: {text}"
        assert not re.search(r"等同|对数(?!似然比|刻度)", text), f"{key}: {text}"


def test_words_go_by_the_number_before_them() -> None:
    """A noun behind a number has a form for one, but in sentences that are said of several only."""
    several = {
        "arena fault.many", "arena standings.groups", "arena console.forfeits", "tuning console.forfeits",
        "arena.collection remove.ask", "arena.reports warning.groups", "arena.reports warning.groups_anchored",
        "arena.reports warning.versions", "arena.reports joint.split", "arena.reports format.rounds",
        "arena.reports note.many_players",
            "arena provenance.builds", "arena provenance.drivers",
    }  # fmt: skip
    counted = re.compile(
        r"\{(games|pairs|plies|moves|rounds|planned|most|players|openings|positions|parts|groups|runs|count)\} "
        r"((more|planned|complete) )?[a-z]+s\b"
    )
    assert several == {
        f"{package.removeprefix('elolab.')} {key}"
        for package in PACKAGES for key, text in messages_of(package, "en").items() if counted.search(text)
    }  # fmt: skip
    for say in (Catalogue("elolab.arena.reports"), markup_messages("elolab.arena.reports", "en")):
        assert say("warning.missing", missing="1", planned="6") == "1 of 6 planned games has not been played."
        assert say("warning.missing", missing="2", planned="6") == "2 of 6 planned games have not been played."
        assert say("format.match_text", pairs=1) == "match, 1 pair of games"
    assert Catalogue("elolab.arena.reports", "zh")("format.match_text", pairs=1).count("1") == 1


def test_every_ending_has_a_name_and_an_explanation() -> None:
    for language in LANGUAGES:
        messages = messages_of("elolab.engine", language)
        assert [key for key in messages if key.startswith("ending.")] == [f"ending.{reason}" for reason in REASONS]
        assert all(f"explanation.{reason}" in messages for reason in REASONS)
        names = messages_of("elolab.arena.reports", language)
        assert {key for key in names if key.startswith("search_end.")} == {f"search_end.{end}" for end in END_REASONS}


def test_what_the_code_of_tuning_calls_something_has_a_name() -> None:
    names = {
        "verdict": (*comparison_verdicts.DIFFERENT, comparison_verdicts.EQUIVALENT, comparison_verdicts.UNDECIDED),
        "outcome": (*part_verdicts.VERDICTS, part_verdicts.SHOWN, part_verdicts.UNFINISHED),
        "expected": {word for words in claim_keys.EXPECTED.values() for word in words},
        "basis": claim_keys.BASES.values(),
        "engine": claim_keys.ENGINES,
        "quantity": claim_keys.EXPECTED,
        "margin": claim_keys.MARGINS,
        "elo_model": SPRT_MODELS,
        "unit": {
            unit_in(game, row).replace(" ", "_")
            for game in GAMES
            for row in parameters_of(game)
            if row.unit not in ("", "MiB")
        },
    }
    messages = messages_of("elolab.tuning.reports", "en")
    for table, words in names.items():
        assert {key for key in messages if key.startswith(f"{table}.")} == {f"{table}.{word}" for word in words}


def test_a_games_words_are_those_of_the_game_in_english_and_others_in_chinese() -> None:
    from elolab.engine.games import GAMES, game_named

    for name in GAMES:
        game, english, chinese = game_named(name), game_words(name, "en"), game_words(name, "zh")
        assert (english.title, english.side_names, english.score_name) == (game.title, game.side_names, game.score_name)
        assert CHINESE.search(chinese.title)
    assert game_words("xiangqi", "en", Rules()).rules == (
        "asian repetition rule when a position occurs 3 times",
        "draw after 120 plies without a capture",
        "draw if neither side has attacking pieces",
    )


# What code and templates use is there, and what is there is used


def sources(*rooms: str) -> Iterator[Path]:
    for room in rooms:
        yield from sorted((ROOT / room).rglob("*.py"))


def templates() -> Iterator[tuple[Path, str]]:
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("templates/*.j2")):
        yield path, re.sub(r"\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)


def script() -> str:
    paths = [*(ROOT / "arena/reports/assets").glob("*.js"), *(ROOT / "engine/games").glob("*/board.js")]
    return "".join(path.read_text("utf-8") for path in paths)


@functools.cache
def uses() -> tuple[set[str], list[re.Pattern[str]], set[str]]:
    """Strings in code and templates, patterns of those that are put together there, and keys that code asks for."""
    plain: set[str] = set()
    asked: set[str] = set()
    patterns: set[str] = {r"script\..*", r"piece\..*"}  # asked for by report.js, see below
    for path in sources(*ROOMS, "elolab/cli", "docs/site"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                plain.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                parts = [re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in node.values]
                patterns.add("".join(parts))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "name_of":
                assert isinstance(node.args[0], ast.Constant)
                patterns.add(rf"{node.args[0].value}\..*")
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = node.func
                speaks = isinstance(called, ast.Call) or (isinstance(called, ast.Name) and called.id in SPEAKERS)
                speaks |= isinstance(called, ast.Attribute) and called.attr == "say"
                if speaks and isinstance(node.args[0].value, str) and KEY.fullmatch(node.args[0].value):
                    asked.add(node.args[0].value)
    for _, text in templates():
        plain |= set(re.findall(r"""["'](\w+\.\w+)["']""", text))
        patterns |= {rf"{table}\..*" for table in re.findall(r'"(\w+)\." ~', text)}
    return plain, [re.compile(pattern) for pattern in patterns if re.match(r"\w+\\\.", pattern)], asked


@functools.cache
def topics_of_keys() -> set[str]:
    """The tables that say what keys of files mean."""
    found: set[str] = set()

    def add(schema: Schema) -> None:
        for key in entries_of(schema):
            found.add(key.topic)
            if key.schema is not None:
                add(key.schema)

    for kind in KINDS:
        add(kind.keys)
    return found


@pytest.mark.integration
@pytest.mark.parametrize("package", PACKAGES)
def test_every_message_is_used(package: str) -> None:
    plain, patterns, _ = uses()
    for key in messages_of(package, "en"):
        table, name = key.split(".")
        if table.removesuffix("_default") in topics_of_keys():  # tests/tuning/keys compares them with the declarations
            continue
        in_tables = table in ("column", "unit") and name in plain
        assert key in plain or in_tables or any(pattern.fullmatch(key) for pattern in patterns), key


def test_every_message_that_is_asked_for_exists() -> None:
    known = {key for package in PACKAGES for key in messages_of(package, "en")}
    asked = {key for _, text in templates() for key in re.findall(r"""(?:message|shell)\(["']([\w.]+)["'][,)]""", text)}
    asked |= uses()[2]
    assert len(asked) > 150
    assert asked <= known, asked - known


def test_the_script_says_what_the_catalogue_has() -> None:
    # By a condition inside the call.
    chosen = {"games", "some_games", "seat_won", "seat_lost", "seat_drew", "copied", "not_copied"}
    says = set(re.findall(r'say\("(\w+)"', script())) | chosen
    messages = {
        key.removeprefix("script.") for key in messages_of("elolab.arena.reports", "en") if key.startswith("script.")
    }
    assert says == messages
    pieces = re.search(r"characters: \{(.*?)\}", script())
    assert pieces
    assert set(re.findall(r"(\w): ", pieces.group(1))) == set(game_words("xiangqi", "zh").pieces)


def test_no_text_in_code_and_templates() -> None:
    for path in sources("arena", "tuning"):
        if path.parent.name == "notation":  # moves and tags of games are in Chinese
            continue
        assert not CHINESE.search(path.read_text("utf-8")), path
    for path, text in templates():
        text = re.sub(r"\{% block policy %\}.*?\{% endblock %\}", "", text)
        visible = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", " ", text, flags=re.DOTALL)
        assert not CHINESE.search(text), path
        assert not re.search("[A-Za-z]{3,}", visible), path


# A report in Chinese

NAMES = re.compile(
    r"elolab|elo|default|plain|simple|external|some-engine|quiet|Hash|null_move|off|asian|xiangqi|line|sample|toml|uci|"
    r"Davidson|LOS|LL|LD|WD|WW|JavaScript|PGN|csv|games|pgn|JSON|Home|End|Space|F|L|W|H0|H1|alpha|beta|nodes|depth|move_time|ms|key",
    re.IGNORECASE,
)
"""What has no Chinese name, and the names of this report."""


class VisibleText(HTMLParser):
    """Collects what a reader can see or hear: text outside scripts, styles and code, and labels."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "code", "kbd"):
            self.hidden.append(tag)
        self.texts += [value for name, value in attributes if name in ("title", "aria-label") and value]

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and tag == self.hidden[-1]:
            self.hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.texts.append(data.strip())


def english_texts(page: str) -> list[str]:
    """Visible texts with a word of four letters or more that is no name."""
    reader = VisibleText()
    reader.feed(page)
    found = []
    for text in reader.texts:
        words = re.findall(r"[A-Za-z][A-Za-z_-]{3,}", text)
        if any(not NAMES.fullmatch(word) for word in words):
            found.append(text)
    return found


@pytest.fixture(scope="module")
def chinese_figures() -> Iterator[None]:
    """Figures are in Chinese on machines too that have no font to draw it: what they say is what counts here."""
    if fonts.chinese_font() is not None:
        yield
        return
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(fonts, "chinese_font", lambda: fonts.LATIN)
        yield


@pytest.fixture(scope="module")
def chinese_report(tmp_path_factory: pytest.TempPathFactory, chinese_figures: None) -> Path:
    folder = tmp_path_factory.mktemp("chinese")
    return write_report(folder, test_report.specification(), test_report.sample(), planned_games=12, language="zh")


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
def test_a_report_in_chinese(chinese_report: Path) -> None:
    page, text = chinese_report.read_text("utf-8"), (chinese_report.parent / "report.md").read_text("utf-8")
    assert '<html lang="zh-CN">' in page
    assert [text for text in english_texts(page) if "late by" not in text] == []
    for said in ("计划的 12 局中有 7 局还没有下。", "全体选手平均值的 Elo 等级分", "红方先行，黑方后行"):
        assert said in page
        assert said in text
    # What other programs read is the same in every language.
    rows = list(csv.DictReader((chinese_report.parent / "crosstable.csv").open(encoding="utf-8")))
    assert {"player", "opponent", "elo", "los"} <= set(rows[0])


def test_a_chinese_page_speaks_chinese_when_it_runs(chinese_report: Path, browser: Browser) -> None:
    document = test_report.loaded(browser, chinese_report, "#game=3&ply=8")
    assert re.search(r'<p id="failure" role="alert" hidden=""></p>', document)
    for said in ("第 3 局：", "（红方）", "第 8 着之后（共 8 着），轮到红方：", "<title>红方兵</title>", "着之后将死"):
        assert said in document
    assert [text for text in english_texts(document) if "late by" not in text and "some-engine" not in text] == []


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.usefixtures("chinese_figures")
def test_a_sequential_test_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_chinese(*arguments: object, **named: object) -> Path:
        return write_report(*arguments, **named, language="zh")  # type: ignore[arg-type]

    monkeypatch.setattr(test_report, "write_report", in_chinese)
    page = test_report.sequential_report(tmp_path).read_text("utf-8")
    for said in ("对局对之后接受 H1", "检验后的 Elo", "期中分析", "有 2 局在检验作出结论之后才结束"):
        assert said in page
    assert english_texts(page) == []


@pytest.mark.integration
def test_figures_are_in_english_where_no_font_has_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "chinese_font", lambda: None)
    page = write_report(
        tmp_path, test_report.specification(), test_report.sample(), planned_games=12, language="zh"
    ).read_text("utf-8")
    assert re.search(r"<text[^>]*>games</text>", page)
    assert "<h2>排名</h2>" in page


# The console


def test_the_console_speaks_the_language_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["stats", "--pentanomial", "1", "2", "3", "4", "5", "--elo0", "0", "--elo1", "5"]
    monkeypatch.delenv("ELOLAB_LANGUAGE", raising=False)
    assert main(command) == 0
    english = capsys.readouterr().out
    assert main([*command, "--language", "zh"]) == 0
    chinese = capsys.readouterr().out
    assert "normalized Elo" in english
    assert "归一化 Elo" in chinese
    assert not CHINESE.search(english)
    monkeypatch.setenv("ELOLAB_LANGUAGE", "zh")
    assert main(command) == 0
    assert capsys.readouterr().out == chinese
    assert main([*command, "--language", "en"]) == 0
    assert capsys.readouterr().out == english


def test_progress_in_chinese() -> None:
    times = iter(range(100))
    speak("zh")
    try:
        progress = RunProgress(io.StringIO(), clock=lambda: float(next(times)))
        scoreboard = Scoreboard(["one", "另一名选手"])
        scoreboard.add(Outcome("", Pairing(0, 0, 0, 1, 0), 1.0))
        progress.begin(40, "LLR +0.12 [-2.94, +2.94]", is_bound=True)
        progress.finished()
        assert re.fullmatch(r"1/40 局  LLR \+0.12 .*  每分钟 [\d.]+ 局  最多还需 [\d:]+", progress.line())
        lines = scoreboard.table(79)
    finally:
        speak("en")
    assert "选手" in lines[0]
    assert len({columns_of(line) for line in lines[1:]}) == 1


def test_data_are_never_translated(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["stats", "--wdl", "9", "2", "3", "--elo0", "0", "--elo1", "5", "--json"]
    printed = []
    for language in LANGUAGES:
        assert main([*command, "--language", language]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert json.loads(printed[0])["verdict"] == "undecided"


def test_a_language_that_there_is_not(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["stats", "--wdl", "9", "2", "3", "--language", "fr"]) == 2
    assert "argument --language: 'fr' is not a language; expected en or zh" in capsys.readouterr().err
    monkeypatch.setenv("ELOLAB_LANGUAGE", "zh_CN")
    assert main(["stats", "--wdl", "9", "2", "3"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "ELOLAB_LANGUAGE = 'zh_CN' is not a language; expected en or zh" in line


def test_the_packages_tell_the_installer_of_their_messages() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    data = settings["tool"]["setuptools"]["package-data"]["*"]
    assert {"messages/*.toml", "templates/*.j2"} <= set(data)


def test_texts_on_a_terminal() -> None:
    assert columns_of("对局 3") == 6
    assert padded("对局", 6) == "对局  "
    assert padded("对局", 6, right=True) == "  对局"
    assert cut("对局对", 5) == "对局"
    assert clipped("nodes=500", 9) == "nodes=500"
    assert clipped("validation at nodes=500", 20) == "validation at …"  # no number is cut in its middle
    assert [clipped("对局对局", columns) for columns in (7, 2, 0)] == ["对局 …", " …", ""]
    lines = wrapped("排名：共 12 局，其中 3 局不属于完整的对局对（LOS）。", 16)
    assert "".join(lines).replace(" ", "") == "排名：共12局，其中3局不属于完整的对局对（LOS）。"
    assert all(columns_of(line) <= 18 for line in lines)
    assert not any(line[0] in "，。）" for line in lines)
    assert wrapped("plain words in two lines", 12) == ["plain words", "in two lines"]
