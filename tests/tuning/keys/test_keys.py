"""The declarations of keys: complete, true of the readers, and the same in reference, pages and schemas."""

from __future__ import annotations

import ast
import copy
import functools
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from elolab import command_line
from elolab.arena.tournament_reader import TOURNAMENT, spec_from_mapping
from elolab.arena.tournament_spec import ADJUDICATION, RULES, SPRT
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES
from elolab.engine.language import LANGUAGES, columns_of, messages_of
from elolab.engine.settings import FILE_KINDS, FileKind
from elolab.engine.settings.configuration import ConfigurationError, refuse_other_kind
from elolab.engine.settings.schema import NUMBER, WHOLE, Default, Field, Schema, Table, declare, whole
from elolab.tuning.ablation.ablation_spec import ablation_from_mapping
from elolab.tuning.keys.claims import ENGINES
from elolab.tuning.keys.json_schema import schema_of, schema_text, value_schema
from elolab.tuning.keys.reference import KINDS, PAGES, SCHEMAS, entries_of, example_of, find_places, page, places_of
from elolab.tuning.study.study_spec import tuning_from_mapping
from tests.support.cases import for_each

ROOT = Path(__file__).parents[3]
PLACES = [place for kind in KINDS for place in places_of(kind)]
SHIPPED = [
    (kind, path) for kind in KINDS if kind.folder for path in sorted((ROOT / "configs" / kind.folder).glob("*.toml"))
]
RANGES = [
    (section, key)
    for section in (TOURNAMENT, RULES, ADJUDICATION, SPRT)
    for key in section.keys.values()
    if key.kinds[0] in (WHOLE, NUMBER) and key.name != "gauntlet_players"  # of which there are fewer than players
]
FORMATS = {"tiebreak_pairs": "knockout", **dict.fromkeys(SPRT, "sprt")}
"""By key the format that has it, where not all have."""


def declared_keys(section: Schema) -> Iterator[Field]:
    """Every key below a section."""
    for key in entries_of(section):
        yield key
        if key.schema is not None:
            yield from declared_keys(key.schema)


KEYS = [key for kind in KINDS for key in declared_keys(kind.keys)]


@functools.cache
def validator_of(name: str) -> jsonschema.Draft7Validator:
    (kind,) = (kind for kind in KINDS if kind.name == name)
    return jsonschema.Draft7Validator(schema_of(kind))


def is_valid(kind: FileKind, data: Any) -> bool:
    return bool(validator_of(kind.name).is_valid(data))


CUP = {"players": [{"name": "a", "protocol": "uci", "command": []}, {"name": "b"}], "pairs": 1, "limit": "depth=1"}
STUDY = {"game": "xiangqi", "limit": "nodes=10", "budget": {"games": 100}, "parameters": ["null_depth"]}
TOO_SHORT = [
    ("tournament", CUP, "command"),
    ("tuning", STUDY | {"budget": {}}, "budget"),
    ("tuning", STUDY | {"budget": {"games": 9, "minutes": 1}}, "budget"),
    ("tuning", STUDY | {"dimensions": {"null_depth": {"choices": [3]}}}, "choices"),
    ("ablation", {"limit": "nodes=10", "pairs": 9, "leave_one_out": [{"features": []}]}, "features"),
    ("ablation", {"limit": "nodes=10", "pairs": 9, "leave_one_out": [{"features": {}}]}, "features"),
    ("ablation", {"limit": "nodes=10", "pairs": 9, "interactions": [{"features": ["killers"]}]}, "features"),
    ("ablation", {"limit": "nodes=10", "pairs": 9, "values": [{"parameter": "null_depth", "values": []}]}, "values"),
    ("ablation", {"limit": "nodes=10", "pairs": 9, "factorial": [{"factors": {"killers": [1]}}]}, "killers"),
]
READERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "tournament": lambda data: spec_from_mapping(data, "cup.toml"),
    "tuning": lambda data: tuning_from_mapping(data, "first.toml"),
    "ablation": lambda data: ablation_from_mapping(data, "worth.toml"),
}


