"""What numba is spared at a start and for each record leaves it able to do all that it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest

from elolab.engine.compiled.kernel import JIT_DISABLED, new_record
from elolab.engine.compiled.linking import IS_DEFERRED
from elolab.engine.search.records import SEARCH_DTYPE

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from elolab.engine.engine import Engine
from elolab.engine.settings.limits import Limits

engine = Engine("othello")
engine.search(engine.game.position(engine.game.start), Limits(depth=1))
print("numba.np.arraymath" in sys.modules)

import numba
import numpy as np

print(numba.njit(lambda one, other: np.dot(one, other))(np.eye(3), np.full((3, 3), 2.0)).sum())
"""


@pytest.mark.integration
@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_search_does_without_what_only_compiling_needs_and_who_compiles_gets_it() -> None:
    pytest.importorskip("scipy")
    for _ in range(2):  # where the first one compiled the search, its code is kept for the second one
        done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        if done.stdout.startswith("False"):
            break
    assert done.stdout.split() == ["False", "18.0"]


def halved(times):  # type: ignore[no-untyped-def]
    return 1 if times == 0 else halved(times - 1) * 0.5


@pytest.mark.skipif(JIT_DISABLED or not IS_DEFERRED, reason="nothing is compiled, or numba is as it is")
def test_a_recursive_call_has_the_type_that_the_function_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    function = halved
    monkeypatch.setitem(globals(), "halved", numba.njit(function))
    assert halved(3) == 0.125  # a function of others: numba types the call anew in each round
    monkeypatch.setattr(function, "__module__", "elolab.engine.halved")
    monkeypatch.setitem(sys.modules, "elolab.engine.halved", ModuleType("elolab.engine.halved"))
    monkeypatch.setitem(globals(), "halved", numba.njit(function))
    with pytest.raises(numba.TypingError, match="was given the type int64, but the function returns float64"):
        halved(3)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_records_of_one_dtype_have_one_type() -> None:
    kind = numba.typeof(new_record(SEARCH_DTYPE))
    assert kind is numba.typeof(new_record(SEARCH_DTYPE))
    assert tuple(kind.fields) == SEARCH_DTYPE.names
    assert kind != numba.typeof(np.zeros(1, [("other", np.int64)])[0])
