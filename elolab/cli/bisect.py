"""The command ``bisect``: finds the first commit that lost strength, by a sequential test at each step."""

from __future__ import annotations

import argparse
import copy
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.builds.build import BuildError
from elolab.arena.builds.players import with_commit
from elolab.arena.builds.repository import Commit, Repository, split_source
from elolab.arena.colours import text_columns
from elolab.arena.keys.engines_file import engines_file
from elolab.arena.keys.player import SOURCE
from elolab.arena.players.detect import DetectionError
from elolab.arena.sequential import SequentialSettings
from elolab.arena.testing.bisection import Bisection
from elolab.cli.shared.engine_options import PlayerWords, named_player, read_player_words
from elolab.cli.shared.match_options import (
    PLAYER_HELP,
    add_test,
    add_tournament_words,
    keys_of_test,
    planned_test,
    player_words,
    rounds_as_pairs,
    spec_of_words,
    test_of,
    warn_of_ignored_options,
)
from elolab.cli.shared.options import print_json, warn
from elolab.cli.shared.parser import CommandParser, UsageError
from elolab.cli.shared.playing_options import output_folder, run_options
from elolab.cli.shared.tournament_output import after_outcome, pgn_detail, write_results
from elolab.engine.language import Catalogue, wrapped

if TYPE_CHECKING:
    from elolab.arena.play.tournament_run import TournamentResult
    from elolab.arena.reports.testing.bisection_report import BisectionReport

REPORT_NAME = "report.html"
EXIT_NOT_FOUND = 3


def configure(parser: CommandParser) -> None:
    parser.add_argument("a", metavar="GOOD", nargs="?", help="the good commit, REPO@REV or NAME@REV of engines.toml")
    parser.add_argument("b", metavar="BAD", nargs="?", help="a later commit of the same repository, which is weaker")
    add_test(parser)
    parser.add_argument(
        "--reference", metavar="PLAYER", help="the player that every commit meets (default: the good commit)"
    )
    add_tournament_words(parser, "results/bisect-NAME-GOOD-BAD")
    parser.epilog = (
        "Each step is a sequential test of the reference against one commit, as elolab sprt REFERENCE COMMIT plays it, "
        "in a folder of its own. The commit is bad if H1 is accepted: the reference is stronger; it is good if H0 is "
        "accepted. The last commit is tested first, then the middle of what is left. Commits that cannot be built or "
        "started are skipped. A step without a verdict ends the bisection; more --pairs continue it. Run again, the "
        f"command resumes.\n\n{PLAYER_HELP}\n\n"
        "Exit code: 0 if the first bad commit, or the few that may be it, are found, 3 if the last commit is good or a "
        "step is undecided, 1 if games were left unplayed, 2 for wrong input, 130 if interrupted."
    )


def run(arguments: argparse.Namespace) -> int:
    for option in ("event", "pgnout", "epdout"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"bisect: --{option} is for one match", "leave it out")
    warn_of_ignored_options(arguments)
    test = test_of(arguments)
    settings, pairs = planned_test(arguments, test, rounds_as_pairs(arguments))
    search = _BisectionRun(arguments, keys_of_test(test, rounds_as_pairs(arguments)), settings, pairs)
    if arguments.dry_run:
        search.print(search.report.plan(search.say))
        return 0
    try:
        with search.kept:
            return search.run()
    except KeyboardInterrupt:
        warn("console.interrupted", command=search.report.command)
        return 130