@pytest.mark.parametrize(("name", "data", "key"), TOO_SHORT)
def test_reader_and_schema_refuse_lists_with_too_few_entries_and_budgets_of_two_units(
    name: str, data: dict[str, Any], key: str
) -> None:
    assert any(key in error.path for error in validator_of(name).iter_errors(data))
    with pytest.raises(UserError, match=rf"\b{key} = "):
        READERS[name](data)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_has_a_meaning_and_every_meaning_a_key(language: str) -> None:
    needed = {(key.catalogue, f"{key.topic}.{key.message}") for key in KEYS}
    needed |= {(key.catalogue, f"{key.topic}_default.{key.message}") for key in KEYS if key.default is Default.COMPUTED}
    needed |= {(place.schema.catalogue, f"{place.schema.topic}.{place.schema.name}") for place in PLACES}
    topics = {(catalogue, message.split(".")[0]) for catalogue, message in needed}
    there = {
        (catalogue, message)
        for catalogue in {catalogue for catalogue, _ in topics}
        for message in messages_of(catalogue, language)
        if (catalogue, message.split(".")[0]) in topics
    }
    sections = {(kind.keys.catalogue, f"{kind.keys.topic}.{kind.keys.name}") for kind in KINDS}
    assert needed | sections == there


def test_what_is_read_must_be_declared_and_as_what_it_is() -> None:
    table = Table({"seed": 3}, "cup.toml", declare("elolab.arena.keys", "run", "cup", seed=whole(0, 9, example=2)))
    assert table["seed"] == 3
    with pytest.raises(KeyError):
        table.get("pairs", 1)


