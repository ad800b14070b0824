"""The commands that improve: ``tune``, ``ablate``, ``claims`` and ``fit-evaluation``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.shipped_specifications import add_specification_argument, names_paragraph, specification_of
from engine.command_line import (
    UsageError,
    add_concurrency_argument,
    add_game_argument,
    add_json_argument,
    add_output_argument,
    add_seed_argument,
    game_of,
    print_json,
    whole_number,
)

if TYPE_CHECKING:
    from engine.limits import Limits
    from tuning.comparisons import Comparison
    from tuning.spec import TuningSpec


def _configure(parser: argparse.ArgumentParser, kind: str, epilog: str) -> None:
    add_specification_argument(parser, kind)
    parser.epilog = epilog + names_paragraph(kind)
    add_output_argument(parser)
    _add_playing_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say how many games, openings and how much time")
    add_json_argument(parser)


def _add_playing_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``_uninterrupted`` hands on to the run."""
    add_concurrency_argument(parser)
    parser.add_argument(
        "--accept-engine-change", action="store_true", help="go on although another version of the engine began"
    )


def _add_language_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language", choices=("en", "zh"), default="en", help="the report's language (default %(default)s)"
    )


# tune


def configure_tune(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab tune``."""
    _configure(
        parser,
        "tuning",
        "Given again, the command goes on where it was stopped. A gain that a sequential test on reserved openings "
        "accepts, and a slower match does not contradict, is written as a preset to configs/engines (where there is no "
        "configs folder, to DIR); if none is, the exit code is 3.",
    )


def run_tune(arguments: argparse.Namespace) -> int:
    """Run or resume a study."""
    from tuning.report import repeat_command, tuning_data, tuning_sentence, tuning_text
    from tuning.spec import load_tuning
    from tuning.study import tune

    spec = load_tuning(specification_of(arguments, "tuning", "tune"))
    directory = _folder(arguments.out, spec.name)
    if arguments.dry_run:
        return _describe_tuning(spec, directory, arguments)
    tuned = _uninterrupted(tune, arguments, spec, directory)
    if tuned is None or tuned.interrupted:
        _say_how_to_resume(repeat_command("tune", spec.conditions, directory), directory)
        return 130
    if tuned.waiting_for:
        rounds = ", ".join(str(number + 1) for number in tuned.waiting_for)
        print(
            f"elolab: other workers are still playing the rounds {rounds}; when they have finished, give the same "
            "command again for the playoff and the validation",
            file=sys.stderr,
        )
        return tuned.exit_code
    if arguments.json:
        print_json(tuning_data(tuned))
    else:
        print(tuning_text(tuned))
        print()
        print(f"games digest: {tuned.digest}")
        print(tuned.report)
    if not tuned.confirmed:
        sys.stdout.flush()
        print(f"elolab: {tuning_sentence(tuned)}", file=sys.stderr)
    return tuned.exit_code


def _describe_tuning(spec: TuningSpec, directory: Path, arguments: argparse.Namespace) -> int:
    from tuning.rounds import rounds_of
    from tuning.study import prepare_tuning

    plan = prepare_tuning(spec)
    facts = {
        "dimensions": len(spec.space.dimensions),
        "openings_for_tuning": len(plan.openings),
        "openings_for_validation": len(plan.reserved),
    }
    if plan.games is not None:
        facts["rounds"] = len(rounds_of(spec, plan.games))
        work = [(plan.games, (spec.conditions.limits,))]
        return _describe(spec.name, directory, plan.games, work, facts, arguments)
    if arguments.json:
        print_json({"name": spec.name, "folder": str(directory), **facts, "seconds": spec.budget.seconds})
        return 0
    from arena.progress import duration_text

    print(f"{spec.name}: {duration_text(spec.budget.seconds or 0)} (hours:minutes:seconds), then the validation")
    print(", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in facts.items()))
    return 0


# validate


def configure_validate(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab validate``."""
    from engine.limits import Limits

    parser.add_argument("directory", metavar="DIR", type=Path, help="the folder of a finished study")
    parser.add_argument(
        "--limit", type=Limits.parse, metavar="LIMIT", help="of every move (default: the limit of the tuning)"
    )
    parser.add_argument(
        "--pairs", type=whole_number(1), metavar="N", help="play so many pairs of games instead of a sequential test"
    )
    _add_playing_arguments(parser)
    add_json_argument(parser)
    parser.epilog = (
        "Plays the study's recommendation against its base on openings that the tuning never saw. The exit code is 0 "
        "if the sequential test accepts the gain, which also writes the preset, and 3 if not, or if a match of the "
        "study itself spoke against it. Given again, the command plays only what is missing."
    )


def run_validate(arguments: argparse.Namespace) -> int:
    """Validate a study's recommendation again."""
    from tuning.report import verdict_data, verdict_sentence
    from tuning.study import validate_again

    directory = arguments.directory
    if not directory.is_dir():
        raise UsageError(f"validate: {directory}: there is no such folder; expected one that elolab tune made")
    validated = _uninterrupted(validate_again, arguments, directory, arguments.limit, arguments.pairs)
    if validated is None or validated.verdict is None:
        _say_how_to_resume("the same command again", directory)
        return 130
    verdict = validated.verdict
    if arguments.json:
        preset = None if validated.preset is None else str(validated.preset)
        print_json({"parameters": validated.values, **verdict_data(verdict), "preset": preset})
    else:
        print(verdict_sentence(verdict))
        print(f"pentanomial: {' '.join(map(str, verdict.counts.counts))}")
        if validated.preset is not None:
            print(f"preset: {validated.preset}")
    if not verdict.passed or validated.failed is not None:
        sys.stdout.flush()
        against = verdict.limits if not verdict.passed else f"{validated.failed.limits} in the study itself"
        print(f"elolab: {directory}: the recommendation is not validated at {against}", file=sys.stderr)
    return int(validated.exit_code)


# ablate


def configure_ablate(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab ablate``."""
    _configure(
        parser,
        "ablations",
        "Games go in rounds fixed beforehand to the comparisons whose verdict is still open: better, worse, or "
        "equivalent within a margin. Given again, the command plays only what is missing: that resumes an ablation "
        "after any stop, and extends it after comparisons or pairs were added to SPEC.",
    )
    _add_language_argument(parser)


def run_ablate(arguments: argparse.Namespace) -> int:
    """Run, resume or extend an ablation."""
    from tuning.ablation import ablate, prepare_ablation
    from tuning.ablation_report import ablation_data, ablation_text
    from tuning.comparisons import load_ablation
    from tuning.report import repeat_command

    spec = load_ablation(specification_of(arguments, "ablations", "ablate"))
    directory = _folder(arguments.out, spec.name)
    if arguments.dry_run:
        plan = prepare_ablation(spec)
        facts = {
            "comparisons": len(plan.matches),
            "questions": spec.questions,
            "rounds": spec.rule.rounds,
            "openings": len(plan.openings),
        }
        return _describe(spec.name, directory, plan.games, _work_of(spec.comparisons), facts, arguments)
    ablated = _uninterrupted(ablate, arguments, spec, directory, language=arguments.language)
    if ablated is None or ablated.interrupted:
        _say_how_to_resume(repeat_command("ablate", spec.conditions, directory), directory)
        return 130
    if arguments.json:
        print_json(ablation_data(ablated))
    else:
        print(ablation_text(ablated.rows, ablated.effects))
        print()
        print(f"games digest: {ablated.digest}")
        print(ablated.report)
    return ablated.exit_code


# claims


def configure_claims(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab claims``."""
    add_game_argument(parser)
    parser.add_argument(
        "--budget", choices=("quick", "full"), default="quick",
        help="quick: minutes, indicative verdicts; full: hours (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--claims", metavar="FILE", help="table of claims: a file or a shipped name (default: the game's)"
    )
    parser.add_argument("--only", metavar="ID", nargs="+", default=[], help="only these claims, such as C7 C20")
    add_output_argument(parser, "results/claims-<game>-<budget>")
    _add_playing_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say how many games and how much time")
    _add_language_argument(parser)
    add_json_argument(parser)
    parser.epilog = (
        "Each claim of the literature about the search is confirmed, refuted or undecided by a rule fixed beforehand. "
        "The cheapest come first. Given again, the command goes on where it was stopped; until then the report is on "
        "the claims that were done with."
    )


def run_claims(arguments: argparse.Namespace) -> int:
    """Run or resume the claims of a game."""
    from engine.configuration import find_config
    from tuning.claim_run import examine
    from tuning.claims import load_claims
    from tuning.claims_report import claims_command, claims_data, claims_text

    path = find_config("claims", arguments.claims or game_of(arguments).name)
    spec = load_claims(path, arguments.budget, arguments.only)
    if arguments.claims and spec.conditions.game != arguments.game:
        raise UsageError(f"claims: --claims {arguments.claims} is for {spec.conditions.game}, not {arguments.game}")
    directory = _folder(arguments.out, spec.name)
    if arguments.dry_run:
        work = _work_of(one for claim in spec.claims for group in claim.groups for one in group.comparisons)
        facts = {"claims": len(spec.claims), "positions": spec.budget.positions, "depth": spec.budget.depth}
        return _describe(spec.name, directory, sum(games for games, _ in work), work, facts, arguments)
    examined = _uninterrupted(examine, arguments, spec, directory, language=arguments.language)
    if examined is not None and arguments.json:
        print_json(claims_data(examined))
    elif examined is not None and examined.results:
        print(claims_text(examined))
        print()
        print(f"games digest: {examined.digest}")
        print(examined.report)
    if examined is None or examined.interrupted:
        sys.stdout.flush()
        _say_how_to_resume(claims_command(spec, directory), directory)
        return 130
    return int(examined.exit_code)


# fit-evaluation

FIT_MATCH_LIMITS = ("nodes=1000", "depth=4")
SCORE_SHARE = 50
"""Percent, in a logistic regression."""


def configure_fit_evaluation(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab fit-evaluation``."""
    from engine.limits import Limits

    add_game_argument(parser, "othello")
    parser.add_argument(
        "--games", type=whole_number(20), default=20_000, metavar="N",
        help="self-play games of each iteration (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=Limits.parse, metavar="LIMIT",
        help="what a player may spend on a move of them (default nodes=800 in Xiangqi, depth=3 in Othello)",
    )
    add_seed_argument(parser, 1)
    parser.add_argument(
        "--iterations", type=whole_number(1), default=1, metavar="N",
        help="times to play, each with the weights fitted before, and fit (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--until-no-gain", action="store_true",
        help="end after the first iteration whose weights do not beat those before with 95 %% certainty; keep those",
    )  # fmt: skip
    parser.add_argument(
        "--phases", type=whole_number(1), metavar="N",
        help="Othello: phases of the game with weights of their own, a divisor of 60 (default 6)",
    )  # fmt: skip
    parser.add_argument(
        "--patterns", choices=("on", "off"),
        help="Othello: fit patterns of edges, corners, lines and diagonals beside the features (default on)",
    )  # fmt: skip
    parser.add_argument(
        "--score-share", type=whole_number(0, 100), metavar="PERCENT",
        help="Xiangqi: share of the search's opinion, beside the game's outcome, in what is fitted to (default 50)",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="start", metavar="WEIGHTS",
        help="weights that play the first games: a file, or the name of shipped ones (default: the game's)",
    )  # fmt: skip
    parser.add_argument(
        "--match-pairs", type=whole_number(0), default=100, metavar="N",
        help="pairs of games of each match of new weights against those before, 0 for none (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--match-limit", dest="match_limits", type=Limits.parse, action="append", metavar="LIMIT",
        help=f"limit of such a match; may be given several times (default {' and '.join(FIT_MATCH_LIMITS)})",
    )  # fmt: skip
    parser.add_argument("--output", metavar="FILE", help="write the last weights here too, to be used by this name")
    add_output_argument(parser, "results/fit-<game>")
    _add_playing_arguments(parser)
    add_json_argument(parser)
    parser.epilog = (
        "Exit code 3: a gain was asked for and none was found. "
        "Given again, the command goes on where it was stopped; with more games or iterations it extends the run. The "
        "same command writes the same weights at any concurrency."
    )


def run_fit_evaluation(arguments: argparse.Namespace) -> int:
    """Run or resume a fit."""
    from engine.games import game_named
    from engine.limits import Limits
    from engine.parameters import BY_NAME
    from tuning.fit_evaluation import FitSpec, check_fit, fit_data, fit_evaluation, fit_text, fitting_of

    game = game_named(arguments.game)
    fitting = fitting_of(game)
    logistic = fitting.regression == "logistic"
    patterns = arguments.patterns
    if patterns is None:
        patterns = "on" if fitting.pattern_weights else "off"
    spec = FitSpec(
        game=game.name,
        start=arguments.start or str(BY_NAME[fitting.parameter].default_for(game.name)),
        games=arguments.games,
        limits=arguments.limit or Limits.parse(fitting.self_play_limit),
        seed=arguments.seed,
        iterations=arguments.iterations,
        until_no_gain=arguments.until_no_gain,
        phases=arguments.phases or fitting.phases,
        patterns=patterns == "on",
        score_share=SCORE_SHARE * logistic if arguments.score_share is None else arguments.score_share,
        match_pairs=arguments.match_pairs,
        match_limits=tuple(arguments.match_limits or map(Limits.parse, FIT_MATCH_LIMITS)),
    )
    check_fit(spec)
    directory = _folder(arguments.out, f"fit-{game.name}")
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"fit-evaluation: --output {output}: there is no folder {output.parent}")
    fitted = _uninterrupted(fit_evaluation, arguments, spec, directory, output=output)
    if fitted is None or fitted.interrupted:
        _say_how_to_resume("the same command again", directory)
        return 130
    if arguments.json:
        print_json(fit_data(fitted))
    else:
        print(fit_text(fitted))
    return 3 if fitted.kept is None else 0


# All of them


def _folder(out: str | None, name: str) -> Path:
    """``--out``, in which ``{name}`` and ``{identity}`` stand for the run's name and the engine's."""
    if out is None:
        return Path("results") / name
    if "{identity}" in out:
        from engine.identity import engine_identity

        out = out.replace("{identity}", engine_identity())
    return Path(out.replace("{name}", name))


def _uninterrupted(run: Callable[..., Any], arguments: argparse.Namespace, *given: Any, **named: Any) -> Any:
    """What ``run`` returns, given the arguments of playing too, or ``None`` after a second Ctrl-C."""
    played = {"concurrency": arguments.concurrency, "accept_engine_change": arguments.accept_engine_change}
    try:
        return run(*given, **named, **played)
    except KeyboardInterrupt:
        return None


def _say_how_to_resume(command: str, directory: Path) -> None:
    from arena.store import STORE_NAME, Store

    stored = 0
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored = len(store)
    print(f"elolab: interrupted: {stored} games are stored; to go on: {command}", file=sys.stderr)


def _work_of(comparisons: Iterable[Comparison]) -> list[tuple[int, tuple[Limits, ...]]]:
    """The most games of every comparison, and the limits of its two sides."""
    return [(2 * one.pairs, (one.limits, one.reference_limits or one.limits)) for one in comparisons]


def _describe(
    name: str,
    directory: Path,
    games: int,
    work: Sequence[tuple[int, Sequence[Limits]]],
    facts: dict[str, int],
    arguments: argparse.Namespace,
) -> int:
    """Print what a run of at most ``games`` would do; ``work`` are its parts, which may be more than that together."""
    from arena.estimates import estimated_game_seconds
    from arena.progress import duration_text
    from arena.store import STORE_NAME, Store

    stored, mean_ms = 0, None
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored, mean_ms = len(store), store.mean_duration_ms()
    if mean_ms is None:
        total = sum(count * estimated_game_seconds(limits) for count, limits in work)
        each = total / max(1, sum(count for count, _ in work))
    else:
        each = mean_ms / 1000
    seconds = max(0, games - stored) * each / arguments.concurrency
    data = {"name": name, "folder": str(directory), "games": games, "stored": stored, **facts, "seconds": seconds}
    if arguments.json:
        print_json(data)
        return 0
    print(f"{name}: at most {games} games, {stored} of them stored in {directory}")
    print(", ".join(f"{fact.replace('_', ' ')}: {count}" for fact, count in facts.items()))
    print(f"time: at most {duration_text(seconds)} or so (hours:minutes:seconds)")
    return 0
