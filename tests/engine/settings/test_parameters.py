"""The table of parameters: every row is consistent, every value survives every round trip, errors say what is right."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from elolab.arena.keys.player import keys_of
from elolab.arena.players.registry import protocols
from elolab.engine.games import GAMES
from elolab.engine.protocols import ucci, uci
from elolab.engine.protocols.engine_server import EngineServer
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import (
    BY_NAME,
    PARAMETERS,
    PARAMETERS_DTYPE,
    TEXT_NAMES,
    Parameter,
    ParameterError,
    Value,
    by_canonical_name,
    choice_code,
    find,
    find_all,
    format_value,
    is_active,
    needed_for,
    parameters_of,
    parse_assignments,
    plain_spelling,
    resolve,
    to_record,
    why_without_effect,
)
from elolab.engine.settings.reference import (
    SOURCES,
    as_data,
    as_text,
    chinese_meanings,
    in_full,
    in_full_as_data,
    meaning,
    measurements,
    unit_in,
)
from elolab.engine.settings.toml_values import format_toml
from tests.support.cases import for_each

ROWS = for_each(PARAMETERS, name=lambda row: row.name)


def legal_values(row: Parameter) -> st.SearchStrategy[Value]:
    """Any legal value of a row."""
    if row.kind == "weights":
        return st.just(row.check(row.default))
    return st.integers(*row.legal) if row.kind == "integer" else st.sampled_from(row.legal)


def settings() -> st.SearchStrategy[dict[str, Value]]:
    """Any legal values for any of the parameters."""
    return st.fixed_dictionaries({}, optional={row.name: legal_values(row) for row in PARAMETERS})


def is_legal(row: Parameter, value: Any) -> bool:
    """An independent statement of what a row accepts (``check`` is what is tested)."""
    if row.kind == "switch":
        return isinstance(value, bool)
    if row.kind == "choice":
        return value in row.legal
    if row.kind == "weights":
        return isinstance(value, str) and value.partition("#")[0] in dict(row.default_by_game).values()
    return isinstance(value, int) and not isinstance(value, bool) and row.legal[0] <= value <= row.legal[1]


# The rows


def test_names_are_unique_and_spell_protocol_names_that_differ() -> None:
    assert len(BY_NAME) == len(PARAMETERS)
    assert len({row.protocol_name.lower() for row in PARAMETERS}) == len(PARAMETERS)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", row.name) for row in PARAMETERS)


def words_of(row: Parameter) -> tuple[str, ...]:
    """The name and the aliases."""
    return (row.name, *row.aliases)


def collisions(rows: tuple[Parameter, ...]) -> list[str]:
    """Spellings that two rows share."""
    owners: dict[str, set[str]] = {}
    for row in rows:
        for word in words_of(row):
            owners.setdefault(plain_spelling(word), set()).add(row.name)
    return [spelling for spelling, names in owners.items() if len(names) > 1]


def test_no_two_parameters_answer_to_one_name() -> None:
    assert collisions(PARAMETERS) == []
    taken = dataclasses.replace(BY_NAME["tempo"], aliases=("Null-Depth",))
    assert collisions((taken, BY_NAME["null_depth"])) == ["nulldepth"]


def test_no_parameter_answers_to_a_word_that_means_something_else() -> None:
    """Options that the protocols know before any parameter, those that UCCI ignores, and keys of a player's file."""
    options = [*ucci.SWITCHES, ucci.THREADS, ucci.NEW_GAME, uci.THREADS, uci.PONDER, uci.LINES, uci.CLEAR]
    options.append(uci.variant_option("xiangqi"))
    words = {option.name for option in options} | ucci.STANDARD_OPTIONS
    words |= {key for protocol in protocols() for key in keys_of(protocol)}
    assert not {plain_spelling(word) for word in words} & {
        plain_spelling(word) for row in PARAMETERS for word in words_of(row)
    }


