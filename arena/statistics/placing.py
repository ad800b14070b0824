"""The ranking in a Swiss tournament or a knockout: points with tie-breaks, and the bracket.

Only complete rounds count. The ratings of ``arena.statistics.standings`` do not depend on this ranking and use all
games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from elolab.arena.formats.encounters import Encounter, seeds_of
from elolab.arena.formats.knockout import BYE, POINTS, UNKNOWN, WALKOVER, Bracket, Knockout, Tie, bracket_of
from elolab.arena.formats.swiss import TIE, WIN, Swiss, SwissTable, points_for, swiss_table
from elolab.arena.records import Outcome
from elolab.arena.schedule import FORMATS, ScheduleState, Withdrawal
from elolab.arena.statistics.standings import MESSAGES, TEXT_WIDTH, rows_frame
from elolab.arena.statistics.text_table import Column, fitting, name_column, shorten_unique, table_lines
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, columns_of, padded, with_minus, wrapped

if TYPE_CHECKING:
    from pandas import DataFrame

TIED = "tied"
"""Value of ``EncounterRow.reason`` for a Swiss encounter without a winner."""
WINNER = "winner"
"""Value of ``KnockoutRow.reached`` for the winner of a knockout."""
QUARTERS = ("", "¼", "½", "¾")


@dataclass(frozen=True)
class EncounterRow:
    """The result of an encounter: the games of two players in one round."""

    round: int
    """Index of the round, from 1."""
    player: str
    opponent: str
    """Name of the opponent; empty for a bye."""
    points: float
    """Points of ``player`` in the games of the encounter: 1 for a win, 0.5 for a draw."""
    opponent_points: float
    games: int
    """Number of games played."""
    winner: str
    """Name of the winner; empty if tied or unplayed."""
    reason: str
    """Reason for the result: ``points``, ``tied`` (only in a Swiss tournament), ``walkover`` or ``bye``.

    In a knockout, a tied encounter is decided by ``sudden_death`` (extra pairs), ``seed`` or ``coin``.
    """
    for_third_place: bool = False


@dataclass(frozen=True)
class SwissRow:
    """One player's place in a Swiss tournament."""

    place: int
    """Place, from 1, by points, then by the tie-breaks in the order of the fields below, then by seed."""
    player: str
    seed: int
    """The player's seed, from 1."""
    points: float
    """Total points: 1 for a won encounter, a bye or an absent opponent; 0.5 for a tied encounter."""
    buchholz: float
    """Tie-break: the sum of the opponents' points. For a round without games, the player's own points are added."""
    sonneborn_berger: float
    """Tie-break: the sum of the points of beaten opponents, and half the points of opponents in tied encounters.

    A round without games counts like a round against an opponent with the player's own points.
    """
    direct_encounter: float | None
    """Tie-break: points in the encounters with all players still tied after points, Buchholz and Sonneborn-Berger.

    ``None`` if there are no such players, or if some of them have not met.
    """
    game_points: float
    """Total points in all games."""
    rounds: tuple[str, ...]
    """A text for each round, such as ``3+``: the opponent's final place, then ``+`` (won), ``=`` (tied) or ``-``
    (lost).

    A ``*`` follows if a player was absent. The text is ``bye`` for a bye, and empty after the player withdrew.
    """


@dataclass(frozen=True)
class KnockoutRow:
    """One player's place in a knockout."""

    place: int
    """Place, from 1, by the round reached. Losers of a round share a place, unless they played for third place."""
    player: str
    seed: int
    """The player's seed, from 1."""
    reached: str
    """The last round that the player reached: ``final``, ``semi_finals``, ``quarter_finals``, ``round_of_16`` and so
    on.

    ``winner`` for the winner of the knockout.
    """
    encounters_won: int
    """Number of encounters won by playing, without byes and walkovers."""
    game_points: float
    """Total points in all games."""


