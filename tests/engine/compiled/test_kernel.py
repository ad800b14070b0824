"""The ground under the compiled code, within this process: bits, clocks, record mangling, cache key, memory, flags."""

from __future__ import annotations

import ast
import errno
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.types.npytypes import Record

from elolab.engine.compiled import cache, identity, kernel, sources
from elolab.engine.compiled.kernel import array_of, jit, lowest_bit, new_record, popcount, sum_of_products
from elolab.engine.errors import UserError
from elolab.engine.games.contract import COMPILED_CONTRACT, MOVE_LISTS_DTYPE, register_game
from elolab.engine.games.xiangqi.position import STATE_DTYPE
from elolab.engine.play import CLOCKS_DTYPE, GAME_DTYPE, TRACKER_DTYPE
from elolab.engine.rules import ADJUDICATION_DTYPE
from elolab.engine.search import table
from elolab.engine.search.records import SEARCH_DTYPE
from elolab.engine.settings.parameters import PARAMETERS_DTYPE
from tests.support.tiny_game import STATE_DTYPE as TINY_STATE_DTYPE

WORDS = st.integers(0, (1 << 64) - 1)
RECORDS = {
    "xiangqi": STATE_DTYPE, "takeaway": TINY_STATE_DTYPE, "search": SEARCH_DTYPE, "lists": MOVE_LISTS_DTYPE,
    "parameters": PARAMETERS_DTYPE, "clocks": CLOCKS_DTYPE, "game": GAME_DTYPE, "tracker": TRACKER_DTYPE,
    "adjudication": ADJUDICATION_DTYPE,
}  # fmt: skip


@jit
def compiled_popcount(value):  # type: ignore[no-untyped-def]
    return popcount(value)


@jit
def compiled_lowest_bit(value):  # type: ignore[no-untyped-def]
    return lowest_bit(value)


FACTORS_DTYPE = np.dtype([("ones", np.int16, (40,)), ("others", np.int16, (100,))])


@jit
def compiled_sum_of_products(record, first, start):  # type: ignore[no-untyped-def]
    return sum_of_products(record.ones, first, record.others, start, 24)


@jit
def wait_for_flag(address):  # type: ignore[no-untyped-def]
    """Turns of a loop that only another thread can end (or the 20 seconds that make the test fail instead of hang)."""
    turns = 0
    deadline = kernel.monotonic_ns() + 20_000_000_000
    while kernel.read_flag(address) == 0:
        turns += 1
        if turns & 0xFFFF == 0 and kernel.monotonic_ns() > deadline:
            return -1
    return turns


@jit
def tripled(value):  # type: ignore[no-untyped-def]
    return 3 * value


@kernel.jit_for_constants
def doubled(value):  # type: ignore[no-untyped-def]
    return 2 * value


@jit
def with_constants(value):  # type: ignore[no-untyped-def]
    return tripled(1) + tripled(2) + tripled(value) + doubled(1) + doubled(2) + doubled(value)


@jit
def quotient(record, value):  # type: ignore[no-untyped-def]
    if value == 0:
        raise ZeroDivisionError("divided by nothing")
    record.clocks += 1
    return np.int64(100 // value)


@jit
def quotient_at(address, record, value):  # type: ignore[no-untyped-def]
    return kernel.call_at(address, (record, value)) + 1


@jit
def read_clocks():  # type: ignore[no-untyped-def]
    return kernel.monotonic_ns(), kernel.thread_cpu_ns()


@jit
def word_round_trip(address, index, word):  # type: ignore[no-untyped-def]
    kernel.store_word(address, index, word)
    return kernel.load_word(address, index)


# Rule 1: mangling by content, and no record a prefix of another.


def test_rule_1_record_names_come_from_their_content() -> None:
    mangled = {name: numba.from_dtype(dtype).mangling_args for name, dtype in RECORDS.items()}
    assert len(set(map(str, mangled.values()))) == len(RECORDS)
    for name, dtype in RECORDS.items():
        twin = numba.from_dtype(np.dtype(dtype.descr) if not dtype.isalignedstruct else dtype)
        assert twin.mangling_args == mangled[name] or not dtype.isalignedstruct
    one = Record([("a", {"type": numba.int64, "offset": 0})], 8, False)
    same = Record([("a", {"type": numba.int64, "offset": 0})], 8, False)
    other = Record([("b", {"type": numba.int64, "offset": 0})], 8, False)
    assert one.mangling_args == same.mangling_args != other.mangling_args


def test_rule_1_no_record_begins_like_another() -> None:
    """Numba takes a record whose leading fields equal another's for its subtype."""
    first_fields = [dtype.names[0] for dtype in RECORDS.values()]
    assert len(set(first_fields)) == len(first_fields)


def test_a_game_that_lacks_a_function_is_refused() -> None:
    lacking = SimpleNamespace(**{name: None for name in COMPILED_CONTRACT if name != "make_null"})
    with pytest.raises(TypeError, match="lacks make_null"):
        register_game("half a game", lacking)


# Rule 2: the cache directory follows the sources.


def test_rule_2_editing_any_engine_source_changes_the_cache_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"kernel.py": b"x = 1\n", "search/node.py": b"y = 2  # a comment\n", "cli.py": b"z = 3\n"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)
    monkeypatch.setattr(sources, "ENGINE_DIRECTORY", tmp_path)
    before = sources.cache_key()
    assert sources.cache_key() == before
    keys = {before}
    for name in texts:
        (tmp_path / name).write_bytes(texts[name] + b"# edited\n")
        keys.add(sources.cache_key())
    assert len(keys) == 1 + len(texts), "an edit left the cache key as it was"


