"""One voice: short sentences with a subject and an active verb, in the English pages, docstrings and messages.

``AT_MOST`` counts the faults that are left in each part of the project. A number may fall and must never rise: lower
it when you mend sentences.
"""

from __future__ import annotations

import ast
import inspect
import re
import statistics
import tomllib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LONGEST = 40
"""Words of a sentence."""
MEAN = 18
"""Words of a sentence of a page on average."""

PHRASES = {
    r"(?:is|are|was|were|be|been|being) told": "say who tells it, or: receives, knows, gets",
    r"(?:is|are|was|were|be|been|being) said": "name who says it: elolab prints, the report shows",
    r"told (?:of|so|apart)": "knows; reports; distinguishes",
    r"now and then": "periodically, sometimes",
    r"all the same": "still, nevertheless",
    r"(?:is|are|was|were) going to": "will, or the present tense",
    r"as far as": "if, where, up to",
    r"so often": "that many times",
    r"of which": "begin a sentence of its own",
    r"of those": "repeat the noun",
    r"the same of": "repeat the noun",
    r"(?:what|nothing) (?:comes|came) of": "the result",
    r"lest": "so that ... not",
    r"anew": "again",
    r"asks nobody|nobody's": "name what it ignores",
}
"""Banned phrases, and what to write instead."""

OPENING = re.compile(r"(?:Of|Those|The same|What|Who|Whose)\b")
"""A docstring begins with what a thing is or does."""

AT_MOST = {
    "docs": (0, 0, 0),
    "engine": (0, 0, 0),
    "arena": (0, 0, 2),
    "tuning": (0, 0, 5),
    "elolab": (0, 0, 0),
    "benchmarks": (0, 0, 0),
}
"""By part: banned phrases, docstrings with a banned opening, sentences too long or too nested."""