@dataclass(frozen=True)
class Placing:
    """The ranking and the encounters of a Swiss tournament or a knockout."""

    rows: tuple[SwissRow, ...] | tuple[KnockoutRow, ...]
    """One row per player, best place first. Players who are still in a knockout have no row."""
    encounters: tuple[EncounterRow, ...]
    """The encounters in the order of the rounds."""
    rounds_played: int
    rounds: int
    """Number of planned rounds."""
    is_over: bool
    withdrawals: tuple[Withdrawal, ...]
    bracket: Bracket | None
    """The bracket of a knockout; ``None`` for a Swiss tournament."""
    names: tuple[str, ...]
    """Names of the players, in the order of their indices."""
    pairs: int
    """Number of game pairs per encounter."""

    def frame(self) -> DataFrame:
        """The rows as a pandas table. The columns are the fields of ``SwissRow`` or ``KnockoutRow``.

        In place of the field ``rounds``, there is a column for each round: ``round_1`` and so on.
        """
        if self.bracket is not None:
            return rows_frame(self.rows, KnockoutRow)
        frame = rows_frame(self.rows, SwissRow)
        for number in range(self.rounds_played):
            frame[f"round_{number + 1}"] = [row.rounds[number] for row in self.rows if isinstance(row, SwissRow)]
        return frame.drop(columns="rounds")

    def encounters_frame(self) -> DataFrame:
        """The encounters as a pandas table. The columns are the fields of ``EncounterRow``."""
        return rows_frame(self.encounters, EncounterRow)

    def data(self) -> dict[str, Any]:
        """Rows, encounters and withdrawals as plain data."""
        return {
            "placing": [asdict(row) for row in self.rows],
            "encounters": [asdict(row) for row in self.encounters],
            "withdrawals": [asdict(entry) | {"round": entry.round + 1} for entry in self.withdrawals],
        }


def placing_of(
    spec: TournamentSpec, outcomes: Iterable[Outcome], withdrawals: Iterable[Withdrawal] = ()
) -> Placing | None:
    """The ranking after the complete rounds of a tournament, given the outcomes and withdrawals so far.

    ``None`` for formats that rank players by ratings alone.
    """
    chosen = FORMATS.get(spec.format)
    if isinstance(chosen, Swiss):
        return _swiss_placing(ScheduleState.over(spec, outcomes, withdrawals))
    if isinstance(chosen, Knockout):
        return _knockout_placing(ScheduleState.over(spec, outcomes, withdrawals))
    return None


def _swiss_placing(state: ScheduleState) -> Placing:
    spec = state.spec
    names = tuple(player.name for player in spec.players)
    table = swiss_table(spec, state.results)
    encounters = []
    for round in range(table.rounds):
        played = [encounter for encounter in table.encounters if encounter.round == round]
        encounters += [_encounter_row(encounter, names) for encounter in played]
        bye = table.byes[round]
        if bye is not None:
            encounters.append(EncounterRow(round + 1, names[bye], "", 0, 0, 0, names[bye], BYE))
    return Placing(
        _swiss_rows(table, seeds_of(spec), names), tuple(encounters), table.rounds, spec.rounds, state.is_over,
        state.withdrawals, None, names, spec.pairs_of_encounter,
    )  # fmt: skip


def _encounter_row(encounter: Encounter, names: Sequence[str]) -> EncounterRow:
    one, other = encounter.players
    winner = encounter.winner
    reason = WALKOVER if encounter.absent else TIED if winner is None else POINTS
    return EncounterRow(
        encounter.round + 1, names[one], names[other], *encounter.points, encounter.played,
        "" if winner is None else names[winner], reason,
    )  # fmt: skip