class _BisectionRun:
    """One bisection in progress: its commits, its test, and the folder that stores its games."""

    def __init__(
        self, arguments: argparse.Namespace, test: dict[str, Any], settings: SequentialSettings, pairs: int
    ) -> None:
        """Find the commits in the repository and load earlier steps from the folder.

        ``test`` is the table ``[sprt]`` as given, ``settings`` the same test with defaults filled in, ``pairs`` its
        maximum number of game pairs. Raises ``UserError`` if the folder holds anything else.
        """
        import shlex

        from elolab.arena.reports.render import REPORTS
        from elolab.arena.reports.testing.bisection_folder import BisectionFolder
        from elolab.arena.reports.testing.bisection_report import BisectionReport

        self.arguments, self.test = arguments, test
        self.say = Catalogue(REPORTS, arguments.language)
        self.good, self.bad = player_words("bisect", arguments)
        (place, good), (other, bad) = (split_source(self._entry(words)[SOURCE]) for words in (self.good, self.bad))
        if place != other:
            raise UsageError(f"bisect: two repositories, {place} and {other}", "both commits must be in one repository")
        repository = Repository(place)
        first = repository.commit(good)
        self.good = _at_commit(self.good, good)
        self.reference = self.good
        reference = str(self._entry(self.good)["name"])
        if arguments.reference is not None:
            self.reference = PlayerWords("--reference", arguments.reference)
            reference = str(named_player(self.reference, self._each, self._engines).entry["name"])
        commits = repository.line(good, bad)
        self.folder = output_folder(arguments.out, f"bisect-{repository.name}-{first.short}-{commits[-1].short}")
        report = BisectionReport(
            place, first, reference, settings, pairs, Bisection(commits, {}), (),
            shlex.join(("elolab", *arguments.command_line)),
        )  # fmt: skip
        self.kept = BisectionFolder(self.folder, report, arguments.language)

    @property
    def report(self) -> BisectionReport:
        """The report on the steps of the bisection so far."""
        return self.kept.report

    @property
    def _each(self) -> PlayerWords:
        return read_player_words(self.arguments.each, "--each")

    @property
    def _engines(self) -> Any:
        return engines_file(self.arguments.engines_file, Path())

    def _entry(self, words: PlayerWords) -> dict[str, Any]:
        """The ``[[players]]`` table for a player's arguments; raises ``UsageError`` unless they name a git commit."""
        entry = named_player(words, self._each, self._engines).entry
        if SOURCE not in entry:
            raise UsageError(
                f"bisect: {entry.get('name')!r} is not a git commit", "give REPO@REV, or NAME@REV of engines.toml"
            )
        return with_commit(entry, "bisect")

    def print(self, text: str) -> None:
        """Print a text, line by line: to standard output, or to standard error with ``--json``."""
        stream = sys.stderr if self.arguments.json else sys.stdout
        print("\n".join(wrapped(text, text_columns() - 1)), file=stream, flush=True)

    def run(self) -> int:
        """Test commits until the search is complete, print the report, and return the exit code."""
        self.print(self.report.plan(self.say))
        for step in self.kept.search(self._play):
            self.print(self.report.step_line(step, self.say))
        if (result := self.kept.unfinished) is not None:
            key = "console.interrupted_stored" if self.kept.is_interrupted else "console.stored"
            warn(key, stored=result.stored, planned=result.planned, command=self.report.command)
            return 130 if self.kept.is_interrupted else 1
        if self.arguments.json:
            print_json(self.report.data())
        else:
            print()
            self.print(self.report.result(self.say))
            print(self.folder / REPORT_NAME)
        return EXIT_NOT_FOUND if self.report.is_undecided or self.report.bisection.is_without_fault else 0

    def _play(self, commit: Commit, folder: Path) -> tuple[str, TournamentResult]:
        """Play the test of a commit in the given folder, and write its report; see ``PlayTest``."""
        from elolab.arena.play.tournament_run import run

        own = copy.copy(self.arguments)
        own.out = str(folder)
        try:
            spec = spec_of_words("bisect", own, self.test, [self.reference, _at_commit(self.bad, commit.name)])
        except (BuildError, DetectionError) as error:
            if commit != self.report.bisection.commits[-1]:
                print(f"elolab: {error}", file=sys.stderr)
            raise
        before = _games_in(folder)
        result = run(replace(spec, command=self.arguments.command_line), folder, **run_options(self.arguments))
        is_written = (folder / REPORT_NAME).exists() or (result.unavailable and not result.stored)
        if _games_in(folder) > before or not is_written:
            _, failure = write_results(folder, self.arguments.language, pgn_detail(self.arguments))
            if failure is not None:
                raise after_outcome(failure)
        return spec.players[0].name, result


def _games_in(folder: Path) -> int:
    """Number of games stored in a folder; 0 if there are none."""
    from elolab.arena.play.store import STORE_NAME, Store

    if not (folder / STORE_NAME).is_file():
        return 0
    with Store(folder, read_only=True) as store:
        return len(store)


def _at_commit(words: PlayerWords, commit: str) -> PlayerWords:
    """A copy of a player's arguments with another commit, and without a name: the commit then determines the name."""
    player, table = words.player, {key: value for key, value in words.table.items() if key != "name"}
    if SOURCE in table:
        table[SOURCE] = f"{split_source(table[SOURCE])[0]}@{commit}"
    elif player is not None:
        place = split_source(player)[0] if "@" in player else player
        player = f"{place}@{commit}"
    else:  # an engine of the file
        engine = str(table["engine"]).partition("@")[0]
        table["engine"] = f"{engine}@{commit}"
    return replace(words, player=player, table=table)