@pytest.mark.parametrize("session", [uci.UciServer, ucci.UcciServer])
def test_what_a_protocol_calls_a_parameter_is_an_alias(session: type[EngineServer]) -> None:
    for name, other in session.other_names.items():
        assert other in BY_NAME[name].aliases


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("valWINDOW", "aspiration_window"), ("IID", "internal_iterative_deepening"), ("SearchUnique",
        "unique_move_check"), ("TIME_DIVISOR", "time_divisor"), ("Hash", "hash_mb"), ("SearchQuiesc", "quiescence"),
        ("LMR", "late_move_reductions"), ("Move Overhead", "clock_reserve_ms"), ("mvKillers", "killers"),
    ],
)  # fmt: skip
def test_the_names_of_the_texts_and_of_other_engines_are_found(word: str, name: str) -> None:
    assert word in BY_NAME[name].aliases
    assert find(word) is BY_NAME[name]


@ROWS
def test_every_name_is_found_in_any_spelling(row: Parameter) -> None:
    changes = (str.lower, str.upper, str.title)
    for word, joined, change in itertools.product(words_of(row), ("", "_", "-", " "), changes):
        spelling = change(word).replace("_", joined)
        assert spelling in TEXT_NAMES or find(spelling) is row
    assert find(row.protocol_name) is row


def test_settings_are_kept_under_the_own_names() -> None:
    given_names = {"NullDepth": 4, "valwindow": 20, "hash": 1}
    own = {"null_depth": 4, "aspiration_window": 20, "hash_mb": 1}
    assert list(by_canonical_name(given_names).items()) == list(own.items())
    assert resolve(given_names, game="xiangqi") == resolve(own, game="xiangqi")
    assert parse_assignments(f"{name}={value}" for name, value in given_names.items()) == own
    assert parse_assignments(["tempo=3", "tempo=4"]) == {"tempo": 4}


def test_one_parameter_under_two_names_is_refused_with_both() -> None:
    said = r"^cup\.toml: NullDepth and null-depth are the same parameter, null_depth; give one$"
    for read in (resolve, by_canonical_name):
        with pytest.raises(ParameterError, match=said):
            read({"tempo": 3, "NullDepth": 3, "null-depth": 3}, "cup.toml")
    with pytest.raises(ParameterError, match="--set: hash_mb and Hash are the same parameter, hash_mb"):
        parse_assignments(["hash_mb=3", "Hash=3"])
    assert list(find_all(["history", "history", "IID"])) == ["history", "IID"]


def test_a_value_out_of_range_is_told_by_the_own_name() -> None:
    with pytest.raises(ParameterError, match=r"^--set: null_depth = 9, expected"):
        parse_assignments(["NullDepth=9"])


@pytest.mark.parametrize("name", TEXT_NAMES)
def test_a_name_of_a_text_with_another_meaning_is_refused_and_says_what_to_set(name: str) -> None:
    for read in (find, lambda word: resolve({word: 2}, game="xiangqi"), lambda word: parse_assignments([f"{word}=2"])):
        with pytest.raises(ParameterError) as caught:
            read(name)
        assert f"unknown parameter {name!r} ({TEXT_NAMES[name]})" in str(caught.value)
    assert set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|\bhistory\b", TEXT_NAMES[name])) & set(BY_NAME)
    assert name == "NULL_DEPTH" or plain_spelling(name) not in {
        plain_spelling(word) for row in PARAMETERS for word in words_of(row)
    }


def test_a_name_of_a_text_is_known_in_any_spelling() -> None:
    with pytest.raises(ParameterError, match=r"'win-value' \(WIN_VALUE: the bound of proven mates"):
        find("win-value")
    with pytest.raises(ParameterError, match=r"'nHistoryTabel' \(nHistoryTable: the history table itself"):
        find("nHistoryTabel")
    assert find("null_depth") is find("NullDepth") is BY_NAME["null_depth"]


