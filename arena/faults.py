"""A player's fault as data: its kind and figures, from which a sentence is made in either language.

Kinds are messages of the table ``did`` in arena's catalogue. A value is a text, a number, or another ``Fault``, which
becomes a part of the sentence. A stored game keeps all of it, so that a report can be written in any language later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.language import DEFAULT_LANGUAGE, Catalogue

WORDS = "words"
"""The kind of a fault of which only an English text is known."""


@dataclass(frozen=True, init=False)
class Fault:
    """What a player did wrong, without its name."""

    kind: str
    values: Mapping[str, str | int | Fault]

    def __init__(self, kind: str, /, **values: str | int | Fault) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "values", values)

    @classmethod
    def of(cls, what: Fault | str) -> Fault:
        """The fault itself, or one of which only the English text is known."""
        return what if isinstance(what, Fault) else cls(WORDS, text=what)

    def text(self, language: str = DEFAULT_LANGUAGE) -> str:
        """One sentence in a language, without a full stop; its subject is the player."""
        parts = {
            name: value.text(language) if isinstance(value, Fault) else value for name, value in self.values.items()
        }
        return Catalogue("arena", language)(f"did.{self.kind}", **parts)

    @property
    def data(self) -> dict[str, Any]:
        """Plain data, from which ``read`` makes it again."""
        values = {name: value.data if isinstance(value, Fault) else value for name, value in self.values.items()}
        return {"kind": self.kind, "values": values}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Fault:
        """A fault from its plain data."""
        values = {
            name: cls.read(value) if isinstance(value, Mapping) else value for name, value in data["values"].items()
        }
        return cls(data["kind"], **values)


def seconds_text(milliseconds: float) -> str:
    """A time in seconds, to the tenth of a millisecond: ``0.12``."""
    return f"{round(milliseconds / 1000, 4):g}"


def stored_fault(detail: Mapping[str, Any]) -> tuple[str, Fault] | None:
    """The player whose fault a stored game's ``detail`` holds, and the fault; ``None`` if there is none.

    Games stored by earlier versions hold the English text alone, with the player's name before it.
    """
    stored = detail.get("fault")
    if stored is None:
        return None
    player: str = stored["player"]
    if "did" in stored:
        return player, Fault.read(stored["did"])
    return player, Fault(WORDS, text=stored["text"].removeprefix(f"{player}: "))


def late_move_fault(elapsed_ms: float, allowed_ms: float, margin_ms: float = 0) -> Fault:
    """The fault of a player that moved too late."""
    times: dict[str, str | int | Fault] = {"elapsed": seconds_text(elapsed_ms), "left": seconds_text(allowed_ms)}
    if not margin_ms:
        return Fault("moved_late", **times)
    return Fault("moved_late_with_margin", **times, margin=f"{margin_ms:g}")
