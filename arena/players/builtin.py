"""The built-in engine as a player of the Python game loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.players.contract import PlayerClock, PlayerFault, Reply

if TYPE_CHECKING:
    from arena.records import Opening, PlayerSpec
    from engine.engine import Engine, StopFlag
    from engine.games.contract import Position


class BuiltinPlayer:
    """``engine.engine.Engine`` behind ``arena.players.contract.Player``; it has no process and no dialogue."""

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        self.spec = spec
        self.name = spec.name
        self._game = game
        self._engine: Engine | None = None

    def start(self) -> None:
        """Set the engine up, if it is not."""
        if self._engine is None:
            from engine.engine import Engine

            self._engine = Engine(self._game, dict(self.spec.parameters))

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        """Start from empty tables."""
        self.start()
        assert self._engine is not None
        self._engine.new_game()

    def move(self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Search; a move costs the time that the kernel itself measured on the limits' clock."""
        from engine.engine import Clock

        assert self._engine is not None, "start comes first"
        own = None
        if clock is not None:
            own = Clock(clock.remaining_ms, clock.opponent_remaining_ms, clock.moves_to_go, clock.remaining_ns)
        result = self._engine.search(position, self.spec.limits, own, stop)
        if result.move is None:
            raise PlayerFault("illegal_move", f"{self.name}: found no move")
        return Reply(result.move, result.score, result.depth, result.nodes, round(result.time_ms * 1e6))

    def dialogue(self) -> list[str]:
        """Nothing: nobody talks."""
        return []

    def close(self) -> None:
        """Give the engine's tables back."""
        self._engine = None
