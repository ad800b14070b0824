"""Options announced by engines, in any protocol, and their valid values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from elolab.arena.players.player import PlayerFault
from elolab.engine.protocols.options import REPETITION_OPTIONS, REPETITION_WORDS


@dataclass(frozen=True)
class AnnouncedOption:
    """An option as announced by the engine."""

    name: str
    kind: str
    """Type of the option: ``check``, ``spin``, ``combo``, ``button`` or ``string``."""
    default: str = ""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: str) -> str:
        """Convert ``value`` to the engine's spelling; raises ``PlayerFault`` (``startup_failure``) if it is invalid."""
        if self.kind == "check":
            words = {"true": "true", "on": "true", "1": "true", "false": "false", "off": "false", "0": "false"}
            if value.lower() not in words:
                raise self._fault(value, "expected true or false")
            return words[value.lower()]
        if self.kind == "button":
            return "false" if value.lower() in ("false", "off", "0") else "true"
        if self.kind == "spin":
            if not re.fullmatch(r"[+-]?\d{1,20}", value):
                raise self._fault(value, "expected a whole number")
            if (self.low is not None and int(value) < self.low) or (self.high is not None and int(value) > self.high):
                raise self._fault(value, f"expected {self.low} to {self.high}")
            return value
        if self.kind == "combo":
            for choice in self.choices:
                if choice.lower() == value.lower():
                    return choice
            near = difflib.get_close_matches(value, self.choices, 1, 0.4)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            expected = ", ".join(self.choices) if len(self.choices) <= 12 else f"one of its {len(self.choices)} choices"
            raise self._fault(value, f"expected {expected}{hint}")
        return value

    def must_be_sent(self, value: str) -> bool:
        """Whether the value must be sent to the engine; false only for a button with the value "off"."""
        return self.kind != "button" or self.check(value) == "true"

    def command(self, value: str) -> str:
        """The UCI command ``setoption`` that sets the option to ``value``; raises ``PlayerFault`` as ``check`` does."""
        if self.kind == "button":
            return f"setoption name {self.name}"
        return f"setoption name {self.name} value {self.check(value)}"

    def _fault(self, value: str, expected: str) -> PlayerFault:
        return PlayerFault("startup_failure", f"option {self.name} = {value!r}: {expected}")


def repetition_setting(
    rule: str, announced: Mapping[str, AnnouncedOption], set_by_player: Collection[str]
) -> tuple[AnnouncedOption, str] | None:
    """The engine's option for the repetition rule, and the option's value for ``rule``, one of ``REPETITION_RULES``.

    ``announced`` is keyed by name in lower case. ``None`` if the engine has no such option or value, or if the player's
    specification sets the option itself: ``set_by_player`` has the names of such options in lower case.
    """
    words = [word.lower() for word in REPETITION_WORDS[rule]]
    for name in REPETITION_OPTIONS:
        option = announced.get(name.lower())
        if option is not None and name.lower() not in set_by_player:
            for choice in option.choices:
                if choice.lower() in words:
                    return option, choice
    return None


def unknown_option(name: str, announced: Mapping[str, AnnouncedOption]) -> PlayerFault:
    """The fault for an option that the engine did not announce; its text suggests the most similar option.

    ``announced`` is keyed by name in lower case.
    """
    near = difflib.get_close_matches(name.lower(), list(announced), 1, 0.4)
    names = ", ".join(option.name for option in announced.values())
    hint = f"did you mean {announced[near[0]].name!r}?" if near else f"it has {names or 'no options'}"
    return PlayerFault("startup_failure", f"the engine has no option {name!r}; {hint}")
