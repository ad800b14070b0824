"""The command ``claims``: tests the literature's claims about the search."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from elolab.cli.shared import options, tuning_runs
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import add_playing, output_folder

if TYPE_CHECKING:
    from elolab.tuning.claims.claims_spec import ClaimsSpec


REPEAT_MINUTES = 10
"""Time limit of ``--repeat`` in minutes, if ``--minutes`` is not given."""


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_game(parser)
    parser.add_argument(
        "--budget", choices=("quick", "full"), default="quick",
        help="quick: minutes, indicative verdicts; full: days (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--claims", metavar="FILE", help="table of claims: a file or a shipped name (default: the game's)"
    )
    parser.add_argument(
        "--only", metavar="ID", nargs="+", default=[], help="only these claims or parts, such as C9a C12"
    )
    parser.add_argument(
        "--repeat", metavar="ID", nargs="+", default=[],
        help="test only these parts of a shipped table again, with the full budget, for at most 10 minutes",
    )  # fmt: skip
    parser.add_argument(
        "--minutes",
        metavar="N",
        type=options.whole_number(1),
        help="stop after N minutes; the same command resumes",
    )
    parser.add_argument(
        "--amend",
        metavar="WHY",
        help="register changes of rules, openings, weights, defaults or parts as an amendment, with this reason",
    )
    parser.add_argument(
        "--digests", action="store_true", help="only print the digest of each part and of the whole table"
    )
    options.add_output(parser, "results/claims-<table>-<budget>")
    add_playing(parser, keeps_dialogues=False)
    parser.epilog = (
        "Each part of a claim is tested at several limits in two engines: the one that its text describes, and this "
        "program's own. The rule of each test is registered before the first game; a later change is refused, or kept "
        "as an amendment. Positions are searched first; then games are played, the cheapest verdict first. Run "
        "again, the command resumes where it stopped; the report covers what is known so far. --repeat C1a tests one "
        "line of docs/claims.md again: searches of positions end in minutes, and games are the same as before, as many "
        "as the time allows. The exit code is 1 if players forfeited games by faults."
    )


def run(arguments: argparse.Namespace) -> int:
    from elolab.arena.run import check_directory
    from elolab.engine.settings.configuration import find_config
    from elolab.tuning.claims.cells import searches_at_most
    from elolab.tuning.claims.claims_run import plan_of_run, purpose_of, run_claims
    from elolab.tuning.claims.claims_spec import load_claims

    if arguments.repeat:
        repeat_parts(arguments)
    path = find_config("claims", arguments.claims or options.game_of(arguments).name)
    spec = load_claims(path, arguments.budget, arguments.only)
    if arguments.claims and spec.conditions.game != arguments.game:
        raise UsageError(f"claims: --claims {arguments.claims} is for {spec.conditions.game}, not {arguments.game}")
    if arguments.digests:
        return print_digests(spec, arguments)
    directory = output_folder(arguments.out, spec.name)
    if arguments.dry_run:
        purpose = purpose_of(spec, directory, arguments.amend)
        check_directory(directory, purpose, accepts_changes=arguments.accept_engine_change)
        figures = {"claims": len(spec.claims), "parts": len(spec.parts), "searches": searches_at_most(spec)}
        planned = plan_of_run(spec, directory, arguments.concurrency)
        return tuning_runs.describe(planned, purpose, figures, arguments)
    result = tuning_runs.uninterrupted(
        run_claims, arguments, spec, directory, amend=arguments.amend, minutes=arguments.minutes
    )
    return tuning_runs.finish(result, arguments, directory)


def repeat_parts(arguments: argparse.Namespace) -> None:
    """Replace the option ``--repeat`` in ``arguments`` by the options that it stands for.

    These are ``--claims`` with the table that has the named parts, ``--only`` with their names, ``--budget full``, and
    a time limit. Raises ``UsageError`` if no single table of the game has all the parts, or if another option
    contradicts ``--repeat``.
    """
    from elolab.engine.settings.configuration import available_configs, find_config, nearest, read_toml

    if arguments.only or arguments.claims:
        raise UsageError("claims: --repeat finds table and parts itself", "leave out --only and --claims")
    known: dict[str, list[str]] = {}
    for name in available_configs("claims"):
        table = read_toml(find_config("claims", name))
        if table.get("game") == options.game_of(arguments).name:
            known[name] = [part.get("id", "") for claim in table.get("claims", ()) for part in claim.get("parts", ())]
    tables = [name for name, parts in known.items() if set(arguments.repeat) <= set(parts)]
    if not tables:
        names = [part for parts in known.values() for part in parts]
        lacks = f"claims: no table of {arguments.game} has"
        for wrong in arguments.repeat:
            if wrong not in names:
                raise UsageError(f"{lacks} part {wrong!r}{nearest(wrong, names)}")
        raise UsageError(f"{lacks} all of {', '.join(arguments.repeat)}", "repeat them one by one")
    arguments.claims, arguments.only, arguments.budget = tables[0], arguments.repeat, "full"
    arguments.minutes = arguments.minutes or REPEAT_MINUTES


def print_digests(spec: ClaimsSpec, arguments: argparse.Namespace) -> int:
    """Print the digest of every part and of the whole file, to compare versions of a claims file."""
    digests = {**{part.id: part.digest for part in spec.parts}, "all": spec.digest}
    if arguments.json:
        options.print_json(digests)
    else:
        print("\n".join(f"{name:<5} {digest}" for name, digest in digests.items()))
    return 0
