"""Table of all commands of ``elolab``. The module of each command is named after it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One row of the table of commands; its code is the module of the same name in ``elolab.cli``.

    A hyphen in the name is an underscore in the module's name. The module has ``configure(parser)``, which adds the
    command's arguments to its parser. Its ``run(arguments) -> int`` runs the command and returns the exit code.
    """

    name: str
    group: str
    summary: str
    """One line of at most 60 characters for ``elolab --help``."""

    @property
    def module(self) -> str:
        """The module's dotted name."""
        return f"elolab.cli.{self.name.replace('-', '_')}"


COMMANDS = (
    Command("tournament", "Playing", "play or resume a tournament and rate its players"),
    Command("match", "Playing", "play two settings or engines against each other"),
    Command("sprt", "Playing", "play a match that ends as soon as the result is clear"),
    Command("bisect", "Playing", "find the commit that lost strength, by a test at each step"),
    Command("engines", "Playing", "list your engines, and check that they work"),
    Command("report", "Playing", "write a run's tables, plots and report again"),
    Command("stats", "Playing", "compute Elo, LOS and a sequential test from counts or PGN"),
    Command("watch", "Playing", "follow a run in the browser, game by game"),
    Command("runs", "Playing", "list, compare and remove runs"),
    Command("replay", "Playing", "play one stored game again and compare"),
    Command("check", "Playing", "check whether an engine keeps to its protocol"),
    Command("openings", "Playing", "generate and check suites of balanced openings"),
    Command("convert", "Playing", "convert games between notations, formats and encodings"),
    Command("keys", "Playing", "explain the keys of every kind of TOML file"),
    Command("tune", "Improving", "search for better settings, then confirm them"),
    Command("validate", "Improving", "let a study's recommendation play its base again"),
    Command("ablate", "Improving", "measure the effect of each technique of the search"),
    Command("claims", "Improving", "put the literature's claims about the search to the test"),
    Command("fit-evaluation", "Improving", "fit an evaluation's weights to games of self-play"),
    Command("engine", "Engine", "run the engine as a program: UCCI, UCI, xboard, GTP, others"),
    Command("adapt", "Engine", "put a UCCI engine behind the protocol of Qianhong"),
    Command("analyse", "Engine", "search a position"),
    Command("suite", "Engine", "solve positions with known best moves"),
    Command("judge", "Engine", "print whether a game is over, and why"),
    Command("solve", "Engine", "solve a position exactly: Othello by search, chess in tables"),
    Command("perft", "Engine", "count the legal move sequences of a position"),
    Command("bench", "Engine", "measure the speed and print the benchmark's node count"),
    Command("compile", "Engine", "compile the engine now, not at its first use"),
    Command("parameters", "Engine", "list every setting of the engine with its range"),
    Command("completion", "Shell", "print a script that completes commands in your shell"),
)
