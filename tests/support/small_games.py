"""Short games of Othello between two settings, as jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elolab.arena.play.tournament_run import prepare
from elolab.arena.records import GameJob
from elolab.arena.schedule import format_of, job_of
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec


def small_match(games: int, limit: str = "nodes=20", settings: Mapping[str, Any] | None = None) -> TournamentSpec:
    """A match of ``a``, which has the settings, against ``b``."""
    players = [{"name": "a", "set": dict(settings or {})}, {"name": "b", "set": {"killers": 0}}]
    content = {"game": "othello", "format": "match", "pairs": games // 2, "limit": limit, "players": players}
    return spec_from_mapping({**content, "name": "small"}, "small.toml")


def jobs_of(games: int, limit: str = "nodes=20", settings: Mapping[str, Any] | None = None) -> list[GameJob]:
    plan = prepare(small_match(games, limit, settings))
    return [job_of(plan.spec, plan.suite, one) for one in format_of(plan.spec).pairings(plan.spec, plan.order, [])]
