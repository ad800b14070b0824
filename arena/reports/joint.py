"""Joint ratings of several runs: one fit to all their games.

Players with equal settings become one player, even if the runs use different names for them. A name with different
settings in different runs becomes several players, labelled by their runs. A game that occurs in two runs counts once.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elolab.arena.notation.pgn import DETAILS
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import count_of, stored_player, stored_tournament
from elolab.arena.player_spec import MAX_NAME_LENGTH
from elolab.arena.records import GameRecord, PlayerSpec
from elolab.arena.reports.render import REPORTS
from elolab.arena.reports.write import Exports, export_joint, folder_beside_runs
from elolab.arena.run import differences
from elolab.arena.tournament_reader import with_anchors
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError, argument
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue
from elolab.engine.settings.toml_values import format_toml

FORMAT = "joint"
"""Value of ``TournamentSpec.format`` in the specification of a joint report."""


class JointError(UserError):
    """Raised if runs cannot be rated together; the message names the folders and the remedy."""


@dataclass(frozen=True)
class JoinedRun:
    """One run of a joint report."""

    folder: str
    """Path of the folder, as the user gave it."""
    spec: TournamentSpec
    records: tuple[GameRecord, ...]
    """The games that count, in schedule order. Games beyond the end of a sequential test are left out."""


JoinNote = tuple[str, dict[str, Any]]
"""A note on how runs were joined: a message key in the catalogue of the reports, and the message's fields."""


@dataclass(frozen=True)
class Joint:
    """Several runs, joined to one list of games."""

    spec: TournamentSpec
    """Specification of the joint report. Only its name, game, players and anchors apply to all runs.

    The specifications of the runs have the rules and openings.
    """
    records: tuple[GameRecord, ...]
    runs: tuple[JoinedRun, ...]
    notes: tuple[JoinNote, ...]
    """Explanations of how the runs were joined."""

    def notes_in(self, language: str) -> tuple[str, ...]:
        """The notes as sentences in ``language``."""
        say = Catalogue(REPORTS, language)
        return tuple(say(key, **fields) for key, fields in self.notes)


def join(folders: Sequence[str], anchors: Sequence[tuple[str, float]] = ()) -> Joint:
    """Read the runs in ``folders`` and join them.

    ``anchors`` are pairs of a player's name and its fixed Elo. Raises ``UserError`` for runs of different games.
    """
    runs = tuple(_read(folder) for folder in _distinct(folders))
    first = runs[0]
    for run in runs[1:]:
        if run.spec.game != first.spec.game:
            raise JointError(
                f"{run.folder}: game = {run.spec.game!r}, but {first.folder} has {first.spec.game!r}",
                "ratings compare only within one game: give folders of the same game",
            )
    names, players, notes = _join_players(runs)
    records, repeated = _put_together(runs, names, [player.name for player in players])
    if repeated:
        notes.append(("joint.repeated", {"games": repeated}))
    given = [(_anchored(name, names), elo) for name, elo in anchors]
    spec = replace(
        first.spec,
        name=" + ".join(run.spec.name for run in runs)[:MAX_NAME_LENGTH],
        format=FORMAT,
        players=tuple(players),
        search_statistics=None,
        sprt=None,
        anchors=_common_anchors(runs, names, dict(given)),
        command=("report", *folders, *(word for name, elo in anchors for word in ("--anchor", f"{name}={elo:g}"))),
    )
    return Joint(with_anchors(spec, given), tuple(records), runs, tuple(notes))


def _anchored(name: str, names: Sequence[Mapping[str, str]]) -> str:
    """The joint name of an anchored player. ``name`` may be the joint name or the player's name in a run.

    ``names`` maps, for each run, names in the run to joint names. Raises ``JointError`` if several players have the
    name.
    """
    labels = list(dict.fromkeys(own[name] for own in names if name in own))
    if len(labels) > 1:
        raise JointError(
            f"{argument('anchor', name)}: several players with different settings have this name: {', '.join(labels)}",
            "give one of these names",
        )
    return labels[0] if labels else name


def _distinct(folders: Sequence[str]) -> Sequence[str]:
    seen: dict[str, str] = {}
    for folder in folders:
        place = os.path.realpath(folder)
        if place in seen:
            raise JointError(f"{folder}: the same folder as {seen[place]}", "give each folder once")
        seen[place] = folder
    return folders


def _read(folder: str) -> JoinedRun:
    with Store(Path(folder), read_only=True) as store:
        spec = stored_tournament(store)
        count = count_of(spec, store)
        records = tuple(record for record in store.iterate() if record.pairing.number < count)
    players = tuple(stored_player(player, spec.game, Path(folder)) for player in spec.players)
    return JoinedRun(folder, replace(spec, players=players), records)


Appearance = tuple[JoinedRun, PlayerSpec]
"""A run, and one of the run's players under its name there."""


