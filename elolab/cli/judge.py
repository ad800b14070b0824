"""The command ``judge``: reports whether a game is over, and why."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING

from elolab.cli.shared import options

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game
    from elolab.engine.rules import Ending, Rules


def configure(parser: argparse.ArgumentParser) -> None:
    from elolab.engine.language import Catalogue
    from elolab.engine.rules import REASONS

    say = Catalogue("elolab.engine")
    parser.description = (
        "Say whether a game is over, and why. The first ending decides; later moves must be legal and are listed as "
        "extra moves.\n\nReasons:\n"
        + "\n".join(
            textwrap.fill(
                f"{reason}: {say(f'explanation.{reason}')}", 76, initial_indent="  ", subsequent_indent="      "
            )
            for reason in REASONS
        )
    )
    options.add_game(parser)
    options.add_position(parser)
    options.add_rules(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay the moves and print the arbiter's verdict."""
    rules = options.rules_of(arguments)
    target = options.position_of(arguments)
    position = target.game.position(target.start)
    ending = position.judge(rules)
    for move in target.moves:
        if ending is not None:
            break
        position.push(move)
        ending = position.judge(rules)
    extra = target.moves[position.ply :]
    if arguments.json:
        result, reason = _result_and_reason(ending)
        options.print_json(
            {
                "result": result, "reason": reason, "plies": position.ply, "position": position.text,
                "extra_moves": extra, "in_check": position.in_check,
            }
        )  # fmt: skip
        return 0
    print("\n".join(verdict_lines(position.game, ending, rules)))
    print(f"position {position.text} {position.after_moves}")
    if extra:
        print(f"extra moves {' '.join(extra)}")
    return 0


def verdict_lines(game: Game, ending: Ending | None, rules: Rules) -> list[str]:
    """Two lines of text: the result and the reason; ``ending`` is ``None`` for an unfinished game.

    The explanation of a repetition depends on ``rules``.
    """
    from elolab.engine.language import Catalogue

    result, reason = _result_and_reason(ending)
    first, second = game.side_names
    winner = {"1-0": f"{first} wins", "0-1": f"{second} wins", "1/2-1/2": "draw", "*": "the game goes on"}[result]
    asks_nobody = reason == "repetition" and rules.repetition == "draw"
    explanation = Catalogue("elolab.engine")(f"explanation.{'repetition_draw' if asks_nobody else reason}")
    return [f"result {result} ({winner})", f"reason {reason}: {explanation}"]


def _result_and_reason(ending: Ending | None) -> tuple[str, str]:
    return (ending.result, ending.reason) if ending else ("*", "unfinished")
