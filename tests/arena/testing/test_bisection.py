"""The schedule of a bisection: it finds every place of a fault within its bound, whatever is skipped."""

from __future__ import annotations

import itertools
import math

import pytest

from elolab.arena.builds.repository import Commit
from elolab.arena.testing.bisection import BAD, GOOD, SKIPPED, Bisection


def line(length: int) -> list[Commit]:
    return [Commit(f"{number:040x}", f"commit {number}", "2024-01-01") for number in range(length)]


def bisected(length: int, first_bad: int, broken: tuple[int, ...] = ()) -> tuple[Bisection, int]:
    """The finished bisection and its number of tests, if commits from ``first_bad`` on are bad."""
    commits, verdicts, tests = line(length), {}, 0
    while (commit := Bisection(commits, verdicts).next_commit()) is not None:
        assert commit.name not in verdicts
        place = commits.index(commit)
        verdicts[commit.name] = SKIPPED if place in broken else BAD if place >= first_bad else GOOD
        tests += place not in broken
    return Bisection(commits, verdicts), tests


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 9, 31, 100])
def test_every_fault_is_found_within_the_bound(length: int) -> None:
    for first_bad in range(length):
        found, tests = bisected(length, first_bad)
        assert [commit.subject for commit in found.suspects] == [f"commit {first_bad}"]
        assert tests <= found.most_steps == 1 + math.ceil(math.log2(length))


def test_a_good_last_commit_ends_it_at_once() -> None:
    found, tests = bisected(9, 9)
    assert tests == 1
    assert found.is_without_fault
    assert found.suspects == []


def test_skipped_commits_remain_suspects_only_next_to_the_fault() -> None:
    for broken in itertools.chain.from_iterable(itertools.combinations(range(6), count) for count in range(4)):
        for first_bad in set(range(7)) - set(broken):
            found, _ = bisected(7, first_bad, broken)
            suspects = [found.commits.index(commit) for commit in found.suspects]
            before = first_bad
            while before - 1 in broken:
                before -= 1
            assert suspects == list(range(before, first_bad + 1))