def _join_players(runs: Sequence[JoinedRun]) -> tuple[list[dict[str, str]], list[PlayerSpec], list[JoinNote]]:
    """Join the players of all runs. Players with equal settings become one player, whose name contains all their names.

    Returns a mapping for each run, from names in the run to joint names; the joint players; and notes on changed names.
    Two players of one run remain separate, because a player cannot play itself.
    """
    appearances = [(run, player) for run in runs for player in run.spec.players]
    counts = [Counter(map(_settings, run.spec.players)) for run in runs]
    twins = {settings for own in counts for settings, count in own.items() if count > 1}
    groups: dict[tuple[str, str], list[Appearance]] = {}
    for run, player in appearances:
        settings = _settings(player)
        groups.setdefault((player.name if settings in twins else "", settings), []).append((run, player))
    order = list(dict.fromkeys(player.name for _, player in appearances))
    joined = sorted(groups.values(), key=lambda group: order.index(group[0][1].name))
    names = [" = ".join(dict.fromkeys(player.name for _, player in group)) for group in joined]
    labels: dict[tuple[str, str], str] = {}
    players, notes = [], _notes_on_splits(joined)
    for name, group in zip(names, joined, strict=True):
        run, player = group[0]
        label = name if names.count(name) == 1 else f"{name} ({run.folder})"
        labels |= {(own_run.folder, own.name): label for own_run, own in group}
        players.append(replace(player, name=label))
        if name != player.name:
            notes.append(("joint.same", {"names": name}))
    return [{own.name: labels[run.folder, own.name] for own in run.spec.players} for run in runs], players, notes


def _notes_on_splits(joined: Sequence[Sequence[Appearance]]) -> list[JoinNote]:
    """Notes on names that have different settings in different runs and therefore stand for several players.

    ``joined`` has, for each joint player, the runs and players that were joined.
    """
    versions: dict[str, list[Appearance]] = {}
    for group in joined:
        for name, first in {player.name: (run, player) for run, player in reversed(group)}.items():
            versions.setdefault(name, []).append(first)
    notes: list[JoinNote] = []
    for name, several in versions.items():
        if len(several) > 1:
            (run, player), (other_run, other), *_ = several
            key, before, now = differences(player.content(), other.content())[0]
            fields = {
                "name": name, "count": len(several), "key": key, "before": _value_text(before), "folder": run.folder,
                "now": _value_text(now), "other_folder": other_run.folder,
            }  # fmt: skip
            notes.append(("joint.split", fields))
    return notes


def _value_text(value: Any) -> str:
    """The value of a setting in TOML; a hyphen for ``None``."""
    return "-" if value is None else format_toml(value)


def _settings(player: PlayerSpec) -> str:
    """All settings that can influence a player's moves, as text without the player's name."""
    return json.dumps({**player.content(), "name": ""}, sort_keys=True)


def _put_together(
    runs: Sequence[JoinedRun], names: Sequence[Mapping[str, str]], players: Sequence[str]
) -> tuple[list[GameRecord], int]:
    """Join the games of all runs: renumber them, use the joint names, and leave out duplicates.

    ``names`` maps, for each run, names in the run to joint names. Returns the games and the number of duplicates.
    """
    place = {name: index for index, name in enumerate(players)}
    records: list[GameRecord] = []
    seen: set[tuple[Any, ...]] = set()
    repeated = first_pair = 0
    for number, (run, own) in enumerate(zip(runs, names, strict=True)):
        new: set[tuple[Any, ...]] = set()
        for record in run.records:
            first, second = own[record.first], own[record.second]
            same = (first, second, record.opening.position, record.opening.moves, record.digest)
            if same in seen:
                repeated += 1
                continue
            new.add(same)
            pairing = replace(
                record.pairing, number=len(records), pair=first_pair + record.pairing.pair, first=place[first],
                second=place[second], round=number,
            )  # fmt: skip
            records.append(replace(record, pairing=pairing, first=first, second=second))
        seen |= new
        first_pair += 1 + max((record.pairing.pair for record in run.records), default=-1)
    return records, repeated


def _common_anchors(
    runs: Sequence[JoinedRun], names: Sequence[Mapping[str, str]], given: Mapping[str, float]
) -> tuple[tuple[str, float], ...]:
    """The anchors of all runs, as pairs of joint name and Elo, except anchors in ``given``.

    ``names`` maps, for each run, names in the run to joint names. Raises ``JointError`` if a player's anchors differ.
    """
    found: dict[str, tuple[float, str]] = {}
    for run, own in zip(runs, names, strict=True):
        for name, elo in run.spec.anchors:
            if own[name] in given:
                continue
            before, folder = found.setdefault(own[name], (elo, run.folder))
            if before != elo:
                raise JointError(
                    f"{run.folder}: anchor {name} = {elo:g}, but {folder} has {before:g}",
                    f"give its rating with {argument('anchor', f'{own[name]}={before:g}')}",
                )
    return tuple((name, elo) for name, (elo, _) in found.items())


def export(joint: Joint, directory: Path, language: str = DEFAULT_LANGUAGE, pgn_detail: str = DETAILS[0]) -> Exports:
    """Write ``games.pgn``, ``games.csv``, the tables and the report of the joined runs into a folder.

    The folder must not contain a run. ``pgn_detail`` is the amount of detail in ``games.pgn``, one of
    ``arena.notation.pgn.DETAILS``.
    """
    folder_beside_runs(directory)
    runs = [(run.folder, run.spec) for run in joint.runs]
    return export_joint(directory, joint.spec, joint.records, runs, joint.notes_in(language), language, pgn_detail)
