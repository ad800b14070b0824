"""Comparison of two runs: the settings that differ, and the results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.collection.listing import match_estimate, tournament_in
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import count_of
from elolab.arena.provenance.record import builds_in
from elolab.arena.run import ENGINE_IDENTITY, differences, kind_in, plain
from elolab.arena.statistics.numbers import elo_text
from elolab.arena.statistics.standings import tables_of
from elolab.engine.language import Catalogue, columns_of, padded
from elolab.engine.settings.toml_values import toml_value

if TYPE_CHECKING:
    from elolab.arena.tournament_spec import TournamentSpec

UNIMPORTANT = ("command", "name", "source")
"""Settings that do not influence the games, such as the command that started the run."""


@dataclass(frozen=True)
class RatedPlayer:
    """A player's rating in one run."""

    rating: float
    """Elo rating: in a match relative to the opponent, otherwise relative to the anchors.

    Without anchors, it is relative to the mean of the players that games connect with this one.
    """
    error: float
    """Half the width of the 95 % confidence interval, in Elo."""
    games: int

    @property
    def is_rated(self) -> bool:
        """Whether the rating is meaningful: the player has games, or its rating was fixed as an anchor."""
        return self.games > 0 or math.isfinite(self.error)


@dataclass(frozen=True)
class ComparedRun:
    """The data of one run that a comparison needs."""

    folder: Path
    settings: Mapping[str, Any]
    """All settings that can differ between runs, as nested dictionaries and lists."""
    players: Mapping[str, RatedPlayer]
    view: tuple[str, ...] = ()
    """Names of a match's two players; ratings are from the point of view of the first. Empty for other tournaments."""
    anchors: tuple[tuple[str, float], ...] = ()
    """Name and fixed rating in Elo of each anchor, to which the other ratings are relative."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Names of the players of each group connected by games; only their ratings are comparable. Empty for a match."""

    @property
    def is_anchored(self) -> bool:
        """Whether ratings are relative to an anchor that has played games."""
        return any(len(group) > 1 and name in group for group in self.groups for name, _ in self.anchors)

    def scale(self, name: str) -> tuple[Any, ...]:
        """Description of the zero point of a player's rating; only ratings with equal descriptions are comparable.

        Without an anchor, the zero point is the mean rating of the player's group. The description then contains the
        names and settings of all players of the group.
        """
        group = next((group for group in self.groups if name in group), ())
        if self.view or any(anchor in group for anchor, _ in self.anchors):
            return self.view, self.anchors
        settings = self.settings.get("players", {})
        return self.view, self.anchors, {player: settings.get(player) for player in group}


def compared(folder: Path, settings_beside: Mapping[str, Sequence[str]]) -> ComparedRun:
    """Read the data of the run in a folder; raises ``StoreError`` if its store cannot be read.

    The settings of a run that is not a tournament are in the metadata entry named after its kind. ``settings_beside``
    names, for each kind, further entries with settings.
    """
    with Store(folder, read_only=True) as store:
        spec = tournament_in(store)
        identity = {"engine": store.metadata(ENGINE_IDENTITY), **builds_in(store)}
        if spec is None:
            # Other entries are results or bookkeeping: seconds, rounds, the text of the file.
            kind = kind_in(store)
            names = (kind, *settings_beside.get(kind, ()))
            kept = {name: _without_dates(store.metadata(name)) for name in names if name}
            return ComparedRun(
                folder, identity | {name: entry for name, entry in kept.items() if entry is not None}, {}
            )
        settings = identity | _settings_of(spec)
        count = count_of(spec, store)
        if len(spec.players) == 2 and not spec.anchors:
            estimate = match_estimate(store, count)
            one, other = (player.name for player in spec.players)
            games = min(len(store), count)
            rated = {} if estimate is None else {one: RatedPlayer(estimate.elo, estimate.elo_error, games)}
            return ComparedRun(folder, settings, rated, (one, other))
        rated, groups = _ratings(spec, store, count)
        return ComparedRun(folder, settings, rated, (), tuple(spec.anchors), groups)


def _without_dates(settings: Any) -> Any:
    """The settings without dates."""
    if not isinstance(settings, Mapping):
        return settings
    return {key: _without_dates(value) for key, value in settings.items() if key != "date"}


def _settings_of(spec: TournamentSpec) -> dict[str, Any]:
    """The settings by key, with the players' settings keyed by player name."""
    content = {key: value for key, value in plain(spec.content()).items() if key not in UNIMPORTANT}
    content["pairs"] = spec.pairs_of_encounter  # the number in the specification
    players = {player.name: {**plain(player.stored()), **plain(player.content())} for player in spec.players}
    return {**content, "players": players}