def _swiss_rows(table: SwissTable, seeds: Sequence[int], names: Sequence[str]) -> tuple[SwissRow, ...]:
    """The rows of a Swiss tournament, sorted by points and tie-breaks. ``seeds`` has the players' indices, best seed
    first.

    In the tie-breaks, a round without games counts like a round against an opponent with the player's own final points
    (FIDE Handbook C.07, on unplayed rounds).
    """
    own = {player: [one for one in table.encounters if player in one.players] for player in seeds}
    buchholz, sonneborn_berger, game_points = {}, {}, {}
    for player in seeds:
        met = [(_opponent(one, player), points_for(one, player)) for one in own[player] if not one.absent]
        unplayed = [points_for(one, player) for one in own[player] if one.absent]
        unplayed += [WIN] * table.byes.count(player)
        unplayed += [0.0] * (table.rounds - len(met) - len(unplayed))
        buchholz[player] = sum(table.points[other] for other, _ in met) + len(unplayed) * table.points[player]
        sonneborn_berger[player] = sum(won * table.points[other] for other, won in met)
        sonneborn_berger[player] += sum(unplayed) * table.points[player]
        game_points[player] = sum(one.points_of(player) for one in own[player])

    def so_far(player: int) -> tuple[float, ...]:
        return table.points[player], buchholz[player], sonneborn_berger[player]

    direct = {player: _direct_encounter(player, [one for one in seeds if so_far(one) == so_far(player)], own)
              for player in seeds}  # fmt: skip
    ranking = sorted(
        seeds, key=lambda player: (*(-value for value in so_far(player)), -(direct[player] or 0), -game_points[player])
    )
    return tuple(
        SwissRow(
            ranking.index(player) + 1, names[player], seeds.index(player) + 1, table.points[player], buchholz[player],
            sonneborn_berger[player], direct[player], game_points[player],
            tuple(_round_text(table, own[player], round, player, ranking) for round in range(table.rounds)),
        )
        for player in ranking
    )  # fmt: skip


def _opponent(encounter: Encounter, player: int) -> int:
    one, other = encounter.players
    return other if player == one else one


def _direct_encounter(player: int, tied: Sequence[int], own: dict[int, list[Encounter]]) -> float | None:
    """A player's points in the encounters among tied players; ``tied`` has their indices and includes the player.

    ``own`` has the encounters of each player. Returns ``None`` if no other player is tied, or if some have not met.
    """
    if len(tied) < 2:
        return None
    for one in tied:
        met = {_opponent(encounter, one) for encounter in own[one] if not encounter.absent}
        if not met >= set(tied) - {one}:
            return None
    among = [encounter for encounter in own[player] if _opponent(encounter, player) in tied and not encounter.absent]
    return sum(points_for(encounter, player) for encounter in among)


def _round_text(table: SwissTable, own: Sequence[Encounter], round: int, player: int, ranking: Sequence[int]) -> str:
    encounter = next((one for one in own if one.round == round), None)
    if encounter is None:
        return BYE if table.byes[round] == player else ""
    points = points_for(encounter, player)
    sign = "+" if points == WIN else "=" if points == TIE else "-"
    return f"{ranking.index(_opponent(encounter, player)) + 1}{sign}{'*' if encounter.absent else ''}"


def _knockout_placing(state: ScheduleState) -> Placing:
    spec = state.spec
    names = tuple(player.name for player in spec.players)
    bracket = bracket_of(spec, state.results)
    decided = [tie for tie in bracket.ties if tie.reason is not None and set(tie.players) != {None}]
    rounds = len(bracket.rounds)
    played = sum(all(tie.reason is not None for tie in bracket.ties if tie.round == round) for round in range(rounds))
    return Placing(
        _knockout_rows(bracket, decided, names), tuple(_tie_row(tie, names) for tie in decided), played, rounds,
        state.is_over, state.withdrawals, bracket, names, spec.pairs,
    )  # fmt: skip


def _tie_row(tie: Tie, names: Sequence[str]) -> EncounterRow:
    players = [player for player in tie.players if player is not None]
    points = dict(zip(tie.players, tie.points, strict=True))
    one, *rest = players
    other = rest[0] if rest else None
    return EncounterRow(
        tie.round + 1, names[one], "" if other is None else names[other], points[one],
        0 if other is None else points[other], tie.played, "" if tie.winner is None else names[tie.winner],
        str(tie.reason), tie.for_third_place,
    )  # fmt: skip