@pytest.mark.integration
def test_what_is_declared_is_read() -> None:
    """Every name is a field of a dataclass, or stands in the code somewhere outside the declarations."""
    words: set[str] = set()
    for room in ("arena", "tuning", "engine"):
        for path in (ROOT / room).rglob("*.py"):
            if "keys" not in path.relative_to(ROOT).parts[:-1] and path.name != "keys.py":
                nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
                words |= {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
                targets = [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
                words |= {target.id for target in targets if isinstance(target, ast.Name)}
    names = {key.name for key in KEYS if key.name != "NAME"}
    # For readers: a description; budgets, games and units by a table.
    by_table = {"description", "quick", "full", "xiangqi", "othello", "minutes", "hours"}
    # Texts in another language follow under claim_zh; what is of one engine alone, under set_then.
    by_language = {f"{name}_zh" for name in words}
    by_engine = {f"{name}_{engine}" for name in (*words, "not") for engine in ENGINES}
    assert names - words - by_table - by_language - by_engine - {f"{name}_zh" for name in by_engine} == set()


@for_each({id(key): key for key in KEYS}.values(), name=lambda key: key.name)
def test_examples_and_defaults_are_what_the_key_may_hold(key: Field) -> None:
    validator = jsonschema.Draft7Validator(value_schema(key))
    if key.example is not None:
        ((name, value),) = tomllib.loads(example_of(key)).items()
        assert name == key.name
        validator.validate(value)
        assert key.default != value
    if key.has_constant_default and key.default is not None:
        validator.validate(list(key.default) if isinstance(key.default, tuple) else key.default)


@pytest.mark.parametrize(("kind", "path"), SHIPPED, ids=lambda value: getattr(value, "stem", None))
def test_shipped_files_name_their_schema_and_keep_to_it(kind: FileKind, path: Path) -> None:
    text = path.read_text("utf-8")
    named = re.match("#:schema (.+)\n", text)
    assert named is not None
    assert (path.parent / named[1]).resolve() == ROOT / SCHEMAS / f"{kind.name}.json"
    data = tomllib.loads(text)
    validator_of(kind.name).validate(data)
    for spoilt, name in misspelled(data):
        assert not is_valid(kind, spoilt), name


FREE = (
    "set", "variant", "reference", "options", "names", "factors", "limits", "anchors", "dimensions", "builds",
    "features", "bare", "weights",
)  # fmt: skip
"""Tables whose names the schema cannot know."""


def misspelled(data: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The data with one key spelled otherwise, for every key but free names."""

    def paths(part: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if isinstance(part, dict):
            for key, value in part.items():
                if not (path and path[-1] in FREE):
                    yield (*path, key)
                yield from paths(value, (*path, key))
        elif isinstance(part, list):
            for place, value in enumerate(part[:1]):
                yield from paths(value, (*path, place))

    for *path, key in paths(data, ()):
        spoilt = copy.deepcopy(data)
        table: Any = spoilt
        for step in path:
            table = table[step]
        table[f"{key}x"] = table.pop(key)
        yield spoilt, ".".join(map(str, (*path, key)))


@pytest.mark.parametrize(("section", "key"), RANGES, ids=lambda value: value.name)
def test_readers_and_schemas_have_the_same_ranges(section: Schema, key: Field) -> None:
    kind = KINDS[0]
    for value, is_right in ((key.low, True), (key.high, True), (key.low - 1, False), (key.high + 1, False)):
        number = int(value) if key.kinds[0] == WHOLE else float(value)
        players = [{}, {"preset": "othello-ids"}]
        data: dict[str, Any] = {"game": "othello", "pairs": 2, "limit": "depth=1", "players": players}
        data["format"] = FORMATS.get(key.name, "round_robin")
        table = data if section is TOURNAMENT else data.setdefault(section.name, {})
        table[key.name] = number
        assert is_valid(kind, data) == is_right
        assert refuses_range(data, key.name) != is_right


def refuses_range(data: dict[str, Any], name: str) -> bool:
    """Whether the reader says that a key's number is out of its range; it may find fault with other things."""
    try:
        spec_from_mapping(data, "cup.toml")
    except ConfigurationError as error:
        return re.search(rf"\b{name} = \S+ expected a (whole )?number from", str(error)) is not None
    return False


def test_the_pages_and_schemas_are_those_of_the_declarations() -> None:
    """``make docs`` writes them."""
    for name, language in PAGES.items():
        assert (ROOT / "docs" / name).read_text("utf-8") == page(language)
    assert {path.stem for path in (ROOT / SCHEMAS).iterdir()} == {"status", *(kind.name for kind in KINDS)}
    for kind in KINDS:
        assert (ROOT / SCHEMAS / f"{kind.name}.json").read_text("utf-8") == schema_text(kind)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_command_fits_a_terminal(
    language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in ([], *([kind.name] for kind in KINDS), ["resign_score", "sprt", "tuning.validation"]):
        assert command_line.main(["keys", *words, "--language", language]) == 0
        out = capsys.readouterr().out
        assert all(columns_of(line) <= 80 for line in out.splitlines()), words
        assert out.endswith("\n")
    assert "resign_score = 800" in out
    assert "maximum_pairs = 4000" in out


def test_a_schema_can_be_had_and_a_wrong_word_is_told_with_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["keys", "tournament", "--schema"]) == 0
    assert capsys.readouterr().out == (ROOT / SCHEMAS / "tournament.json").read_text("utf-8")
    assert command_line.main(["keys", "sprt", "--schema"]) == 2
    assert "tournament, engines, tuning" in capsys.readouterr().err
    with pytest.raises(UserError, match="did you mean 'resign_score'"):
        find_places("resign_scor")
    assert [place.heading for place, _ in find_places("budgets.full")] == ["[budgets.quick], [budgets.full]"]


READING = {
    "tournaments": ["tournament", "--dry-run"],
    "tuning": ["tune", "--dry-run"],
    "ablations": ["ablate", "--dry-run"],
    "claims": ["claims", "--digests", "--claims"],
    "engines": ["match", "--dry-run", "default"],
}
"""By folder of shipped files the command that reads them."""


@pytest.mark.parametrize("folder", READING)
def test_a_file_of_another_kind_is_told_as_that(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And not by the nearest key; every shipped file is known by one that no other kind has."""
    others = {kind.folder: next(path for own, path in SHIPPED if own == kind) for kind, _ in SHIPPED}
    for other in others.keys() - {folder}:
        path = others[other]
        assert command_line.main([*READING[folder], str(path)]) == 2
        kind = "a player" if folder == "engines" else FILE_KINDS[folder].title
        title, use = FILE_KINDS[other].title, FILE_KINDS[other].use
        told = rf"elolab: {path}: not .*{kind} but an? {title}, for it has the key '(\w+)'; such files are for .*{use}"
        (key,) = re.findall(f"^{told}\n$", capsys.readouterr().err)
        assert [one.folder for one in KINDS if key in one.keys and one.name != "engines"] == [other]


def test_every_shipped_file_is_known_by_a_key_of_its_kind_alone() -> None:
    for kind, path in SHIPPED:
        data = tomllib.loads(path.read_text("utf-8"))
        for other in {one.folder for one in KINDS} - {kind.folder, ""}:
            with pytest.raises(ConfigurationError, match=f"but an? {kind.title}"):
                refuse_other_kind(data, "x", other)
        refuse_other_kind(data, "x", kind.folder)
    assert FILE_KINDS["engines"].marks == tuple(GAMES)
    for one in KINDS:
        for name in one.marks:
            assert [kind for kind in KINDS if name in kind.keys and kind.name != "engines"] == [one]


def test_a_misspelt_key_beside_those_of_the_kind_is_told_by_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"cup: unknown key 'budget'; expected"):
        spec_from_mapping({"players": [], "budget": 3}, "cup")


def test_a_key_of_players_makes_no_file_of_a_player_one_of_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of players the margin is a time, of ablations a difference."""
    path = tmp_path / "mine.toml"
    path.write_text('command = "./mine"\nprotocol = "uci"\nmargin = 0.2\nwachdog = 3\n')
    assert command_line.main(["match", str(path), "default", "--limit", "nodes=9", "--dry-run"]) == 2
    assert "unknown key 'wachdog' (did you mean 'watchdog'?)" in capsys.readouterr().err
