"""CSV files open in spreadsheets as what they are: texts stay texts, numbers numbers, and both can be read back."""

from __future__ import annotations

import csv
import io
import math

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.notation.csv_tables import csv_text, frame_csv, quoted, unquoted

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", '=HYPERLINK("http://x")', "\uff1d1+1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_texts_like_formulas_stand_behind_an_apostrophe(text: str) -> None:
    assert quoted(text) == f"'{text}"


@pytest.mark.parametrize("cell", [-12.5, -3, math.inf, "-12.5", "+9.6", "-inf", "plain", "a=b", "", None, True, "'tis"])
def test_numbers_and_other_texts_stay_as_they_are(cell: object) -> None:
    assert quoted(cell) is cell


@given(st.text(alphabet="'=+-@\t\r a1"))
def test_what_was_quoted_is_read_back(text: str) -> None:
    assert unquoted(quoted(text)) == text


def test_heads_and_cells_are_quoted_and_survive_a_round_trip() -> None:
    rows = [["=x", -1.5], ['-y,"z"', None]]
    text = csv_text(["player", "@z"], rows)
    assert text.splitlines()[0] == "player,'@z"
    heads, *lines = csv.reader(io.StringIO(text))
    assert [unquoted(head) for head in heads] == ["player", "@z"]
    assert [[unquoted(cell) for cell in line] for line in lines] == [["=x", "-1.5"], ['-y,"z"', ""]]
    frame = pandas.read_csv(io.StringIO(text), converters={"player": unquoted})
    assert frame["player"].tolist() == ["=x", '-y,"z"']
    assert frame["'@z"].tolist()[0] == -1.5


def test_frames_are_written_as_pandas_writes_them() -> None:
    frame = pandas.DataFrame(
        {"text": ["a", 'b,"c"', None], "whole": [1, -2, 3], "share": [0.1, math.nan, -math.inf], "is": [True] * 3}
    )
    frame["nullable"] = pandas.array([1, None, 3], dtype="Int64")
    assert frame_csv(frame) == frame.to_csv(index=False, lineterminator="\n")
    assert frame_csv(frame.assign(text="=x")).splitlines()[1] == "'=x,1,0.1,True,1"