def _knockout_rows(bracket: Bracket, decided: Sequence[Tie], names: Sequence[str]) -> tuple[KnockoutRow, ...]:
    """The rows of the winner and of all eliminated players. ``decided`` has the encounters that have a winner.

    With an encounter for third place, the losers of the semi-finals have no rows before it ends.
    """
    ends: dict[int, tuple[int, str]] = {}
    rounds = len(bracket.rounds)
    for tie in decided:
        for player in tie.players:
            if player is None or tie.for_third_place:
                continue
            if player != tie.winner:
                ends[player] = (2 ** (rounds - 1 - tie.round) + 1, round_name(tie.round, rounds))
            elif tie is bracket.final:
                ends[player] = (1, WINNER)
    third = bracket.third_place
    if third is not None and third.reason is None:
        ends = {player: end for player, end in ends.items() if end[0] != 3}
    elif third is not None and third.winner is not None:  # also players who could not play for third place get place 4
        for player, (place, reached) in ends.items():
            ends[player] = (4 if place == 3 and player != third.winner else place, reached)
    rows = []
    for player, (place, reached) in ends.items():
        won = sum(tie.winner == player and tie.played > 0 for tie in decided)
        points = sum(tie.points[tie.players.index(player)] for tie in decided if player in tie.players)
        rows.append(KnockoutRow(place, names[player], bracket.seeds.index(player) + 1, reached, won, points))
    return tuple(sorted(rows, key=lambda row: (row.place, row.seed)))


def round_name(round: int, rounds: int) -> str:
    """Name of the round with index ``round``, from 0, of ``rounds`` rounds; see ``KnockoutRow.reached``."""
    left = 2 ** (rounds - round)
    return {2: "final", 4: "semi_finals", 8: "quarter_finals"}.get(left, f"round_of_{left}")


def round_title(name: str, say: Callable[..., str]) -> str:
    """The title of a round in a report, from its name. ``say`` is the message catalogue of ``arena``."""
    if name.startswith("round_of_"):
        return say("knockout.round_of", players=name.removeprefix("round_of_"))
    return say(f"knockout.{name}")


# Text


def points_text(points: float) -> str:
    """Points or a tie-break as text. Quarters are written as fractions such as ``½``."""
    whole, quarters = divmod(round(4 * points), 4)
    return f"{whole or ''}{QUARTERS[quarters]}" if quarters else str(whole)


def round_text(cell: str, say: Callable[..., str]) -> str:
    """A text of ``SwissRow.rounds`` as reports show it: ``bye`` translated, and with a typographic minus sign."""
    return say("encounter.bye_short") if cell == BYE else with_minus(cell)


def reached_text(reached: str, say: Callable[..., str]) -> str:
    """A value of ``KnockoutRow.reached`` as text in a report. ``say`` is the message catalogue of ``arena``."""
    return say("knockout.winner") if reached == WINNER else round_title(reached, say)


def rounds_text(placing: Placing, say: Callable[..., str]) -> str:
    """A text on the rounds played and planned, and on a Swiss tournament's early end for lack of opponents."""
    key = "placing.rounds"
    if placing.is_over and placing.bracket is None and placing.rounds_played < placing.rounds:
        key = "placing.ended_early"
    return say(key, played=placing.rounds_played, rounds=placing.rounds)


def result_sentence(placing: Placing, say: Catalogue) -> str:
    """A sentence on the winner or, while the tournament goes on, on the number of rounds played."""
    if not placing.is_over or not placing.rows:
        return rounds_text(placing, say)
    first = placing.rows[0]
    if isinstance(first, SwissRow):
        return say(
            "placing.won_swiss", winner=first.player, points=points_text(first.points),
            rounds=placing.rounds_played,
        )  # fmt: skip
    final = placing.encounters[-1]
    if first.reached != WINNER or not final.games:
        return say("placing.won_by_walkover", winner=first.player) if first.reached == WINNER else ""
    loser = final.opponent if final.winner == final.player else final.player
    points = (final.points, final.opponent_points)
    return say(
        "placing.won_final", winner=final.winner, loser=loser,
        points=score_text(*(points if final.winner == final.player else points[::-1])),
        reason=_in_brackets(final.reason, say),
    )  # fmt: skip


def score_text(one: float, other: float) -> str:
    """The score of an encounter as text, such as ``1½–½``; ``one`` and ``other`` are the players' points."""
    return f"{points_text(one)}\N{EN DASH}{points_text(other)}"


def reason_text(reason: str, say: Callable[..., str]) -> str:
    """A text on how an encounter was decided (``EncounterRow.reason``); empty if points decided it."""
    return "" if reason in (POINTS, TIED) else say(f"encounter.{reason}")


def _in_brackets(reason: str, say: Callable[..., str]) -> str:
    text = reason_text(reason, say)
    return say("placing.reason", reason=text) if text else ""