def test_why_a_parameter_has_no_effect() -> None:
    values = resolve({"aspiration": "off", "null_move": False, "null_verify": "always", "singular_depth": 0})
    assert why_without_effect("aspiration", values) is None
    assert why_without_effect("aspiration_window", values) == (
        "it has an effect only if aspiration is full or one_sided or gradual or naive_half or naive, which is off"
    )
    assert why_without_effect("null_verify_min_depth", values) == (
        "it has an effect only if null_move is on, which is off"
    )
    assert why_without_effect("singular_margin", values) == (
        "it has an effect only if singular_depth is 1 or more, which is 0"
    )
    assert why_without_effect("time_divisor", values) is None
    assert why_without_effect("time_divisor", values, Limits(depth=3)) == (
        "it has an effect only on a clock, and the limit is depth=3"
    )


@ROWS
def test_default_is_legal_and_of_the_kind(row: Parameter) -> None:
    assert row.kind in ("switch", "integer", "choice", "weights")
    for default in (row.default, *dict(row.default_by_game).values()):
        assert is_legal(row, default)
        if row.kind != "weights":
            assert row.check(default) == default


@ROWS
def test_ranges_are_ordered_and_the_default_lies_in_the_tuning_range(row: Parameter) -> None:
    assert row.scale in ("linear", "log")
    if row.kind == "integer":
        assert row.legal[0] < row.legal[1]
        if row.tuning:
            low, high = row.tuning
            assert row.legal[0] <= low < high <= row.legal[1]
            assert low <= row.default <= high
            assert row.scale == "linear" or low > 0, "a log scale needs positive values"
    else:
        assert len(set(row.legal)) == len(row.legal) >= 2
        assert set(row.tuning) <= set(row.legal)
        assert not row.tuning or row.default in row.tuning


@ROWS
def test_dependence_names_another_row_and_legal_values_of_it(row: Parameter) -> None:
    if row.depends_on is not None:
        name, values = row.depends_on
        assert name != row.name
        assert values
        assert all(is_legal(BY_NAME[name], value) for value in values)


def test_what_belongs_to_a_number_that_can_be_off_has_an_effect_unless_it_is() -> None:
    for row in PARAMETERS:
        parent = BY_NAME[row.depends_on[0]] if row.depends_on else None
        if row.depends_on and parent and parent.kind == "integer":
            low, high = parent.legal
            assert set(row.depends_on[1]) == set(range(low, high + 1)) - {parent.off}, row.name


def test_what_switches_a_parameter_off_is_legal() -> None:
    for row in PARAMETERS:
        assert row.off is None or is_legal(row, row.off), row.name
        assert row.kind != "switch" or row.off is False


def test_rows_say_whether_they_act_on_a_clock_only() -> None:
    assert BY_NAME["time_strategy"].acts_on_clock_only
    assert BY_NAME["clock_reserve_ms"].acts_on_clock_only
    assert not BY_NAME["killers"].acts_on_clock_only


def test_a_parameter_acts_under_what_it_needs() -> None:
    for row in PARAMETERS:
        assert is_active(row.name, resolve(needed_for(row.name)))


def test_dependences_have_no_cycle() -> None:
    for row in PARAMETERS:
        passed = {row.name}
        while row.depends_on is not None:
            row = BY_NAME[row.depends_on[0]]
            assert row.name not in passed
            passed.add(row.name)


@ROWS
def test_every_row_is_explained(row: Parameter) -> None:
    assert row.doc.strip() == row.doc != ""
    assert row.kind != "integer" or row.unit
    marks = re.findall(r"\[([^\]]+)\]", row.source)
    assert marks
    assert {mark.split()[0] for mark in marks} <= set(SOURCES)


@ROWS
def test_the_chinese_meaning_names_the_same_parameters(row: Parameter) -> None:
    chinese = meaning(row, "zh")
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert set(re.findall(r"\w*[a-z]_\w+", row.doc)) & set(BY_NAME) <= set(re.findall("[a-z_]+", chinese))


def test_every_chinese_meaning_belongs_to_a_parameter() -> None:
    assert set(chinese_meanings()) == set(BY_NAME)


# Values


@given(settings())
def test_resolve_lays_overrides_over_defaults_in_the_order_of_the_table(overrides: dict[str, Value]) -> None:
    values = resolve(overrides)
    assert list(values) == [row.name for row in PARAMETERS]
    for row in PARAMETERS:
        assert values[row.name] == overrides.get(row.name, row.check(row.default))
    assert resolve(values) == values


