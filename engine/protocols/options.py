"""Engine options in UCI and UCCI: one for each parameter. Formats their announcement and parses their values."""

from __future__ import annotations

from dataclasses import dataclass

from elolab.engine.errors import UserError
from elolab.engine.settings.parameters import Parameter, Value, format_value, nearest_name, parameters_of, row_named


class OptionError(UserError):
    """An unknown option or an illegal value; the message describes what is expected."""


@dataclass(frozen=True)
class EngineOption:
    """An option that the engine announces to the program that controls it."""

    name: str
    kind: str
    """Type of the option: ``check``, ``spin``, ``combo``, ``string`` or ``button``."""
    default: str = ""
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()

    def announcement(self, *, keyword: bool) -> str:
        """The line that announces the option, in the form of UCI (with ``keyword``) or UCCI.

        UCI has the keyword ``name`` and puts the default before the range; UCCI puts the default last.
        """
        default = ["default", self.default] if self.default else []
        domain = ["min", str(self.low), "max", str(self.high)] if self.kind == "spin" else []
        for choice in self.choices:
            domain += ["var", choice]
        if keyword:
            return " ".join(["option name", self.name, "type", self.kind, *default, *domain])
        return " ".join(["option", self.name, "type", self.kind, *domain, *default])

    def read_switch(self, value: str) -> bool:
        """Parse the value of a ``check`` option; raises ``OptionError``."""
        words = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        if value.lower() not in words:
            raise OptionError(f"option {self.name} = {value!r}, expected true or false")
        return words[value.lower()]

    def read_number(self, value: str) -> int:
        """Parse the value of a ``spin`` option; raises ``OptionError``."""
        digits = value.removeprefix("+")
        if digits.isascii() and digits.isdigit() and len(digits) < 10 and self.low <= int(digits) <= self.high:
            return int(digits)
        raise OptionError(f"option {self.name} = {value!r}, expected a whole number from {self.low} to {self.high}")


REPETITION_OPTIONS = ("Repetition Rule", "repetition")
"""Names of the option for the repetition rule: in UCI, where other engines use the same name, and in UCCI."""
REPETITION_WORDS: dict[str, tuple[str, ...]] = {
    "draw": ("AlwaysDraw",), "check-only": ("CheckBan", "AllowChase"), "asian": ("AsianRule",),
    "chinese": ("ChineseRule",),
}  # fmt: skip
"""Values of the option that select each repetition rule, by the rule's name (``engine.rules.REPETITION_RULES``).

elolab announces the first value of each rule and accepts all of them.
"""


def repetition_option(name: str, rule: str) -> EngineOption:
    """Make the option for the repetition rule, with ``rule`` as its default."""
    words = {rule: words[0] for rule, words in REPETITION_WORDS.items()}
    return EngineOption(name, "combo", words[rule], choices=tuple(words.values()))


def read_repetition(name: str, value: str) -> str:
    """Convert a value of the option ``name`` to the repetition rule; raises ``OptionError``."""
    for rule, words in REPETITION_WORDS.items():
        if value.lower() in (rule, *(word.lower() for word in words)):
            return rule
    expected = ", ".join(words[0] for words in REPETITION_WORDS.values())
    raise OptionError(f"option {name} = {value!r}, expected {expected}")


def parameter_option(row: Parameter, value: Value, name: str = "") -> EngineOption:
    """Make the option for a parameter, with ``value`` as its default. ``name`` replaces the option's usual name."""
    name = name or row.protocol_name
    if row.kind == "switch":
        return EngineOption(name, "check", "true" if value else "false")
    if row.kind == "choice":
        return EngineOption(name, "combo", format_value(value), choices=row.legal)
    if row.kind == "weights":
        return EngineOption(name, "string", format_value(value))
    return EngineOption(name, "spin", format_value(value), *row.legal)


def find_parameter(name: str, game: str) -> Parameter | None:
    """Find the parameter whose option name, own name or alias is ``name``; ``None`` if the game has none."""
    row = row_named(name)
    return row if row is None or not row.games or game in row.games else None


def nearest_option(name: str, game: str) -> str:
    """``" (did you mean 'x'?)"`` with the option of the game that is most similar to ``name``, or an empty string."""
    return nearest_name(name, [row.name for row in parameters_of(game)])