def withdrawal_text(withdrawal: Withdrawal, say: Callable[..., str]) -> str:
    """A sentence on a player who withdrew: its name, the round and the reason."""
    return say("placing.withdrawal", name=withdrawal.player, round=withdrawal.round + 1, reason=withdrawal.reason)


def placing_lines(placing: Placing, language: str = DEFAULT_LANGUAGE, columns: int = TEXT_WIDTH) -> list[str]:
    """The ranking as lines of text: the table of a Swiss tournament, or the encounters and places of a knockout.

    Lines have at most ``columns`` columns. In narrow tables, a Swiss tournament has fewer rounds, a knockout shorter
    names.
    """
    say = Catalogue(MESSAGES, language)
    lines = (
        _bracket_lines(placing, say, columns) if placing.bracket is not None else _swiss_lines(placing, say, columns)
    )
    return lines + [line for entry in placing.withdrawals for line in wrapped(withdrawal_text(entry, say), columns - 1)]


def _swiss_lines(placing: Placing, say: Catalogue, columns: int) -> list[str]:
    rows = [row for row in placing.rows if isinstance(row, SwissRow)]
    directs = ["" if row.direct_encounter is None else points_text(row.direct_encounter) for row in rows]
    table = [
        Column("#", [str(row.place) for row in rows]),
        name_column(say("standings.player"), [row.player for row in rows]),
        Column(say("placing.points"), [points_text(row.points) for row in rows]),
        Column(say("placing.buchholz"), [points_text(row.buchholz) for row in rows]),
        Column(say("placing.sonneborn_berger"), [points_text(row.sonneborn_berger) for row in rows]),
        Column(say("placing.direct"), directs),
        Column(say("placing.game_points"), [points_text(row.game_points) for row in rows]),
        *(
            Column(str(number + 1), [round_text(row.rounds[number], say) for row in rows], rank=number + 1)
            for number in range(placing.rounds_played)
        ),
    ]
    lines = [
        say("placing.swiss", rounds=rounds_text(placing, say)), *wrapped(say("placing.swiss_note"), columns - 1), "",
        *table_lines(table, columns),
    ]  # fmt: skip
    if len(fitting(table, columns)) < len(table):
        lines.append(say("placing.more_rounds"))
    return lines


def _bracket_lines(placing: Placing, say: Catalogue, columns: int) -> list[str]:
    bracket = placing.bracket
    assert bracket is not None
    width = min(20, (columns - 40) // 2, max(map(columns_of, placing.names)))
    short = shorten_unique(placing.names, width)
    lines = [
        say("placing.knockout", rounds=rounds_text(placing, say)),
        *wrapped(say("placing.knockout_note"), columns - 1),
    ]
    for round, ties in enumerate(bracket.rounds):
        last = [bracket.third_place] if bracket.third_place is not None and round + 1 == len(bracket.rounds) else []
        for title, group in (("third_place", last), (round_name(round, len(bracket.rounds)), ties)):
            known = [tie for tie in group if any(player not in (None, UNKNOWN) for player in tie.players)]
            if known:
                lines += ["", round_title(title, say), *(_tie_line(tie, placing, short, say) for tie in known)]
    if placing.rows:
        lines += ["", say("placing.places")]
        for row in placing.rows:
            assert isinstance(row, KnockoutRow)
            name = padded(short[placing.names.index(row.player)], width)
            lines.append(f"{row.place:>3} {name} {reached_text(row.reached, say)}")
    return lines


def _tie_line(tie: Tie, placing: Placing, short: Sequence[str], say: Catalogue) -> str:
    width = max(map(columns_of, short))
    sides = []
    for player in tie.players:
        mark = ">" if tie.reason is not None and player == tie.winner and player is not None else " "
        if player is None or player == UNKNOWN:
            sides.append(padded(f"{mark}    {'' if player is None else '?'}", width + 5))
            continue
        assert placing.bracket is not None
        seed = placing.bracket.seeds.index(player) + 1
        sides.append(f"{mark}{seed:>3} {padded(short[player], width)}")
    points = score_text(*tie.points) if tie.played else ""
    return f" {sides[0]} {points:^9} {sides[1]} {_in_brackets(tie.reason or POINTS, say)}".rstrip()