@given(settings())
def test_settings_survive_the_command_line(overrides: dict[str, Value]) -> None:
    words = [f"{name}={format_value(value)}" for name, value in overrides.items()]
    assert parse_assignments(words) == overrides


@given(settings())
def test_settings_survive_json(overrides: dict[str, Value]) -> None:
    assert resolve(json.loads(json.dumps(resolve(overrides)))) == resolve(overrides)


@given(settings())
def test_the_record_holds_the_code_of_every_value(overrides: dict[str, Value]) -> None:
    resolved = resolve(overrides)
    record = to_record(resolved)
    assert record.dtype.descr == PARAMETERS_DTYPE.descr
    for row in PARAMETERS:
        code, value = int(record[row.name]), resolved[row.name]
        if row.kind == "weights":
            assert code != 0
            continue
        assert (row.legal[code] if row.kind == "choice" else type(value)(code)) == value
        assert row.kind != "choice" or choice_code(row.name, str(value)) == code


@given(st.data(), st.sampled_from(PARAMETERS))
def test_what_check_returns_is_legal_and_stays_the_same(data: st.DataObject, row: Parameter) -> None:
    anything = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), legal_values(row), legal_values(row).map(str)
    )
    value = data.draw(anything)
    try:
        checked = row.check(value)
    except ParameterError:
        assert not is_legal(row, value)
    else:
        assert is_legal(row, checked)
        assert row.check(checked) == checked


def test_numpy_integers_are_integers_and_become_plain_ones() -> None:
    assert type(BY_NAME["tempo"].check(np.int64(7))) is int


# Errors


@ROWS
def test_a_wrong_value_names_place_key_value_and_remedy(row: Parameter) -> None:
    wrong: list[Any] = ["", "perhaps", None, 0.5, [1]]
    if row.kind == "integer":
        low, high = row.legal
        wrong += [low - 1, low - 1000, -(2**70), high + 1, high + 1000, 2**70, True, False]
    for value in wrong:
        with pytest.raises(ParameterError) as caught:
            row.check(value, "preset.toml")
        message = str(caught.value)
        assert message.startswith(f"preset.toml: {row.name} = {format_toml(value)}, expected ")
        remedy = {"switch": "on or off", "weights": "file of weights"}.get(row.kind, str(row.legal[0]))
        assert remedy in message
        assert "\n" not in message


def test_a_misspelt_choice_names_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean 'piece_square'"):
        BY_NAME["evaluation"].check("piece_squares")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("nul_move", "null_move"), ("killer", "killers"), ("Tmepo", "tempo"), ("val_windo", "aspiration_window"),
        ("HistoryWieght", "history_weight"), ("RazorMargin", "razoring_margin"), ("HSAH", "hash_mb"),
    ],
)  # fmt: skip
def test_a_misspelt_name_names_the_nearest(typed: str, meant: str) -> None:
    message = rf"preset\.toml: unknown parameter '{typed}' \(did you mean '{meant}'\?\)"
    with pytest.raises(ParameterError, match=message):
        find(typed, "preset.toml")
    with pytest.raises(ParameterError, match=meant):
        resolve({typed: 1}, "preset.toml")


def test_a_name_like_no_other_points_to_the_list() -> None:
    with pytest.raises(ParameterError, match="elolab parameters lists them"):
        find("zzzz")


def test_a_parameter_of_another_game_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [row.name for row in PARAMETERS if row.games]
    for name in own:
        with pytest.raises(ParameterError, match=f"{name} does not apply to draughts"):
            resolve({name: BY_NAME[name].default}, game="draughts")
    assert [row.name for row in parameters_of("draughts")] == [row.name for row in PARAMETERS if not row.games]
    # What is left has values that the game can be played with, though no row knows of it.
    assert set(resolve({}, game="draughts")) == {row.name for row in PARAMETERS if not row.games}


@pytest.mark.parametrize("word", ["tempo", "tempo:5", ""])
def test_an_assignment_needs_an_equals_sign(word: str) -> None:
    with pytest.raises(ParameterError, match="expected name=value"):
        parse_assignments([word])


