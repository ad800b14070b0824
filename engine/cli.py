"""The engine's commands: each has ``configure_<command>(parser)`` and ``run_<command>(arguments) -> exit code``."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from engine.command_line import (
    DEFAULT_GAME,
    UsageError,
    add_game_argument,
    add_json_argument,
    add_parameter_arguments,
    add_position_arguments,
    add_rules_arguments,
    add_search_limit_arguments,
    game_of,
    overrides_of,
    position_of,
    print_json,
    rules_of,
    search_limits_of,
)
from engine.natural import natural_number

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from engine.games.contract import Game
    from engine.parameters import Value
    from engine.protocols.session import Session

Found = TypeVar("Found")

MOST_COLUMNS = 120
"""Text is not spread wider than this on a wide terminal."""

DEEPEST_PERFT = 16


def configure_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab parameters``."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="show these parameters in full; an alias or any spelling will do (default: a list of all)",
    )  # fmt: skip
    parser.add_argument(
        "--game", metavar="NAME", help=f"the game (default {DEFAULT_GAME}; of parameters that are named every game)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a Markdown table with every column")
    add_json_argument(form)  # type: ignore[arg-type]


def run_parameters(arguments: argparse.Namespace) -> int:
    """Print every parameter that applies to the game, or some in full."""
    from engine.parameter_reference import as_data, as_markdown, as_text
    from engine.parameters import parameters_of

    if arguments.names:
        return _print_in_full(arguments)
    arguments.game = arguments.game or DEFAULT_GAME
    game = game_of(arguments).name
    rows = parameters_of(game)
    if arguments.json:
        print_json(as_data(rows, game))
    elif arguments.markdown:
        print(as_markdown(rows, game), end="")
    else:
        print(as_text(rows, game, min(shutil.get_terminal_size().columns, MOST_COLUMNS)), end="")
    return 0


def _print_in_full(arguments: argparse.Namespace) -> int:
    """Print all about the parameters that were named, each once."""
    from engine.games import GAMES
    from engine.parameter_reference import in_full, in_full_as_data
    from engine.parameters import find

    if arguments.markdown:
        raise UsageError("parameters: --markdown prints the whole table; leave it out, or the names")
    games = GAMES if arguments.game is None else (game_of(arguments).name,)
    rows = {row.name: row for row in map(find, arguments.names)}
    for row in rows.values():
        if row.games and not set(row.games) & set(games):
            raise UsageError(f"parameters: {row.name} does not apply to {games[0]}, only to {', '.join(row.games)}")
    if arguments.json:
        print_json(in_full_as_data(list(rows), games))
    else:
        print(in_full(list(rows), games, min(shutil.get_terminal_size().columns, MOST_COLUMNS)), end="")
    return 0


def configure_perft(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab perft``."""
    add_game_argument(parser)
    add_position_arguments(parser)
    parser.add_argument("--depth", type=_depth, required=True, metavar="PLIES", help=f"1 to {DEEPEST_PERFT}")
    parser.add_argument(
        "--passes",
        choices=("ply", "free"),
        default="ply",
        help="whether a forced pass, in games that have it, counts as a ply (default) or costs none; a game that is "
        "over is one leaf in both conventions",
    )
    add_json_argument(parser)


def run_perft(arguments: argparse.Namespace) -> int:
    """Count the leaves under each move, then ``total N``; Ctrl-C ends it with what was counted."""
    position = position_of(arguments)
    game = position.game
    counts = {}
    for code, move in zip(position.move_codes(), position.legal_moves(), strict=True):
        free = arguments.passes == "free" and bool(game.kernels.is_pass(position.state, code))
        child = position.copy()
        child.push(move)
        depth = arguments.depth - (0 if free else 1)
        counts[move] = _started(partial(game.perft, child, depth, arguments.passes)).result()
        if not arguments.json:
            print(f"{move} {counts[move]}", flush=True)
    total = sum(counts.values()) if counts else game.perft(position, arguments.depth, arguments.passes)
    if arguments.json:
        convention = {"passes": arguments.passes}
        print_json({"position": position.text, "depth": arguments.depth, **convention, "moves": counts, "total": total})
    else:
        print(f"total {total}")
    return 0