PAGES = sorted(
    path
    for path in (ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md"))
    if not path.name.endswith(".zh-CN.md")
    and not path.name.startswith(("claims-appendix", "claims-source-appendix", "keys"))
)


def passages(text: str) -> Iterator[str]:
    """The paragraphs, list items, headings and table cells of a text, in one line each, with ``x`` for code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(`+).+?\1", "x", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.) ?)", text):
        if part.startswith(("    ", "====")):
            continue  # an example or a table of columns in a docstring
        yield from (" ".join(cell.split()) for cell in (part.split("|") if part.lstrip().startswith("|") else [part]))


def sentences(text: str) -> list[str]:
    return [one for part in passages(text) for one in re.split(r"(?<=[.!?])[\"”)*]* +(?=[A-Z\"“`*(\[x])", part) if one]


def length(sentence: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def is_tangled(sentence: str) -> bool:
    """Whether a sentence is too long, or has several remarks in brackets or relative clauses."""
    clauses = len(re.findall(r", (?:which|who|whose)\b", sentence))
    remarks = len(re.findall(r" \([^)]* ", sentence)) if sentence.endswith(".") else 0  # not of a table's cells
    return length(sentence) > LONGEST or remarks > 1 or clauses > 1


def phrases_in(text: str) -> list[str]:
    """Each banned phrase of a text, with what to write instead."""
    joined = "\n".join(passages(text))
    return [
        f"{found.group()!r}: {instead}"
        for phrase, instead in PHRASES.items()
        for found in re.finditer(rf"\b(?:{phrase})\b", joined, re.IGNORECASE)
    ]


KERNEL = "bool or number"
"""What a compiled function may return: its types are not written."""


def docstrings(body: list[ast.stmt], annotation: str) -> Iterator[tuple[int, str, str]]:
    """Line, text and type of each docstring in a body, those under names included."""
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                yield statement.lineno, inspect.cleandoc(statement.value.value), annotation
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from docstrings(statement.body, ast.unparse(statement.returns) if statement.returns else KERNEL)
        elif isinstance(statement, ast.ClassDef):
            yield from docstrings(statement.body, "")
        annotation = "bool" if isinstance(statement, ast.Assign) else ""  # without annotation the type is unknown
        if isinstance(statement, ast.AnnAssign):
            annotation = ast.unparse(statement.annotation)


def opens_badly(text: str, annotation: str) -> bool:
    """Whether a docstring opens with a banned word; "Whether" needs something that is or returns a bool."""
    return bool(OPENING.match(text)) or (text.startswith("Whether") and "bool" not in annotation)


def texts_of(part: str) -> Iterator[tuple[str, str, str | None]]:
    """Place, text and, of docstrings, the type, for everything that a part of the project says in English."""
    if part == "docs":
        yield from ((path.name, path.read_text("utf-8"), None) for path in PAGES)
        return
    for path in sorted((ROOT / part).rglob("*.py")):
        for line, text, annotation in docstrings(ast.parse(path.read_bytes()).body, ""):
            yield f"{path.relative_to(ROOT)}:{line}", text, annotation
    for path in sorted((ROOT / part).rglob("messages/en.toml")):
        for name, text in messages_in(tomllib.loads(path.read_text("utf-8"))):
            yield f"{path.relative_to(ROOT)}: {name}", text, None


def messages_in(table: dict[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of each message of a catalogue."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from messages_in(value, f"{above}{name}.")
        elif isinstance(value, str):
            yield f"{above}{name}", value


@pytest.mark.parametrize("part", AT_MOST)
def test_faults_of_voice_only_fall(part: str) -> None:
    phrases, openings, tangled = [], [], []
    for place, text, annotation in texts_of(part):
        phrases += [f"{place}: {found}" for found in phrases_in(text)]
        tangled += [f"{place}: {one}" for one in sentences(text) if is_tangled(one)]
        if annotation is not None and opens_badly(text, annotation):
            openings.append(f"{place}: {text.splitlines()[0]}")
    for found, most in zip((phrases, openings, tangled), AT_MOST[part], strict=True):
        assert len(found) <= most, f"{len(found)} where at most {most} are allowed:\n" + "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_sentences_are_short(page: Path) -> None:
    lengths = [length(one) for one in sentences(page.read_text("utf-8")) if one.endswith((".", ":"))]
    assert statistics.mean(lengths or [0]) <= MEAN
    assert max(lengths, default=0) <= LONGEST


REMEDY = re.compile(
    r"; (?:[\"']\s*f?[\"'])?(?:add|change|check|choose|convert|correct|expected|fix|give|leave|look|make|move|name|pip|"
    r"play|put|remove|rename|restore|save|set|split|use|write)\b"
)
"""A remedy after a problem in one text, or in two that Python joins; ``UserError`` takes it as its second argument."""


def user_errors(sources: Iterable[str]) -> set[str]:
    """Names of ``UserError`` and of all classes below it."""
    bases = dict(found for source in sources for found in re.findall(r"^class (\w+)\((\w+)\):", source, re.MULTILINE))
    known = {"UserError"}
    while more := {name for name, base in bases.items() if base in known} - known:
        known |= more
    return known


def inline_remedies(source: str, errors: Collection[str]) -> list[str]:
    """Line and text of each problem with a remedy inside, in calls of ``errors`` and of methods called ``error``."""
    if not REMEDY.search(source):
        return []
    found = []
    for node in ast.walk(ast.parse(source)):
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and (name in errors or name == "error"):
            place = int(name in ("error", "WrongMoveError"))  # these take a key, or a place in the text, before it
            found += [
                f"{node.lineno}: {text}" for one in node.args[place:][:1] if REMEDY.search(text := ast.unparse(one))
            ]
    return found


def test_an_error_has_its_remedy_apart_from_the_problem() -> None:
    paths = [path for part in ("engine", "arena", "tuning", "elolab") for path in sorted((ROOT / part).rglob("*.py"))]
    sources = {path: path.read_text("utf-8") for path in paths}
    errors = user_errors(sources.values())
    found = [f"{path.relative_to(ROOT)}:{one}" for path in paths for one in inline_remedies(sources[path], errors)]
    assert not found, "\n".join(found)


def test_inline_remedies_are_found() -> None:
    errors = user_errors(
        ["class FileError(UserError):\n    pass\nclass DiskError(FileError):\n", "class Other(Exception):\n"]
    )
    assert errors == {"UserError", "FileError", "DiskError"}
    source = """
raise DiskError(f"{path}: full; "
                f"give {other}")
raise table.error("pairs", "none; leave it out")
raise DiskError("full", "save it; give another")
raise Other("full; give another")
raise DiskError("full; the rest is stored")
"""
    assert [one.partition(":")[0] for one in inline_remedies(source, errors)] == ["2", "4"]


def test_faults_are_found() -> None:
    assert sentences("One `x. Y` is (here). Two\nis there:\n\n- A.b item\n\n```sh\nno. No\n```\n| a | b c |\n") == [
        "One x is (here).", "Two is there:", "- A.b item", "a", "b c",
    ]  # fmt: skip
    assert [found.partition(":")[0] for found in phrases_in("It is\ntold so.")] == ["'is told'", "'told so'"]
    assert not phrases_in("The `is told` of a quotation")
    assert is_tangled("A (b c) and d (e f).")
    assert not is_tangled("A (b) and c (d).")
    assert is_tangled("A, which is b, which is c.")
    assert is_tangled("word " * (LONGEST + 1))
    assert not is_tangled("word " * LONGEST)
    source = 'A: bool\n"""Whether."""\n\ndef f() -> int:\n    """Whether."""\n\nclass C:\n    """What."""\n'
    found = [opens_badly(text, annotation) for _, text, annotation in docstrings(ast.parse(source).body, "")]
    assert found == [False, True, True]
