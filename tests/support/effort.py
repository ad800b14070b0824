"""How long tests look for a difference from an oracle: a little in ``make test``, much longer in ``make soak``."""

from __future__ import annotations

import pytest

EFFORT = pytest.mark.parametrize("effort", [pytest.param(1, id="little"), pytest.param(24, marks=pytest.mark.slow)])
"""Gives a test ``effort``, by which it multiplies how much it compares."""