def _depth(text: str) -> int:
    depth = natural_number(text)
    if depth is None or not 1 <= depth <= DEEPEST_PERFT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a depth from 1 to {DEEPEST_PERFT}")
    return depth


def configure_judge(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab judge``."""
    from engine.rules import REASON_TEXT

    parser.description = (
        "Say whether a game is over, and why. The first ending decides; later moves must be legal and are listed as "
        "extra moves.\n\nReasons:\n" + "\n".join(
            textwrap.fill(f"{reason}: {text}", 76, initial_indent="  ", subsequent_indent="      ")
            for reason, text in REASON_TEXT.items()
        )
    )
    add_game_argument(parser)
    add_position_arguments(parser)
    add_rules_arguments(parser)
    add_json_argument(parser)


def run_judge(arguments: argparse.Namespace) -> int:
    """Play the moves through and print the arbiter's verdict."""
    from engine.rules import REASON_TEXT, RESULTS

    rules = rules_of(arguments)
    target = position_of(arguments)
    position = target.game.position(target.start)
    ending = position.judge(rules)
    for move in target.moves:
        if ending is not None:
            break
        position.push(move)
        ending = position.judge(rules)
    extra = target.moves[position.ply :]
    result = ending.result if ending else RESULTS[-1]
    reason = ending.reason if ending else "unfinished"
    if arguments.json:
        print_json(
            {
                "result": result, "reason": reason, "plies": position.ply, "position": position.text,
                "extra_moves": extra, "in_check": position.in_check,
            }
        )  # fmt: skip
        return 0
    first, second = position.game.side_names
    winner = {"1-0": f"{first} wins", "0-1": f"{second} wins", "1/2-1/2": "draw", "*": "the game goes on"}[result]
    print(f"result {result} ({winner})")
    print(f"reason {reason}: {REASON_TEXT[reason]}")
    print(f"position {position.text} after {position.ply} moves")
    if extra:
        print(f"extra moves {' '.join(extra)}")
    return 0


def configure_analyse(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab analyse``."""
    add_game_argument(parser)
    add_position_arguments(parser)
    add_search_limit_arguments(parser)
    parser.add_argument("--multipv", type=_lines, default=1, metavar="N", help="report the N best moves (default 1)")
    parser.add_argument("--search-moves", nargs="+", default=[], metavar="MOVE", help="consider only these moves")
    add_parameter_arguments(parser)
    add_rules_arguments(parser)
    add_json_argument(parser)


def run_analyse(arguments: argparse.Namespace) -> int:
    """Search a position and print the lines found; Ctrl-C ends the search and prints what it has."""
    from dataclasses import asdict

    from engine.engine import Engine, StopFlag
    from engine.values import format_score, mate_distance

    limits = search_limits_of(arguments, "nodes=1000000")
    engine = Engine(arguments.game, overrides_of(arguments))
    position = position_of(arguments)
    position.game.apply_rules(position.state, rules_of(arguments))
    moves = position.game.read_moves(position, arguments.search_moves, arguments.ranks)
    stop = StopFlag()
    future = _started(partial(engine.search, position, limits, stop=stop, search_moves=moves, lines=arguments.multipv))
    try:
        result = future.result()
    except KeyboardInterrupt:
        stop.set()
        result = future.result()
    if arguments.json:
        data = asdict(result) | {"position": position.text, "mate": mate_distance(result.score)}
        data["nodes_per_second"] = result.nodes / (result.time_ms / 1000) if result.time_ms else None
        print_json(data)
        return 0
    print(position.game.describe(position))
    side = position.game.side_names[position.side_to_move]
    print(f"{position.text}")
    print(f"{side} to move; scores are {side}'s, in {position.game.score_name}{_other_scores(position.game)}")
    for number, line in enumerate(result.lines, 1):
        print(f"{number}. {format_score(line.score):>7}  depth {line.depth:<3} {' '.join(line.principal_variation)}")
    speed = f", {result.nodes / result.time_ms:.0f} thousand a second" if result.time_ms else ""
    print(f"{result.nodes} nodes in {result.time_ms / 1000:.3f} s{speed}; deepest ply {result.deepest_ply}")
    print(f"bestmove {result.move or '(none)'}")
    return 0


def _other_scores(game: Game) -> str:
    """What scores that are no numbers mean, where there are any."""
    return "" if game.score_unit else " (M: mate in moves, R: decided by repetition)"


def _started(work: Callable[[], Found]) -> Future[Found]:
    """What runs in a thread of its own, since the interpreter cannot see Ctrl-C while compiled code runs in this one.

    The program need not wait for its end.
    """
    from concurrent.futures import Future

    future: Future[Found] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # whoever waits for the result raises it
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def _lines(text: str) -> int:
    from engine.search.records import MAX_LINES

    lines = natural_number(text)
    if lines is None or not 1 <= lines <= MAX_LINES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of lines from 1 to {MAX_LINES}")
    return lines


def configure_suite(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab suite``."""
    parser.description = (
        "Search every position of a suite and say how many are solved: the move played is a best move. The solution "
        "counts from the first depth from which every deeper iteration prefers a best move too. A suite is an EPD "
        "file of lines like FEN; bm MOVE [MOVE ...]; id \"name\";"
    )
    parser.add_argument("suite", metavar="SUITE", help="EPD file, or the name of a shipped one (xiangqi-tactics)")
    add_game_argument(parser)
    add_parameter_arguments(parser)
    add_search_limit_arguments(parser)
    add_json_argument(parser)


def run_suite(arguments: argparse.Namespace) -> int:
    """Print solved and missed positions, then nodes to each depth."""
    import statistics
    from dataclasses import asdict

    from engine.configuration import find_config
    from engine.engine import Engine
    from engine.suite import attempt, load_positions, mean_nodes_to_depth
    from engine.values import format_score

    limits = search_limits_of(arguments, "nodes=20000")
    path = find_config("suites", arguments.suite)
    settings = overrides_of(arguments)
    entries = load_positions(path, arguments.game)
    engine = Engine(arguments.game, settings)
    attempts = []
    for entry in entries:
        found = _started(partial(attempt, engine, entry, limits)).result()
        attempts.append(found)
        if not arguments.json:
            solution = found.solution
            verdict = "missed" if not found.solved else "solved"
            where = f"depth {solution.depth:>2} {solution.nodes:>10} nodes" if solution else ""
            score = format_score(found.score)
            print(f"{verdict} {entry.name:<16.16} {found.move or '-':<6} {score:>7} {where}", flush=True)
    solved = [found for found in attempts if found.solved]
    depths = mean_nodes_to_depth(attempts)
    to_solution = [found.solution.nodes for found in solved if found.solution]
    if arguments.json:
        print_json(
            {
                "suite": str(path), "preset": arguments.preset, "limit": str(limits), "positions": len(attempts),
                "solved": len(solved), "missed": len(attempts) - len(solved), "attempts": [asdict(a) for a in attempts],
                "nodes_to_depth": [
                    {"depth": depth, "searches": count, "mean_nodes": mean} for depth, (count, mean) in depths.items()
                ],
            }
        )  # fmt: skip
        return 0
    print(f"\n{len(solved)} of {len(attempts)} solved at {limits}, {len(attempts) - len(solved)} missed")
    if to_solution:
        print(f"median of {statistics.median(to_solution):.0f} nodes to the solution, where an iteration found it")
    print("\ndepth  searches  nodes to its end (mean of the searches that completed it)")
    for depth, (count, mean) in depths.items():
        print(f"{depth:>5}  {count:>8}  {mean:>12.0f}")
    return 0


def configure_solve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab solve``."""
    parser.description = (
        "Play a position out to the end, perfectly: the exact score for the side to move, in discs with the empty "
        "squares going to the winner, and a best line. Up to about 20 empty squares that takes seconds, and each two "
        "more take about five times as long. For games with an exact solver: Othello."
    )
    add_game_argument(parser, "othello")
    parser.add_argument(
        "--board",
        required=True,
        metavar="TEXT",
        help="the position: 64 characters X, O or - (a1 to h1, a2 to h8), then the side to move, X or O",
    )
    parser.add_argument("--fen", metavar="FEN", help=argparse.SUPPRESS)
    parser.add_argument("--moves", action="store_true", help="give the exact score of every move")
    add_parameter_arguments(parser)
    add_json_argument(parser)


def run_solve(arguments: argparse.Namespace) -> int:
    """Solve a position; Ctrl-C ends it without a result."""
    from engine.engine import StopFlag
    from engine.solving import Solver

    solver = Solver(game_of(arguments).name, overrides_of(arguments), StopFlag())
    position = position_of(arguments, with_moves=False)
    began = time.monotonic()
    solution = _started(partial(solver.solve, position, every_move=arguments.moves)).result()
    seconds = time.monotonic() - began
    if arguments.json:
        data = {
            "position": position.text, "score": solution.score, "best_move": solution.best_move,
            "line": list(solution.line), "nodes": solution.nodes, "time_ms": 1000 * seconds,
        }  # fmt: skip
        print_json(data | ({"moves": dict(solution.moves)} if solution.moves is not None else {}))
        return 0
    side = position.game.side_names[position.side_to_move]
    print(position.game.describe(position))
    print(f"{side} to move; scores are {side}'s, in discs, empty squares to the winner")
    for move, score in sorted((solution.moves or {}).items(), key=lambda pair: -pair[1]):
        print(f"{move:<4} {score:+d}")
    print(f"score {solution.score:+d}")
    print(f"bestmove {solution.best_move or '(none)'}")
    print(f"line {' '.join(solution.line) or '(none)'}")
    print(f"{solution.nodes} nodes in {seconds:.3f} s")
    return 0


def configure_bench(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab bench``."""
    parser.description = (
        "Search fixed positions to fixed depths, with the default settings (whose speed is printed) and with variants "
        "that exercise the other techniques, and play a few moves on the node clock. The last line is the total number "
        "of nodes over all games: it changes exactly when the search or the evaluation does.\n\n"
        "With --preset or --set the positions of one game are searched under these settings alone, as deep as under "
        "the variants, and the number is theirs."
    )
    parser.add_argument(
        "--game", metavar="NAME", help=f"only this game (default: all; with --preset or --set {DEFAULT_GAME})"
    )
    add_parameter_arguments(parser)
    add_json_argument(parser)


def run_bench(arguments: argparse.Namespace) -> int:
    """Run the benchmark; the last line is ``Bench: N``."""
    from dataclasses import asdict

    from engine.bench import DEFAULT, GIVEN, searches, searches_under, signature, speed
    from engine.games import GAMES

    is_given = arguments.preset is not None or bool(arguments.assignments)
    if is_given:
        arguments.game = arguments.game or DEFAULT_GAME
    games = GAMES if arguments.game is None else (game_of(arguments).name,)
    timed = GIVEN if is_given else DEFAULT
    results = []
    for result in searches_under(games[0], overrides_of(arguments)) if is_given else searches(games):
        results.append(result)
        if not arguments.json:
            rate = result.nodes / max(result.cpu_seconds, 1e-9) / 1e6
            print(
                f"{result.game} {result.variant:<9} depth {result.depth:>2} {result.nodes:>9} nodes {rate:6.2f} M/s"
                f"  {result.score:+6d} cp  {result.position.split()[0][:24]}",
                flush=True,
            )
    if arguments.json:
        own = {game: [result for result in results if result.game == game] for game in games}
        print_json(
            {
                "bench": signature(results),
                "nodes_per_second": {game: speed(found, variant=timed) for game, found in own.items()},
                "solved_nodes_per_second": {
                    game: speed(found, solves=True, variant=timed) for game, found in own.items()
                },
                "searches": [asdict(result) for result in results],
            }
        )
        return 0
    settings = "with these settings" if is_given else "with the default settings"
    for game in games:
        found = [result for result in results if result.game == game]
        searching, solving = (speed(found, solves=solves, variant=timed) for solves in (False, True))
        parts = [] if searching is None else [f"{searching:.0f}"]
        parts += [] if solving is None else [f"{solving:.0f} where it solves the game"]
        print(f"{game}: nodes per CPU second {settings}: {'; '.join(parts)}")
    print(f"Bench: {signature(results)}")
    return 0


def configure_compile(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab compile``."""
    parser.description = (
        "Compile the engine now, every game in a process of its own, and keep the code on disk. Whatever needs it does "
        "so by itself, one game after the other; this is for machines that are being prepared, such as the nodes of a "
        "cluster."
    )


def run_compile(arguments: argparse.Namespace) -> int:
    """Compile every game."""
    from engine.compilation import compile_games
    from engine.games import GAMES
    from engine.kernel import CACHE_DIRECTORY

    compile_games(GAMES)
    print(f"compiled for {' and '.join(GAMES)}; the code is in {CACHE_DIRECTORY}")
    return 0


def configure_engine(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab engine``."""
    from engine.protocols import PROTOCOLS

    parser.description = (
        "Run the engine as a program that other programs talk to, over standard input and output. It ends with the "
        "command quit or with its input."
    )
    add_game_argument(parser)
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        help="for Xiangqi ucci (default), uci, or qianhong: the plug-in protocol of Qianhong; for Othello gtp "
        "(default) or nboard",
    )
    parser.add_argument(
        "--ranks",
        choices=("0", "1"),
        default="1",
        help="number of the lowest rank in UCI: 1 (default; announces UCI_Variant), or 0, the cyclone dialect",
    )
    add_parameter_arguments(parser)
    add_rules_arguments(parser)
    # How Qianhong starts its plug-ins.
    parser.add_argument("-info", "--info", action="store_true", help="describe the plug-in to Qianhong, and end")
    parser.add_argument("-plugin", "--plugin", action="store_true", help=argparse.SUPPRESS)


def run_engine(arguments: argparse.Namespace) -> int:
    """Lead one conversation, until ``quit`` or the end of the input."""
    session = _session(arguments, overrides_of(arguments))
    if arguments.info:
        from engine.protocols.qianhong import description

        print(*description(session.title), sep="\n")
        return 0
    session.run(sys.stdin.fileno() if sys.stdin is not None else None)
    return 0


def _session(arguments: argparse.Namespace, overrides: dict[str, Value]) -> Session:
    """The session of ``--protocol``; raises ``UsageError`` for a game that it cannot play."""
    from engine.presets import preset_name
    from engine.protocols import USUAL_PROTOCOLS
    from engine.protocols.gtp import GtpSession
    from engine.protocols.nboard import NBoardSession
    from engine.protocols.qianhong import QianhongSession
    from engine.protocols.ucci import UcciSession
    from engine.protocols.uci import UciSession

    kinds: dict[str, type[Session]] = {
        "ucci": UcciSession, "uci": UciSession, "qianhong": QianhongSession, "gtp": GtpSession, "nboard": NBoardSession,
    }  # fmt: skip
    game = game_of(arguments).name
    protocol = arguments.protocol or USUAL_PROTOCOLS.get(game)
    if protocol is None:
        raise UsageError(f"no protocol is usual for {game}; name one with --protocol")
    kind = kinds[protocol]
    if game not in kind.games:
        others = " or ".join(name for name in kinds if game in kinds[name].games)
        raise UsageError(
            f"--protocol {protocol} cannot play {game}, only {', '.join(kind.games)} (--game {kind.games[0]}); "
            f"{game} is played over {others}"
        )
    title = preset_name(arguments.preset) if arguments.preset else ""
    if kind is UciSession:
        return UciSession(
            game, overrides, sys.stdout, rules=rules_of(arguments), title=title, first_rank=int(arguments.ranks)
        )
    return kind(game, overrides, sys.stdout, rules=rules_of(arguments), title=title)