@pytest.mark.parametrize("flag", ["1", "0"])
def test_rule_2_the_bounds_check_flag_is_in_the_cache_key(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    plain = sources.cache_key()
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", flag)
    assert sources.cache_key() != plain


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
@pytest.mark.parametrize(("variable", "base"), [("", "home/.cache"), (None, "home/.cache"), ("own", "own")])
def test_the_cache_lies_in_the_user_s_folder(
    variable: str | None, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    if variable is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", variable and str(tmp_path / variable))
    assert cache.default_cache_base() == tmp_path / base / "elolab"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_without_a_home_the_cache_lies_in_a_folder_for_passing_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(Path, "home", no_home)
    directory = cache.prepare_cache()
    own = tmp_path / f"elolab-{os.getuid()}"
    assert directory == own / f"kernels-{sources.cache_key()}"
    assert str(directory) == numba.config.CACHE_DIR
    assert own.stat().st_mode & 0o777 == 0o700


def test_what_others_may_have_put_there_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"elolab-{os.getuid()}"
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    own.symlink_to(theirs)
    with pytest.raises(UserError, match=r"other users can write to this folder.*set XDG_CACHE_HOME"):
        cache.own_temporary_directory()
    own.unlink()
    own.mkdir()
    own.chmod(0o777)
    with pytest.raises(UserError, match="other users can write to this folder"):
        cache.own_temporary_directory()
    own.chmod(0o700)
    assert cache.own_temporary_directory() == own
    another = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: another)
    own.rename(tmp_path / f"elolab-{another}")
    with pytest.raises(UserError, match="other users can write to this folder"):
        cache.own_temporary_directory()


def test_rule_2_numba_writes_where_the_key_says() -> None:
    assert str(kernel.CACHE_DIRECTORY) == numba.config.CACHE_DIR
    assert kernel.CACHE_DIRECTORY.name == f"kernels-{sources.cache_key()}"


def test_the_identity_ignores_comments_and_docstrings_but_no_code() -> None:
    plain = "def f(a):\n    return a + 1\n"
    wordy = '"""Module."""\n\n# comment\ndef f(a):  # why\n    """Doc."""\n    return a + 1\n'
    assert identity.source_without_comments(plain) == identity.source_without_comments(wordy)
    assert identity.source_without_comments(plain) != identity.source_without_comments(plain.replace("1", "2"))
    # A string that is not a docstring, and indentation, are code.
    assert identity.source_without_comments("x = 'a'") != identity.source_without_comments("x = 'b'")
    one, other = "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"
    assert identity.source_without_comments(one) != identity.source_without_comments(other)


def test_states_that_play_the_same_are_listed_under_the_present_identity() -> None:
    """Entries under another identity help nobody: folders begun by those states could not be gone on with."""
    pinned = (Path(__file__).parents[3] / "constraints.txt").read_text()
    if f"numba=={numba.__version__}\n" not in pinned:
        pytest.skip("the identity is listed for the numba of constraints.txt")
    assert identity.SAME_PLAY.keys() <= {identity.engine_identity()}, (
        "the engine's sources have changed; if it still plays the same (benchmarks/compare_versions.py tells), list "
        f"the former identity with the others under {identity.engine_identity()!r}, else empty SAME_PLAY"
    )


@pytest.mark.integration
def test_the_identity_is_read_from_the_cache_of_these_sources_or_computed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cache, "CACHE_DIRECTORY", tmp_path)
    kept = tmp_path / "identity"
    computed = identity.engine_identity.__wrapped__()
    assert cache.read_kept(kept) == computed.encode() == identity.engine_identity().encode()
    few = identity.kernel_files()[:3]  # to read all of them takes long
    monkeypatch.setattr(identity, "kernel_files", lambda: few)
    kept.unlink()
    computed = identity.engine_identity.__wrapped__()
    cache.write_kept(kept, b"0123456789ab")
    assert identity.engine_identity.__wrapped__() == "0123456789ab"
    sound = kept.read_bytes()
    for damaged in (b"", b"0123", b"\xff" * 12, sound[:-1], sound.replace(b"89ab", b"89ac")):
        kept.write_bytes(damaged)
        assert identity.engine_identity.__wrapped__() == computed
    monkeypatch.setattr(cache, "CACHE_DIRECTORY", tmp_path / "missing")
    assert identity.engine_identity.__wrapped__() == computed


