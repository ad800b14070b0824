"""Tables of claims: parts and cells, digests, and mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import read_toml
from elolab.tuning.claims.cells import sides_of
from elolab.tuning.claims.claims_spec import claims_from_mapping, load_claims
from tests.support.small_claims import SMALL, write_claims


def test_a_part_is_read_into_cells_with_settings_of_each_engine(tmp_path: Path) -> None:
    change = ('variant = { aspiration = "full" }\nreference', 'variant = { aspiration = "full" }\nset_now = '
              '{ killers = 0 }\nvariant_then = { aspiration_window = 25 }\nreference')  # fmt: skip
    spec = load_claims(write_claims(tmp_path, change), "quick")
    part = next(part for part in spec.parts if part.id == "C1a")
    assert [cell.name for cell in part.cells] == ["then shallow", "then deep", "now shallow", "now deep"]
    assert [str(cell.limits) for cell in part.cells] == ["depth=1", "depth=2", "depth=2", "depth=3"]
    then, now = dict(part.cells[0].variant), dict(part.cells[2].variant)
    assert (then["aspiration_window"], now["killers"], then["stop_on_mate"]) == (25, 0, False)
    assert dict(part.cells[2].reference)["killers"] == 0
    assert (part.cells[0].conditions.base_name, part.cells[2].conditions.base_name) == ("moreland", "default")
    assert part.joint_error_rate == 0.05 / 4
    assert spec.family == 7  # three parts in both engines, one in today's
    doubled = next(part for part in spec.parts if part.id == "C20a")
    assert [str(cell.reference_limits) for cell in doubled.cells] == ["depth=1", "depth=1"]


def test_a_digest_is_of_what_decides_and_of_nothing_else(tmp_path: Path) -> None:
    def digests(*changes: tuple[str, str]) -> dict[str, str]:
        return {part.id: part.digest for part in load_claims(write_claims(tmp_path, *changes), "quick").parts}

    before = digests()
    assert digests(("Windows save effort.", "Other words."), ("They save nodes.", "Other words.")) == before
    for change, parts in (
        (('expect = "better"', 'expect = "worse"'), {"C20a"}),
        (("margin = 10", "margin = 11"), {"C20a"}),
        (("pairs = 8", "pairs = 9"), {"C20a", "C20b"}),
        (("rounds = 2", "rounds = 3"), {"C20a", "C20b"}),
        (("positions = 4", "positions = 5"), {"C1a", "C1b", "C1c"}),
        (('"nodes=40"', '"nodes=41"'), {"C20b"}),
        (('then = "moreland"', 'then = "xqwlight-0.3"'), {"C1a", "C1b"}),
        (("seed = 3", "seed = 4"), set(before)),
    ):
        assert {name for name, digest in digests(change).items() if digest != before[name]} == parts, change


def test_mates_are_followed_over_as_many_depths_as_the_part_says(tmp_path: Path) -> None:
    found = {}
    for further in ("", "further_plies = 3\n", "further_plies = 4\n"):
        change = ('limits = ["mate"]', further + 'limits = ["depth=6"]')
        part = load_claims(write_claims(tmp_path, change), "quick", ["C1c"]).parts[0]
        found[further] = [limits.depth for _, limits in sides_of(part, part.cells[0]).values()], part.digest
    assert [depths for depths, _ in found.values()] == [[3, 4, 5, 6], [3, 4, 5, 6], [2, 3, 4, 5, 6]]
    assert len({digest for _, digest in found.values()}) == 3


def test_claims_and_parts_are_picked_by_id(tmp_path: Path) -> None:
    path = write_claims(tmp_path)
    assert [part.id for part in load_claims(path, "quick", ["C1", "C20b"]).parts] == ["C20b", "C1a", "C1b", "C1c"]
    assert load_claims(path, "quick", ["C1a"]).family == 7
    with pytest.raises(UserError, match=r"no claim 'C2'.*C20, C1"):
        load_claims(path, "quick", ["C2"])


LIMITS = SMALL[SMALL.index("[budgets.quick.limits]") : SMALL.index("[[claims]]")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('id = "C20"', 'id = "X20"'), ["[[claims]] 1", "id = 'X20'"]),
        (('id = "C20a"', 'id = "C21a"'), ["C20: part 1", "C20 and a letter"]),
        (('id = "C20b"', 'id = "C20a"'), ["two parts are called 'C20a'"]),
        (('id = "C1"', 'id = "C20"'), ["C20", "part 1"]),
        (('aspiration = "full" }\nreference', 'asspiration = "full" }\nreference'), ["C1a", "'aspiration'"]),
        (('reference = { aspiration = "off" }', 'reference = { aspiration = "full" }'), ["C1a (then)", "with itself"]),
        (('of = "windows_missed"', 'of = "window"'), ["C1b", "of = 'window'", "'windows_missed'"]),
        (('expect = "less"', 'expect = "better"'), ["C1a", "expect = 'better'", "'less'"]),
        (('kind = "mates"', 'kind = "mate"'), ["kind = 'mate'", "'mates'"]),
        (('limits = ["mate"]', 'limits = ["mat"]'), ["C1c", "no limit 'mat'", "'mate'"]),
        (('limits = ["mate"]', 'limits = ["depth=3"]'), ["C1c", "more than 3 plies"]),
        (('limits = ["mate"]', 'further_plies = 4\nlimits = ["depth=4"]'), ["C1c", "more than 4 plies"]),
        (('limits = ["mate"]', 'limits = ["play"]'), ["C1c", "expected a depth"]),
        (('limits = ["mate"]', 'limits = ["nods=3"]'), ["C1c", "'nods=3'"]),
        (
            (
                'kind = "mates"\nexpect = "same"\nsuite = "last"\nlimits = ["mate"]',
                'kind = "exact"\nexpect = "same"\nlimits = ["play"]',
            ),
            ["C1c", "'nodes=40'", "a clock that counts nodes"],
        ),
        (('suite = "last"', 'suite = "passes"'), ["C1c", "suite = 'passes'", "xiangqi has no passes"]),
        (('reference_limits = ["depth=1"]', 'reference_limits = ["depth=1", "play"]'), ["C20a", "one for each"]),
        (("margin = 10", 'refuted_by = "negligible"\nmargin = 0'), ["C20a", "margin", "more than 0"]),
        (('expect = "same"', 'expect = "same"\nrefuted_by = "opposite"'), ["C1c", "refuted_by", "no direction"]),
        (('then = "moreland"\n', ""), ["C1a", "then is missing", "not_then"]),
        (('then = "moreland"', 'then = "morland"'), ["C1a", "'moreland'"]),
        (('not_then_zh = "无"\n', ""), ["C1c", "not_then_zh is missing"]),
        (('not_then_zh = "无"', 'not_then_zh = "无"\nnot_now = "n"\nnot_now_zh = "无"'), ["leave no engine"]),
        (('expect = "same"', 'expect = "same"\ncosts_time = true'), ["C1c", "costs_time", "compares no speed"]),
        (('expect = "better"', 'expect = "better"\ncosts_time = true'), ["C20a", "no limit 'time'"]),
        (("rounds = 2", "rounds = 2\nfoo = 1"), ["unknown key 'foo'"]),
        (("[budgets.quick]\n", "[budgets.quik]\n"), ["'quik'", "'quick'"]),
        ((LIMITS, ""), ["C20b", "no limit 'play'", "it has none"]),
        (('now = "depth=2" }', 'today = "depth=2" }'), ["limits: shallow", "'today'"]),
        (("factors = { aspiration", "factors = { null_depth = [3, 4], aspiration"), ["C20b", "two parameters"]),
        (("rounds = 2", "rounds = 2\nweights = { lon = 0.5 }"), ["[weights]", "no limit 'lon'", "'long'"]),
        (("rounds = 2", "rounds = 2\nweights = { long = 0 }"), ["[weights]", "long = 0"]),
        (('expect = "less"', 'expect = "less"\nlooks = 1'), ["C1a", "looks", "expected none with kind = 'nodes'"]),
        (('expect = "less"', 'expect = "less"\nfurther_plies = 4'), ["C1a", "further_plies", "kind = 'nodes'"]),
        (("margin = 10", "looks = 0"), ["C20a", "looks = 0"]),
        (
            ('of = "windows_missed"', 'of = "windows_missed"\nwhere = "windows_missed"'),
            ["C1b", "where", "kind = 'share'"],
        ),
        (('expect = "less"', 'expect = "less"\nwhere = "windows_missed"'), ["C1a", "without aspiration windows"]),
        (
            ('deep = { then = "depth=2", now = "depth=3" }', 'deep = "depth=2"'),
            ["C1a (now)", "shallow and deep are both depth=2"],
        ),
        (('of = "windows_missed"', 'of = "move_changes"'), ["C1b (then)", "depth=2", "a clock that counts nodes"]),
        (('variant = { aspiration = "full" }\nreference = { aspiration = "off" }', ""), ["C1a", "with itself"]),
        (
            ('kind = "nodes"\nexpect = "less"', 'kind = "nodes"\nfactors = { killers = [0, 1] }'),
            ["C1a", "factors", "expected none with kind = 'nodes'"],
        ),
        (('kind = "nodes"\nexpect = "less"', 'kind = "nodes_interaction"'), ["C1a", "variant", "nodes_interaction"]),
        (("margin = 10", 'margin = 10\nsuite = "mates"'), ["C20a", "suite", "expected none with kind = 'elo'"]),
        (
            (
                'kind = "nodes"\nexpect = "less"\nset = { algorithm = "alphabeta" }\n'
                'variant = { aspiration = "full" }\n'
                'reference = { aspiration = "off" }',
                'kind = "nodes_interaction"\nfactors = { killers = [1, 1], history = [false, true] }',
            ),
            ["C1a", "two different values"],
        ),
        (('expect = "less"', 'expect = "less"\ncosts_time = true\nlimits = ["deep", "deep time"]'), ["deep time"]),
    ],
)
def test_mistakes_are_refused_in_one_line(change: tuple[str, str], words: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        load_claims(write_claims(tmp_path, change), "quick")
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_cells_have_names_of_their_own(tmp_path: Path) -> None:
    path = write_claims(
        tmp_path, ('clock = "', 'time = "nodes=9"\nclock = "'),
        ('limits = ["play"]', 'limits = ["play", "time"]\ncosts_time = true'),
    )  # fmt: skip
    with pytest.raises(UserError, match=r"C20b: limits = .* costs_time = true already adds 'time'"):
        load_claims(path, "quick")


def test_a_claim_that_the_budget_does_not_ask_cannot_be_picked(tmp_path: Path) -> None:
    changes = [(f'id = "{name}"', f'id = "{name}"\nonly = "full"') for name in ("C20a", "C20b")]
    with pytest.raises(UserError, match="the budget quick has no part of C20; give another with --budget"):
        load_claims(write_claims(tmp_path, *changes), "quick", ["C20", "C1a"])


def test_what_has_no_effect_in_an_engine_is_refused_there(tmp_path: Path) -> None:
    table = read_toml(write_claims(tmp_path))
    part = table["claims"][1]["parts"][0]
    part["set"], part["variant"], part["reference"] = {}, {"null_depth": 4}, {"null_depth": 3}
    with pytest.raises(UserError, match=r"C1a \(then\): null_depth changes nothing"):
        claims_from_mapping(table, "x.toml", "quick")