def _ratings(
    spec: TournamentSpec, store: Store, count: int
) -> tuple[dict[str, RatedPlayer], tuple[tuple[str, ...], ...]]:
    """Ratings by player name and groups of players connected by games, both from the first ``count`` games."""
    records = (record for record in store.iterate() if record.pairing.number < count)
    tables = tables_of(spec.game, [player.name for player in spec.players], records, dict(spec.anchors))
    names = tables.counter.players
    groups = tuple(tuple(names[player] for player in group) for group in tables.ratings.groups)
    return {row.player: RatedPlayer(row.rating, row.rating_error, row.games) for row in tables.standings}, groups


def differing(one: ComparedRun, other: ComparedRun) -> list[tuple[str, Any, Any]]:
    """The settings that differ, each as its path, its value in ``one`` and its value in ``other``.

    The path joins nested keys by dots. A value is ``None`` where a run has no such key.
    """
    return differences(plain(one.settings), plain(other.settings))


def change(one: RatedPlayer, other: RatedPlayer) -> tuple[float, float]:
    """The rating in ``other`` minus the rating in ``one``, and half the width of its 95 % confidence interval.

    The two runs are treated as independent.
    """
    return other.rating - one.rating, math.hypot(one.error, other.error)


def comparison_data(one: ComparedRun, other: ComparedRun) -> dict[str, Any]:
    """The comparison as data for JSON."""
    names = list(dict.fromkeys([*one.players, *other.players]))
    return {
        "runs": [str(one.folder), str(other.folder)],
        "views": [" - ".join(run.view) for run in (one, other)],
        "settings": [{"key": key, "values": [before, now]} for key, before, now in differing(one, other)],
        "players": [
            {"player": name, "results": [vars(run.players[name]) if name in run.players else None
                                         for run in (one, other)]}
            for name in names
        ],
    }  # fmt: skip


def comparison_lines(one: ComparedRun, other: ComparedRun, say: Catalogue) -> list[str]:
    """The comparison as lines of text; ``say`` is the message catalogue of ``arena.collection``."""
    lines = [f"A  {one.folder}", f"B  {other.folder}", ""]
    found = differing(one, other)
    lines.append(say("compare.settings") if found else say("compare.same_settings"))
    width = max((columns_of(key) for key, _, _ in found), default=0)
    for key, before, now in found:
        values = [_setting_words(value, say) for value in (before, now)]
        lines.append(f"  {padded(key, width)}  A {values[0]}  B {values[1]}")
    return [*lines, "", *_result_lines(one, other, say)]


def _setting_words(value: Any, say: Catalogue) -> str:
    if isinstance(value, Mapping):  # such as a player that only one run has
        return say("compare.there")
    if value is None:
        return say("compare.none")
    return value if isinstance(value, str) else toml_value(value)


def _result_lines(one: ComparedRun, other: ComparedRun, say: Catalogue) -> list[str]:
    names = list(dict.fromkeys([*one.players, *other.players]))
    if not names:
        return [say("compare.no_ratings")]
    heads = (say("compare.player"), "A", "B", "B \N{MINUS SIGN} A")
    rows: list[tuple[str, ...]] = [heads]
    for name in names:
        before, now = one.players.get(name), other.players.get(name)
        difference = "-"
        if before is not None and now is not None and one.scale(name) == other.scale(name):
            elo, error = change(before, now)
            # Ratings of players that won or lost every game, or played none, cannot be compared.
            is_known = before.is_rated and now.is_rated and math.isfinite(elo)
            difference = elo_text(elo, error) if is_known else "-"
        rows.append((name, _rated_words(before), _rated_words(now), difference))
    widths = [max(columns_of(row[column]) for row in rows) for column in range(4)]
    table = ["  ".join(map(padded, row, widths)).rstrip() for row in rows]
    lines = []
    for letter, run in (("A", one), ("B", other)):
        key = "view_match" if run.view else "view_anchored" if run.is_anchored else "view_field"
        first, second = run.view or ("", "")
        lines.append(say(f"compare.{key}", run=letter, one=first, other=second))
    if any(one.scale(name) != other.scale(name) for name in one.players.keys() & other.players.keys()):
        lines.append(say("compare.other_scale"))
    return [*lines, "", *table]


def _rated_words(rated: RatedPlayer | None) -> str:
    if rated is None or not rated.is_rated:
        return "-"
    return f"{elo_text(rated.rating, rated.error)} ({rated.games})"