# Rules 3 and 4 in fresh processes: tests/engine/compiled/test_kernel_processes.py.


def test_rule_4_no_engine_file_is_imported_under_two_names() -> None:
    import sys

    files: dict[str, list[str]] = {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if path and str(sources.ENGINE_DIRECTORY) in path:
            files.setdefault(path, []).append(name)
    assert all(len(names) == 1 for names in files.values()), files


# Rule 5: the table is an argument, not a global; no global is too large to be cached.


def test_rule_5_no_global_table_is_larger_than_two_megabytes() -> None:
    import sys

    large = [
        (name, key, value.nbytes)
        for name, module in list(sys.modules.items())
        if name.startswith("elolab.engine")
        for key, value in vars(module).items()
        if isinstance(value, np.ndarray) and value.nbytes > 2_000_000
    ]
    assert not large


# Rule 6: constants of 64 bits, records that work in every lane.


def test_rule_6_a_record_is_changed_in_place() -> None:
    record = new_record(np.dtype([("count", np.int64), ("row", np.int64, (3,))]))
    record.count = 7
    record.row[1] = 5
    assert (int(record.count), record.row.tolist()) == (7, [0, 5, 0])


@given(WORDS)
def test_rule_8_popcount_equals_its_python_function(word: int) -> None:
    assert compiled_popcount(np.uint64(word)) == compiled_popcount.py_func(np.uint64(word)) == word.bit_count()
    signed = np.uint64(word).astype(np.int64)
    assert compiled_popcount(signed) == compiled_popcount.py_func(signed) == word.bit_count()


@given(st.integers(0, 16), st.integers(0, 76), st.integers(0, 1 << 32))
def test_rule_8_a_sum_of_products_equals_its_python_function(first: int, start: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    record = new_record(FACTORS_DTYPE)
    record.ones = generator.integers(-128, 128, 40)
    record.others = generator.integers(-(1 << 15), 1 << 15, 100)
    expected = sum(int(record.ones[first + place]) * int(record.others[start + place]) for place in range(24))
    assert compiled_sum_of_products(record, first, start) == expected
    assert compiled_sum_of_products.py_func(record, first, start) == expected


@given(st.one_of(WORDS, st.integers(0, 63).map(lambda bit: 1 << bit), st.just(0)))
def test_rule_8_lowest_bit_equals_its_python_function(word: int) -> None:
    expected = (word & -word).bit_length() - 1 if word else 64
    assert compiled_lowest_bit(np.uint64(word)) == compiled_lowest_bit.py_func(np.uint64(word)) == expected
    signed = np.uint64(word).astype(np.int64)
    assert compiled_lowest_bit(signed) == compiled_lowest_bit.py_func(signed) == expected


@given(WORDS)
def test_rule_8_table_fields_equal_their_python_functions(word: int) -> None:
    entry = np.uint64(word).astype(np.int64)
    for function in (table.entry_move, table.entry_depth, table.entry_bound):
        assert function(entry) == function.py_func(entry)
    for ply in (0, 1, 57):
        assert table.entry_score(entry, ply) == table.entry_score.py_func(entry, ply)


@given(WORDS, st.integers(0, 7))
def test_words_come_back_from_memory_and_touch_no_other(word: int, index: int) -> None:
    memory = np.arange(8, dtype=np.uint64)
    assert word_round_trip(memory.ctypes.data, index, np.uint64(word)) == word
    expected = list(range(8))
    expected[index] = word
    assert memory.tolist() == expected


def test_constants_make_no_versions_of_a_function_unless_asked_for() -> None:
    assert with_constants(5) == 3 * 8 + 2 * 8
    # From the cache of an earlier run it comes without the functions that it calls.
    with_constants.recompile()
    assert with_constants(5) == 3 * 8 + 2 * 8
    assert len(tripled.overloads) == 1
    assert len(doubled.overloads) == 3


def test_a_function_is_called_by_its_address_and_its_errors_come_through() -> None:
    record = new_record(CLOCKS_DTYPE)
    address = kernel.address_of(quotient, record, 0)
    assert [quotient_at(address, record, value) for value in (1, 7)] == [101, 15]
    assert record.clocks == 2
    with pytest.raises(ZeroDivisionError, match="divided by nothing"):
        quotient_at(address, record, 0)


def test_only_functions_that_return_an_integer_are_called_by_address() -> None:
    with pytest.raises(TypeError, match="read_clocks returns"):
        kernel.address_of(read_clocks)


def test_rule_7_the_flag_is_read_anew_in_a_loop() -> None:
    flag = np.zeros(8, np.uint8)
    turns: list[int] = []
    thread = threading.Thread(target=lambda: turns.append(wait_for_flag(flag.ctypes.data)))
    thread.start()
    time.sleep(0.05)
    flag[0] = 1
    thread.join(30)
    assert turns, "the loop still runs"
    assert turns[0] >= 0, "the loop never saw the flag"


def test_the_flag_at_address_0_is_never_set() -> None:
    @jit
    def read(address):  # type: ignore[no-untyped-def]
        return kernel.read_flag(address)

    assert read(0) == 0 == read.py_func(0)


def test_clocks_are_those_of_python() -> None:
    before = time.monotonic_ns(), time.thread_time_ns()
    inside = read_clocks()
    after = time.monotonic_ns(), time.thread_time_ns()
    for low, value, high in zip(before, inside, after, strict=True):
        assert low <= value <= high


# Rule 10: integers only.


def test_rule_10_every_record_of_the_kernels_holds_integers_only() -> None:
    for name, dtype in RECORDS.items():
        for field in dtype.names:
            base = dtype.fields[field][0].base
            assert base.kind in "iu", f"{name}.{field} is {base}"


def test_rule_10_no_kernel_source_has_a_float() -> None:
    """Not in the search: a float constant or a true division in a compiled function would be one."""
    searched = [path for path in identity.kernel_files() if path.parent.name in ("search", "xiangqi")]
    assert searched
    for path in searched:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(mark, ast.Name) and mark.id == "jit" for mark in node.decorator_list
            ):
                for inner in ast.walk(node):
                    where = f"{path.name}:{getattr(inner, 'lineno', 0)}"
                    assert not (isinstance(inner, ast.Constant) and isinstance(inner.value, float)), where
                    assert not (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div)), where


def test_a_disk_too_full_for_compiled_code_is_said_once_and_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cache.report_not_kept.cache_clear()
    monkeypatch.setattr(cache, "REASONS_NOT_KEPT", [])

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)

    def twice(number: int) -> int:
        return 2 * number

    for _ in range(2):
        assert jit(twice)(21) == 42
    said = capsys.readouterr().err
    assert said.count("compiled code cannot be kept there (No space left on device)") == 1
    assert said.count("\n") == 1
    assert cache.REASONS_NOT_KEPT == ["No space left on device"]


@pytest.mark.parametrize("name", RECORDS)
def test_arrays_of_records_of_one_type_share_its_object_which_numba_recognizes_at_once(name: str) -> None:
    first, second = (array_of(new_record(RECORDS[name])) for _ in range(2))
    assert first.dtype is second.dtype
    assert first.dtype == RECORDS[name]
