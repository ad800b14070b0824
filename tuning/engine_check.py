"""A check, before any game, that an external engine accepts the settings of a study or an ablation.

The check starts every build once for each variant of its command line, reads the engine's options, and quits it.
"""

from __future__ import annotations

import filecmp
import os
import re
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, TextIO

from elolab.arena.players.announced_options import unknown_option
from elolab.arena.players.detect import other_protocol
from elolab.arena.players.external import ExternalPlayer
from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.players.registry import PlayerError, make_player
from elolab.engine.language import console
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.parameters import Value
from elolab.tuning.external_engine import BUILD, setting_text

if TYPE_CHECKING:
    from elolab.arena.players.announced_options import AnnouncedOption
    from elolab.arena.records import PlayerSpec
    from elolab.tuning.conditions import Conditions


class EngineCheck:
    """Starts the external engine with the settings to check, and caches the options that it announces.

    Methods raise ``ConfigurationError`` for settings that the engine rejects, ``PlayerError`` if it cannot start.
    """

    def __init__(self, conditions: Conditions) -> None:
        assert conditions.external is not None
        self._conditions, self._engine = conditions, conditions.external
        self._announced: dict[PlayerSpec, Mapping[str, AnnouncedOption] | None] = {}

    def compare_builds(self, stream: TextIO) -> None:
        """Raise ``ConfigurationError`` if two builds run one program file with equal arguments and options.

        Print a note on ``stream`` if the program files of two builds are copies of each other.
        """
        programs = {name: self._program(name, player) for name, player in self._engine.builds}
        for (one, first), (other, second) in combinations(self._engine.builds, 2):
            if (first.command[1:], first.directory, first.options, first.protocol_keys) != (
                second.command[1:], second.directory, second.options, second.protocol_keys,
            ):  # fmt: skip
                continue
            if os.path.samefile(programs[one], programs[other]):
                raise ConfigurationError(
                    f"{self._conditions.source}: [builds]: {one} and {other} are the same program "
                    f"({os.path.realpath(programs[one])}) with the same arguments",
                    "give another command to one",
                )
            if filecmp.cmp(programs[one], programs[other], shallow=False):
                print(f"elolab: {console('elolab.tuning')('console.same_content', one=one, other=other)}", file=stream)

    def _program(self, name: str, player: PlayerSpec) -> str:
        filled = self._engine.player(self._conditions.base_values | self._build(name), player.name, player.limits)
        try:
            return find_program(filled.command, filled.directory)
        except PlayerFault as fault:
            raise PlayerError(f"{self._place(name)}: {fault.text}") from None

    def effective(self, values: Mapping[str, Value], where: str = "") -> dict[str, str]:
        """The engine's settings that result from ``values``, as canonical texts by name.

        The settings are the engine's build, its placeholders, and its options with names in lower case. An announced
        option that ``values`` lacks has its default. Equal results mean equal play.

        Raises ``ConfigurationError`` for an option that the engine lacks and for a value that it does not accept;
        ``where`` begins the message.
        """
        where = where or self._place(str(values.get(BUILD, "")))
        announced = self._ask(values)
        found = {name: _normal(option, option.default) for name, option in (announced or {}).items()}
        changed = self._conditions.differences(values)
        for name, value in values.items():
            if not self._engine.is_option(name):
                found[name] = str(value)
                continue
            text = setting_text(value)
            option = None if announced is None else announced.get(name.lower())
            if option is not None:
                text = self._checked(option, text, where)
            elif announced is not None and name in changed:
                raise ConfigurationError(f"{where}: {unknown_option(name, announced).text}")
            found[name.lower()] = text
        return found

    def _checked(self, option: AnnouncedOption, text: str, where: str) -> str:
        try:
            return _normal(option, option.check(text))
        except PlayerFault as fault:
            raise ConfigurationError(f"{where}: {fault.text}") from None

    def _ask(self, values: Mapping[str, Value]) -> Mapping[str, AnnouncedOption] | None:
        """The options that the engine announces with the build and placeholders of ``values``.

        ``None`` if the engine's protocol does not announce options.
        """
        plain = {name: value for name, value in values.items() if not self._engine.is_option(name)}
        conditions, build = self._conditions, str(values.get(BUILD, ""))
        name = build if build and self._engine.has_builds else self._engine.name
        player = self._engine.player(conditions.base_values | plain, name, conditions.limits)
        if player not in self._announced:
            try:
                self._announced[player] = _announced_by(player, conditions.game)
            except PlayerFault as fault:
                raise PlayerError(f"{self._place(build)}: {fault.text}", other_protocol(player)) from None
        return self._announced[player]

    def _place(self, build: str) -> str:
        place = f"[builds.{build}]" if build and self._engine.has_builds else "[engine]"
        return f"{self._conditions.source}: {place}"

    def _build(self, name: str) -> dict[str, Value]:
        return {BUILD: name} if self._engine.has_builds else {}


def _announced_by(spec: PlayerSpec, game: str) -> Mapping[str, AnnouncedOption] | None:
    """Start a player's engine, read the options that it announces, and quit it.

    The options are keyed by name in lower case; ``None`` if the engine's protocol does not announce options.
    """
    player = make_player(spec, game)
    assert isinstance(player, ExternalPlayer)
    try:
        player.start()
        return player.announced_options
    finally:
        player.close()


def _normal(option: AnnouncedOption, value: str) -> str:
    """Canonical form of an option's value, so that equivalent values compare equal."""
    if option.kind == "button":
        return value or "false"  # buttons have no default, and are not pressed yet
    if option.kind == "spin" and re.fullmatch(r"[+-]?\d{1,19}", value):
        return str(int(value))
    return "" if value == "<empty>" else value