# The printed reference


def test_the_reference_holds_every_row_in_every_form() -> None:
    text, data = as_text(PARAMETERS, "xiangqi", 100), as_data(PARAMETERS, "xiangqi")
    assert [row["name"] for row in data] == [row.name for row in PARAMETERS]
    for row in PARAMETERS:
        assert re.search(rf"^{row.name} +{re.escape(format_value(row.default))}\b", text, re.MULTILINE)
        if row.aliases:
            called = " ".join(text.split())
            assert f"Also called {', '.join(row.aliases)}. Option {row.protocol_name}." in called
    assert [row["aliases"] for row in data] == [list(row.aliases) for row in PARAMETERS]
    assert json.loads(json.dumps(data)) == data


# One parameter in full


@ROWS
def test_in_full_everything_is_told(row: Parameter) -> None:
    text = in_full([row.name], list(GAMES), 80)
    assert max(map(len, text.splitlines())) <= 80
    told = " ".join(text.split())
    games = row.games or tuple(GAMES)
    assert told.startswith(f"{row.name} aliases {', '.join(row.aliases) or '-'} option {row.protocol_name} kind ")
    assert f" games {', '.join(games)} default " in told
    for game in games:
        assert format_value(row.default_for(game)) in told.partition(" default ")[2].partition(" legal ")[0]
        assert unit_in(game, row) in told
        assert measurements(game).get(row.name, "") in told
    assert f" sound {'yes' if row.sound else 'no'} meaning {row.doc}" in told
    assert f" source {row.source}" in told


def test_in_full_what_differs_is_told_by_game() -> None:
    told = " ".join(in_full(["aspiration_window", "null_depth", "evaluation_weights"], list(GAMES), 80).split())
    assert "default 53 (xiangqi); 94 (othello); 25 (chess)" in told
    assert "unit centipawns (xiangqi, chess); hundredths of a disc (othello)" in told
    assert "needs evaluation = full (xiangqi, chess)" in told
    assert "default 3 legal 2 to 8 tuning 2 to 5 unit plies needs null_move = on" in told
    assert "ElephantEye's NULL_DEPTH 2 is 3 here" in told
    assert "default 94 legal" in " ".join(in_full(["aspiration_window"], ["othello"], 80).split())


def test_in_full_as_data_holds_the_columns_and_what_differs_by_game() -> None:
    window, empties = in_full_as_data(["aspiration_window", "endgame_empties"], list(GAMES))
    assert window["defaults"] == {"xiangqi": 53, "othello": 94, "chess": 25}
    assert window["units"] == {"xiangqi": "centipawns", "othello": "hundredths of a disc", "chess": "centipawns"}
    assert window["measurements"]["xiangqi"] == measurements("xiangqi")["aspiration_window"]
    assert empties["defaults"] == {"othello": 14}
    (row,) = (row for row in parameters_of("othello") if row.name == "endgame_empties")
    assert empties.items() >= as_data([row], "othello")[0].items()


@given(st.integers(min_value=30, max_value=200))
def test_the_text_fits_any_width(width: int) -> None:
    # A row's name and default stand on one line however narrow the terminal.
    least = max(len(row.name) for row in PARAMETERS) + 2 + max(len(format_value(row.default)) for row in PARAMETERS)
    assert max(map(len, as_text(PARAMETERS, "othello", width).splitlines())) <= max(width, least)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_measurements_are_of_the_game_s_parameters_and_stand_beside_them(game: str) -> None:
    rows = parameters_of(game)
    assert set(measurements(game)) <= {row.name for row in rows}
    shown = {row["name"]: row["measured"] for row in as_data(rows, game)}
    assert {name: text for name, text in shown.items() if text} == dict(measurements(game))
    text = " ".join(as_text(rows, game, 100).split())
    assert all(f"Measured: {figure}" in text for figure in measurements(game).values())
    assert text.count("Measured: ") == len(measurements(game))
    assert ("centipawns" in text) != ("hundredths of a disc" in text)
