"""The table of parameters: every row is consistent, every value survives every round trip, errors say what is right."""

from __future__ import annotations

import json
import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from engine.games import GAMES
from engine.parameter_reference import SOURCES, as_data, as_markdown, as_text, measurements
from engine.parameters import (
    BY_NAME,
    PARAMETERS,
    PARAMETERS_DTYPE,
    Parameter,
    ParameterError,
    Value,
    choice_code,
    find,
    format_value,
    parameters_of,
    parse_assignments,
    resolve,
    to_record,
)

ROWS = pytest.mark.parametrize("row", PARAMETERS, ids=lambda row: row.name)


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
    record = to_record(resolve(overrides))
    assert record.dtype.descr == PARAMETERS_DTYPE.descr
    for row in PARAMETERS:
        code, value = int(record[row.name]), resolve(overrides)[row.name]
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
@given(st.data())
def test_a_wrong_value_names_place_key_value_and_remedy(row: Parameter, data: st.DataObject) -> None:
    wrong: st.SearchStrategy[Any] = st.sampled_from(["", "perhaps", None, 0.5, [1]])
    if row.kind == "integer":
        low, high = row.legal
        wrong |= st.integers(max_value=low - 1) | st.integers(min_value=high + 1) | st.booleans()
    value = data.draw(wrong)
    with pytest.raises(ParameterError) as caught:
        row.check(value, "preset.toml")
    message = str(caught.value)
    assert message.startswith(f"preset.toml: {row.name} = {value!r}, expected ")
    remedy = {"switch": "on or off", "weights": "file of weights"}.get(row.kind, str(row.legal[0]))
    assert remedy in message
    assert "\n" not in message


def test_a_misspelt_choice_names_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean 'piece_square'"):
        BY_NAME["evaluation"].check("piece_squares")


@pytest.mark.parametrize(("typed", "meant"), [("nul_move", "null_move"), ("killer", "killers"), ("Tempo", "tempo")])
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
    text, markdown, data = (
        as_text(PARAMETERS, "xiangqi", 100), as_markdown(PARAMETERS, "xiangqi"), as_data(PARAMETERS, "xiangqi"),
    )  # fmt: skip
    assert [row["name"] for row in data] == [row.name for row in PARAMETERS]
    for row in PARAMETERS:
        assert re.search(rf"^{row.name} +{re.escape(format_value(row.default))}\b", text, re.MULTILINE)
        assert f"| `{row.name}` | {format_value(row.default)} |" in markdown
    assert json.loads(json.dumps(data)) == data


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
