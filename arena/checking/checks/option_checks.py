"""Checks of options: the program announces them correctly and accepts values for them."""

from __future__ import annotations

from collections import Counter

from elolab.arena.checking.examination import Examination
from elolab.arena.checking.findings import Failed, Remark, Skipped, remark
from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.player import PlayerFault

KINDS = ("check", "spin", "combo", "button", "string")
NOT_TOUCHED = ("uci_variant", "variant")
"""Options that no check changes, because they choose the game; names in lower case."""


def announced(examination: Examination) -> Remark:
    """Check that the program announces options with valid kinds, ranges and defaults."""
    lines = _announced(examination)
    for line, option in lines:
        if option is None or option.kind not in KINDS:
            raise Failed("failure.option", line=line)
        if option.kind == "spin" and (option.low is None or option.high is None or option.low > option.high):
            raise Failed("failure.option_range", line=line)
        if option.kind in ("check", "spin", "combo"):
            try:
                option.check(option.default)
            except PlayerFault as fault:
                raise Failed("failure.option_default", line=line, text=fault.text) from None
    names = Counter(option.name.lower() for _, option in lines if option is not None)
    for name, count in names.items():
        if count > 1:
            raise Failed("failure.option_twice", name=name)
    return remark("note.options", count=len(lines))


def _announced(examination: Examination) -> list[tuple[str, AnnouncedOption | None]]:
    if not examination.dialect.announced:
        raise Skipped("skip.no_options")
    return examination.dialect.announced


def defaults(examination: Examination) -> None:
    """Check that the program accepts the default of every option, and still searches."""
    for _, option in _announced(examination):
        if option is not None and option.kind != "button" and option.name.lower() not in NOT_TOUCHED:
            try:
                _set(examination, option, option.default)
            except PlayerFault:
                continue  # another check reports invalid defaults
    examination.search(examination.start_position)


def _set(examination: Examination, option: AnnouncedOption, value: str) -> None:
    examination.dialect.send(*examination.dialect.option_lines([(option.name, value)]))
    examination.dialect.settled()


def changed(examination: Examination, name: str, value: int) -> Remark:
    """Check that the program accepts another value for an option, still searches, and accepts the default again.

    ``name`` is ``memory`` or ``threads``. A ``value`` outside the option's range is replaced by the nearest valid
    value.
    """
    option = examination.dialect.resource(name)
    if option is None:
        raise Skipped("skip.no_option", name=name)
    value = min(max(value, option.low or 0), value if option.high is None else option.high)
    _set(examination, option, str(value))
    examination.search(examination.start_position)
    examination.search(examination.positions.ordinary[1])
    if option.default:
        _set(examination, option, option.default)
    return remark("note.set", name=option.name, value=value)


def unknown(examination: Examination) -> None:
    """Check that the program still works after an unknown option is set."""
    if not examination.dialect.unknown_option:
        raise examination.dialect.lacking()
    examination.dialect.send(examination.dialect.unknown_option)
    examination.dialect.settled()
    examination.search(examination.start_position)
