"""The report of a tuning: the table of rounds, sentences for the terminal, and the HTML and Markdown document."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.colours import text_columns
from elolab.arena.files import replace_file
from elolab.arena.notation.csv_tables import csv_text, frame_csv
from elolab.arena.reports.document import (
    Block,
    Commands,
    Document,
    Facts,
    Note,
    Section,
    TextTable,
    table_of,
    write_document,
)
from elolab.arena.reports.plots import Plot
from elolab.arena.sequential import expected_pairs
from elolab.arena.statistics.elo import elo_of_score
from elolab.arena.statistics.numbers import given_text, percent_text, signed
from elolab.arena.statistics.standings import PENTANOMIAL_COLUMNS
from elolab.arena.statistics.text_table import LEAST_NAME, Column, name_column, table_lines
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, with_minus, wrapped
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME
from elolab.engine.settings.reference import meaning, unit_in
from elolab.tuning.conditions import value_text
from elolab.tuning.reports import tuning_charts as charts
from elolab.tuning.reports.passages import (
    condition_facts,
    engine_text,
    games_of_run,
    repeat_command,
    speeds_table,
)
from elolab.tuning.reports.tuning_charts import chart_words, unit_text
from elolab.tuning.reports.wording import MESSAGES, in_one, interval_text
from elolab.tuning.study.model.importance import ParameterKnowledge, importances, knowledge
from elolab.tuning.study.plan import length_of
from elolab.tuning.study.playoff import INTERVAL_90
from elolab.tuning.study.study_spec import GAIN, NON_REGRESSION
from elolab.tuning.study.tuning_run import RECOMMENDED_NAME
from elolab.tuning.study.validation.gain_test import GainState

if TYPE_CHECKING:
    from pandas import DataFrame

    from elolab.tuning.study.playoff import Decision
    from elolab.tuning.study.result import RoundEnd, StudyResult
    from elolab.tuning.study.space import Dimension, Space
    from elolab.tuning.study.study_spec import TuningSpec
    from elolab.tuning.study.validation.validation_games import Verdict

MOST_GAMES = 1e7
"""A table shows needed games above this number as infinite."""
MIN_OPTIMISM = 0.05
"""The report mentions optimism (winner's curse) only from this size on, in Elo."""


def rounds_frame(result: StudyResult) -> DataFrame:
    """A pandas table with a row for each round.

    - ``round``: from 1
    - a column for each dimension: the value at the centre when the round began, or the trial's value
    - ``elo``: Elo over the base; for a centre by the model at that time, for a trial as observed
    - ``deviation``: standard deviation of the Elo by the model at that time
    - ``pairs``: game pairs of the round
    - ``LL``, ``LD``, ``even``, ``WD``, ``WW``: number of these pairs by outcome, from the first set's point of view
    - ``total_pairs``: game pairs of the study up to this round
    - ``final_elo``, ``final_deviation``: ``elo`` and ``deviation`` by the model of all games
    """
    import pandas

    names, ends = result.spec.space.names, result.rounds
    mean = deviation = np.full(len(ends), math.nan)
    if result.model is not None and ends:
        mean, deviation = result.model.gain([end.values for end in ends])
    rows = [
        (end.number + 1, *end.values, end.elo, end.deviation, end.counts.pairs, *end.counts.counts, end.total_pairs)
        for end in ends
    ]
    columns = ["round", *names, "elo", "deviation", "pairs", *PENTANOMIAL_COLUMNS, "total_pairs"]
    table = pandas.DataFrame(rows, columns=columns)
    return table.assign(final_elo=mean, final_deviation=deviation)


def write_tuning_report(result: StudyResult, language: str = DEFAULT_LANGUAGE, folder: Path | None = None) -> Path:
    """Write the report, its plots, parameters.csv, rounds.csv and games.pgn; return the path of report.html.

    The files go to ``folder``, by default the run's folder.
    """
    folder = folder or result.directory
    replace_file(folder / "parameters.csv", _parameters_csv(result))
    if result.model is not None and result.rounds:
        replace_file(folder / "rounds.csv", frame_csv(rounds_frame(result)))
    document = tuning_document(result, language)
    if not result.spec.is_by_matches:
        games = games_of_run(result.directory, folder, result.spec.conditions.game, result.spec.name, language)
        document = replace(document, games=games)
    return write_document(folder, document, result.faults, result.caveats)


def tuning_document(result: StudyResult, language: str) -> Document:
    """The report as a document; ``write_tuning_report`` adds the games for replay on the page."""
    spec, message = result.spec, Catalogue(MESSAGES, language)
    command = repeat_command("tune", spec.conditions, result.directory, language)
    preset = message("study.no_preset")
    if result.preset is not None:
        preset = message("study.preset_written", preset=result.preset)
    elif spec.is_by_matches:
        preset = message("study.recommended_written", file=RECOMMENDED_NAME)
    parameters = (parameters_table(result, message), Note(preset))
    sections = [
        Section(
            "outcome", message("study.outcome" if _has_parameters(spec) else "study.outcome_of_options"), parameters
        ),
        Section("validation", message("study.validation"), _validation_blocks(result, message)),
    ]
    caption_of = functools.partial(_with_provenance, result=result, message=message)
    sections += model_sections(result, spec.base_name, caption_of, message)
    sections.append(Section("conditions", message("section.conditions"), (Facts(_tuning_facts(result, message)),)))
    if spec.command != "":  # elolab knows no command for a function
        sections.append(Section("repeat", message("section.repeat"), (Commands((command,)),)))
    return Document(
        title=spec.name,
        kicker=message("study.kicker"),
        summary=tuning_sentence(result, language),
        sections=tuple(sections),
        language=language,
    )


def _has_parameters(spec: TuningSpec) -> bool:
    """Whether the study varies parameters of the built-in engine, which have units and meanings."""
    return spec.engine is None and not spec.is_by_matches


def _with_provenance(caption: str, games: int, result: StudyResult, message: Catalogue) -> str:
    """The caption, followed by the number of games that the figure shows, search limit, engine and command."""
    if result.spec.is_by_matches:
        return message("caption.of_matches", caption=caption, games=games)
    return message(
        "caption.of_study",
        caption=caption,
        games=games,
        limit=result.spec.conditions.limits,
        engine=engine_text(result.spec.conditions, result.engine),
        command=repeat_command("tune", result.spec.conditions, result.directory, message.language),
    )


def model_sections(
    result: StudyResult, base: str, caption_of: Callable[[str, int], str], message: Catalogue
) -> list[Section]:
    """The report's sections with figures of the model; empty if the study has no model, decision or rounds.

    ``base`` is the base's name. ``caption_of`` takes a figure's caption and its number of games, and adds the
    conditions of the games.
    """
    if result.model is None or result.decision is None or result.observations is None or not result.rounds:
        return []
    words = chart_words(message)
    shares = importances(result.model, result.observations.trust_region())
    space = result.spec.space
    beside = dict(space.base) | result.recommended
    flat = [name for name in space.names if not space.has_effect(name, beside)]
    ordered = {one.name for one in space.dimensions if not one.choices}.difference(flat)
    leading = [name for name in shares if name in ordered][:3]
    pairs = [(leading[0], other) for other in leading[1:]]
    figures = {"slices": charts.slices_chart(result, words)}
    if pairs:
        figures["contours"] = charts.contour_chart(result, pairs, words)
    figures["importance"] = charts.importance_chart(shares, words)
    captions = {name: message(f"model.{name}_caption") for name in figures}
    if flat:
        why = message("model.flat", names=message("list.comma").join(flat))
        captions["slices"] = in_one((captions["slices"], why), message)
    games = 2 * result.observations.pairs
    blocks = tuple(
        Plot(name, message(f"model.{name}"), caption_of(captions[name], games), figure)
        for name, figure in figures.items()
    )
    caption = message(f"convergence.of_{'centres' if result.spec.is_paired else 'trials'}", base=base)
    figure = charts.convergence_chart(result, words)
    convergence = Plot("convergence", message("convergence.title"), caption_of(caption, result.games), figure)
    note = optimism_sentence(result, message.language)
    known = (_known_table(result, message), Note(message("known.rule", games=games)))
    return [
        Section("convergence", message("study.convergence"), (convergence, *([Note(note)] if note else []))),
        Section("model", message("study.model"), (*blocks, *known)),
    ]


def _known_table(result: StudyResult, message: Catalogue) -> TextTable:
    """A table of what the model knows about each parameter.

    One column has the number of games after which the loss at the parameter's worst value would be known.
    """
    assert result.observations is not None
    rows, played = [], 2 * result.observations.pairs
    for one, dimension in zip(_knowledge(result), result.spec.space.dimensions, strict=True):
        if dimension.choices or not one.possible:
            possible = message("list.comma").join(map(value_text, one.possible))
        else:
            possible = message("parameters.range", low=min(one.possible), high=max(one.possible))
        loss = f"{with_minus(f'{one.loss:z.1f}')} ± {INTERVAL_90 * one.deviation:.1f}"
        games = message("known.yes") if one.games <= played else "∞" if one.games > MOST_GAMES else f"{one.games:.0f}"
        rows.append((one.name, possible, value_text(one.worst), loss, games))
    names = ("parameter", "possible", "worst", "loss", "games")
    return table_of(tuple(message(f"known.{name}") for name in names), tuple(rows), (2, 3, 4))


def _knowledge(result: StudyResult) -> list[ParameterKnowledge]:
    if result.model is None or result.decision is None or result.observations is None:
        return []
    return knowledge(result.model, result.decision.values, 2 * result.observations.pairs)


def space_facts(space: Space, message: Catalogue) -> tuple[tuple[str, str], ...]:
    """Constraints between dimensions, and conditions for a dimension to have an effect, as pairs of label and text."""
    comma, needs = message("list.comma"), []
    for dimension in space.dimensions:
        for parent, values in dimension.needs or ():
            shown = {"name": dimension.name, "parent": parent, "values": comma.join(map(value_text, values))}
            needs.append(message("study_fact.need", **shown))
    facts = {"constraints": comma.join(space.constraints), "needs": message("list.semicolon").join(needs)}
    return tuple((message(f"study_fact.{name}"), text) for name, text in facts.items() if text)


def tuning_sentence(result: StudyResult, language: str = DEFAULT_LANGUAGE) -> str:
    """The study's outcome in one or two sentences."""
    spec, message = result.spec, Catalogue(MESSAGES, language)
    if result.decision is None:
        return message("study.unfinished")
    if result.interrupted and not result.verdicts:
        return _sentence_so_far(result, result.decision, message)
    if not result.verdicts:
        kept = message("study.nothing_better", base=spec.base_name, games=result.games_before_validation)
        left = _left_sentence(result.decision, message)
        return in_one(filter(None, (kept, left, message("study.larger_budget"))), message)
    found = message("list.semicolon").join(verdict_sentence(verdict, language) for verdict in result.verdicts)
    outcome = "stopped_in_validation" if result.interrupted else "confirmed" if result.confirmed else "not_confirmed"
    if spec.is_by_matches and not result.interrupted:
        outcome += "_by_matches"
    sentences = [message(f"study.{outcome}", found=found)]
    for number, verdict in enumerate(result.verdicts):
        length = length_of(verdict.kind, number)
        if verdict.kind == GAIN:
            length = f"elolab validate {shlex.quote(str(result.directory))} --maximum-pairs {{pairs}}"
        sentences.append(needed_sentence(verdict, message, length, PurePath(spec.conditions.source).name))
    return in_one(filter(None, sentences), message)


def needed_sentence(verdict: Verdict, message: Catalogue, length: str, where: str = "") -> str:
    """A sentence with the number of game pairs that an undecided test probably needs, and how to set this number.

    The sentence is empty for other verdicts. ``length`` is the key or option that sets the maximum, with ``{pairs}`` in
    place of the number. ``where`` is the file with the key, or empty for an option.
    """
    if verdict.test is None or verdict.unfinished_of is not None or verdict.passed:
        return ""
    needed = pairs_needed(verdict)
    if isinstance(verdict.test, GainState):
        if needed is None:
            return in_one((message("study.no_gain_seen"), message("study.larger_budget")), message)
        more, shown = 2 * (needed - verdict.counts.pairs), length.format(pairs=needed)
        return message("study.needed_to_confirm", more=more, remedy=shown)
    if needed is None:
        return ""
    key = "needed_to_accept" if verdict.test.log_likelihood_ratio > 0 else "needed_to_reject"
    given = length.format(pairs=needed)
    remedy = message("study.length_in_file", length=given, file=where) if where else given
    return message(f"study.{key}", needed=needed, remedy=remedy)


def pairs_needed(verdict: Verdict) -> int | None:
    """Total number of game pairs that an undecided test probably needs.

    ``None`` if the number is unknown or the test is decided.
    """
    if isinstance(verdict.test, GainState):
        return verdict.test.pairs_needed
    return None if verdict.test is None else expected_pairs(verdict.test, verdict.counts.pairs)


def _left_sentence(found: Decision, message: Catalogue) -> str:
    """A sentence on the gain that other settings may still offer if the base is recommended; empty if the gain is
    unknown.
    """
    if found.left is None:
        return ""
    gain, low, high = found.left
    key = "left_to_gain" if found.other is None else "left_in_other"
    return message(f"study.{key}", gain=signed(gain), interval=interval_text(low, high))


def _sentence_so_far(result: StudyResult, found: Decision, message: Catalogue) -> str:
    """A sentence on the best setting so far, for a study that stopped before its validation."""
    if found.is_base:
        best = message("study.base_so_far", base=result.spec.base_name)
    else:
        gain, interval = signed(found.gain), interval_text(*found.interval())
        best = message("study.best_so_far", gain=gain, interval=interval)
    stopped = message("study.stopped", games=result.study_games, planned=result.planned, best=best)
    return in_one(filter(None, (stopped, _left_sentence(found, message))), message)


def verdict_sentence(verdict: Verdict, language: str = DEFAULT_LANGUAGE) -> str:
    """The result of one validation as text, without a full stop."""
    message = Catalogue(MESSAGES, language)
    shown = {
        "elo": signed(verdict.elo),
        "interval": interval_text(*verdict.interval),
        "pairs": verdict.counts.pairs,
        "where": message("study.at_limit", limit=verdict.limits) if verdict.limits != Limits() else "",
    }
    if verdict.test is None and verdict.unfinished_of is None:
        return message("study.validated", **shown)
    return message("study.validated_by_test", **shown, outcome=_test_words(verdict, message))


def _test_words(verdict: Verdict, message: Catalogue) -> str:
    """How a validation ended, as text: with the verdict of its test, at its fixed length, or by an interruption."""
    if verdict.unfinished_of is not None:
        return message("study.match_stopped", most=verdict.unfinished_of)
    if verdict.test is None:
        return message("study.fixed_length")
    question = {NON_REGRESSION: "no_regression", GAIN: "confirmation"}.get(verdict.kind, "gain")
    return message(f"study.{question}_{verdict.test.verdict.split()[0]}")


def best_round(result: StudyResult) -> RoundEnd | None:
    """The trial with the best observed result, the earliest among equals; ``None`` without trials."""
    if result.spec.is_paired:
        return None
    played = [end for end in result.rounds if end.counts.pairs]
    return max(played, key=lambda end: (end.elo, -end.number), default=None)


def optimism(result: StudyResult) -> dict[str, float] | None:
    """The winner's curse: Elo of the best round as observed then, and as expected from all games.

    The keys are ``round`` (from 1), ``observed``, ``expected`` and ``optimism``, which is observed minus expected.
    ``observed`` is the best trial's result, infinite if it won every pair. The sampler ``duel`` has no trials: its
    ``observed`` is the highest estimate of a round's centre by the model at that time.

    Returns ``None`` without a model.
    """
    if result.model is None or not result.rounds:
        return None
    best = best_round(result) or max(result.rounds, key=lambda end: (end.elo, -end.number))
    expected = float(result.model.gain([best.values])[0][0])
    return {"round": best.number + 1, "observed": best.elo, "expected": expected, "optimism": best.elo - expected}


def optimism_sentence(result: StudyResult, language: str = DEFAULT_LANGUAGE) -> str:
    """Sentences on the recommendation, the playoff, and the winner's curse of the best trial or round.

    The result is empty if no round preferred other settings to the base.
    """
    message = Catalogue(MESSAGES, language)
    found, best = result.decision, optimism(result)
    assert found is not None
    if best is not None:
        values = next(end.values for end in result.rounds if end.number + 1 == best["round"])
        best = None if values == result.spec.space.default_values else best
    candidate = message(f"recommendation.candidate_{'iterate' if result.spec.sampler == 'spsa' else 'maximum'}")
    sentences = []
    if not found.is_base:
        shown = {"candidate": candidate, "gain": signed(found.gain), "interval": interval_text(*found.interval())}
        sentences.append(message("recommendation.candidate", **shown))
    if found.pairs and found.believed:
        result_of_playoff = "won" if found.score > 0.5 else "lost" if found.score < 0.5 else "drawn"
        score, elo = f"{100 * found.score:.1f}", signed(elo_of_score(found.score))
        shown = {"candidate": candidate, "pairs": str(found.pairs), "score": score, "elo": elo}
        shown["gain"] = signed(found.believed)
        sentences.append(message(f"recommendation.playoff_{result_of_playoff}", **shown))
    if best is not None:
        key = "recommendation.best_centre" if result.spec.is_paired else "recommendation.best_trial"
        shown = {"observed": signed(best["observed"]), "expected": signed(best["expected"])}
        sentence = message(key, round=f"{best['round']:.0f}", **shown)
        if MIN_OPTIMISM <= best["optimism"] < math.inf:  # infinite if the trial won every pair
            sentence = message("recommendation.optimistic", finding=sentence, optimism=best["optimism"])
        sentences.append(message("list.sentence", text=sentence))
    return in_one(sentences, message)


def _parameters_csv(result: StudyResult) -> str:
    """CSV text with one line per parameter: its name, the base's value and the recommended value.

    The heading of the base's column is the base's name.
    """
    base = result.spec.space.default
    recommended = base if result.decision is None else result.recommended
    rows = [(name, base[name], recommended[name]) for name in result.spec.space.names]
    return csv_text(["parameter", result.spec.base_name, "recommended"], rows)


def parameters_table(result: StudyResult, message: Catalogue) -> TextTable:
    """A table of the dimensions: base, recommended value, range; for the built-in engine also unit and meaning."""
    game = result.spec.conditions.game if _has_parameters(result.spec) else None
    rows: list[tuple[str, ...]] = []
    for dimension in result.spec.space.dimensions:
        base = result.spec.space.default[dimension.name]
        recommended = base if result.decision is None else result.recommended[dimension.name]
        changed = "" if base == recommended else message("parameters.changed")
        searched = _searched_text(dimension, message)
        row: tuple[str, ...] = (dimension.name, value_text(base), value_text(recommended), changed, searched)
        if game is not None:
            parameter = BY_NAME[dimension.name]
            row += (unit_text(unit_in(game, parameter), message), meaning(parameter, message.language))
        rows.append(row)
    heads: tuple[str, ...] = (
        message("parameters.option" if game is None else "parameters.parameter"), message("parameters.base"),
        message("parameters.recommended"), "", message("parameters.searched"),
    )  # fmt: skip
    if game is not None:
        heads += (message("parameters.unit"), message("parameters.meaning"))
    return table_of(heads, tuple(rows), (1, 2), sentence=(6,))


def _searched_text(dimension: Dimension, message: Catalogue) -> str:
    if dimension.choices:
        return message("list.comma").join(value_text(value) for value in dimension.choices)
    key = "parameters.logarithmic_range" if dimension.scale == "log" else "parameters.range"
    return message(key, low=dimension.low, high=dimension.high)


def _validation_blocks(result: StudyResult, message: Catalogue) -> tuple[Block, ...]:
    if not result.verdicts + result.further:
        return (Note(message("validation.none")),)
    rows = []
    outcomes = [_test_words(verdict, message) for verdict in result.verdicts]
    outcomes += [message("validation.further", outcome=_test_words(verdict, message)) for verdict in result.further]
    for verdict, outcome in zip(result.verdicts + result.further, outcomes, strict=True):
        test = verdict.test
        ratio = bounds = ""
        if isinstance(test, GainState):
            ratio = message("validation.deviations", deviations=signed(test.deviations, 2))
            bounds = message("validation.from_bound", bound=f"{test.bound:.2f}")
        elif test is not None:
            ratio, lower, upper = (
                signed(value, 2) for value in (test.log_likelihood_ratio, test.lower_bound, test.upper_bound)
            )
            ratio = message("validation.ratio", ratio=ratio)
            bounds = message("validation.between_bounds", lower=lower, upper=upper)
        rows.append(
            (
                str(verdict.limits), signed(verdict.elo), interval_text(*verdict.interval),
                percent_text(verdict.los), str(verdict.counts.pairs),
                " / ".join(map(str, verdict.counts.counts)), ratio, bounds, outcome,
            )
        )  # fmt: skip
    names = ("limit", "elo", "interval", "los", "pairs", "pentanomial", "statistic", "bounds", "outcome")
    heads = tuple(message(f"validation.{name}") for name in names)
    first = int(result.spec.is_by_matches)  # matches have no limit
    validation = result.spec.validation
    if validation.is_in_budget:
        games = message(f"validation.of_{'matches' if result.spec.is_by_matches else 'games'}")
        rule = message("validation.rule_of_gain", games=games, percent=f"{100 * validation.alpha:g}")
    else:
        rule = message(
            "validation.rule",
            lower=given_text(validation.elo_lower),
            upper=given_text(validation.elo_upper),
            model=message(f"elo_model.{validation.model}"),
            alpha=validation.alpha,
            beta=validation.beta,
        )
    notes: list[Block] = [Note(rule)]
    if validation.slow == NON_REGRESSION:
        lower, upper = map(given_text, validation.hypotheses(NON_REGRESSION))
        rule = message("validation.rule_of_slow_test", limit=validation.slow_limits, lower=lower, upper=upper)
        notes.append(Note(rule))
    outlook = _outlook_table(result, message)
    if outlook is not None:
        notes += [outlook, Note(_outlook_rule(result, message))]
    speeds = _speeds_of_validations(result.verdicts + result.further, message)
    table = table_of(heads[first:], tuple(row[first:] for row in rows), tuple(range(1 - first, 8 - first)))
    return (table, *notes, *speeds)


def _outlook_of(result: StudyResult) -> Verdict | None:
    """The last validation if its verdict has prospects of a longer test, otherwise ``None``."""
    last = [*result.verdicts, *result.further][-1:]
    return next((verdict for verdict in last if verdict.outlook), None)


def _outlook_columns(result: StudyResult, message: Catalogue) -> list[Column]:
    """Columns of a table with the prospects of a longer validation; empty if the prospects are unknown."""
    verdict = _outlook_of(result)
    if verdict is None:
        return []
    cells = {
        "more": [str(2 * (one.pairs - verdict.counts.pairs)) for one in verdict.outlook],
        "pairs": [str(one.pairs) for one in verdict.outlook],
        "half_width": [f"± {one.half_width:.1f}" for one in verdict.outlook],
        "probability": [f"{100 * one.probability:.0f}" for one in verdict.outlook],
    }
    return [Column(message(f"outlook.{name}"), texts) for name, texts in cells.items()]


def _outlook_table(result: StudyResult, message: Catalogue) -> TextTable | None:
    columns = _outlook_columns(result, message)
    if not columns:
        return None
    rows = tuple(zip(*(column.cells for column in columns), strict=True))
    return table_of(tuple(column.head for column in columns), rows, range(len(columns)))


def _outlook_rule(result: StudyResult, message: Catalogue) -> str:
    verdict = _outlook_of(result)
    assert verdict is not None
    return message("outlook.rule", elo=signed(verdict.estimate.elo), folder=shlex.quote(str(result.directory)))


def _speeds_of_validations(verdicts: Sequence[Verdict], message: Catalogue) -> tuple[Block, ...]:
    """A table of time and nodes that both sides spent in each validation; empty if no game reports them."""
    speeds = [
        replace(verdict.speed, label=str(verdict.limits))
        for verdict in verdicts
        if verdict.speed is not None and verdict.speed.nodes_per_second is not None
    ]
    if not speeds:
        return ()
    return speeds_table(message("validation.limit"), speeds, message), Note(message("validation.speeds"))


def limit_words(spec: TuningSpec, message: Catalogue) -> str:
    """The target search limit as text, followed by other limits of rounds with their shares of the games."""
    shares = spec.limit_shares
    if not shares.content():
        return str(shares.target)
    games = message("list.comma").join(
        message("study_fact.limit_share", limit=limits, share=f"{100 * share:.1f}")
        for limits, share in zip(shares.limits, shares.shares, strict=True)
    )
    return message("study_fact.limits", target=shares.target, games=games)


def _tuning_facts(result: StudyResult, message: Catalogue) -> tuple[tuple[str, str], ...]:
    spec = result.spec
    budget = (
        message("study_fact.budget_seconds", seconds=spec.budget.seconds)
        if spec.budget.games is None
        else message("study_fact.budget_games", games=spec.budget.games)
    )
    method = (
        message("study_fact.settings_pairs")
        if spec.sampler == "duel"
        else message("study_fact.sampler", sampler=spec.sampler)
    )
    rounds_key = "study_fact.ended_early" if result.stopped_early else "study_fact.played_rounds"
    times: tuple[tuple[str, str], ...] = ()
    if result.own_seconds is not None and result.games_seconds is not None and not spec.is_by_matches:
        seconds = {"games_seconds": result.games_seconds, "own_seconds": result.own_seconds}
        times = ((message("study_fact.time"), message("study_fact.seconds", **seconds)),)
    conditions: tuple[tuple[str, str], ...]
    if spec.is_by_matches:
        conditions = (
            *([(message("study_fact.command"), spec.command)] if spec.command else []),
            (message("fact.seed"), str(spec.conditions.seed)),
            (message("fact.games"), message("study_fact.stored_matches", games=result.games)),
        )
    else:
        conditions = (
            (message("fact.limit"), limit_words(spec, message)),
            *condition_facts(spec.conditions, result.engine, message),
            (message("fact.games"), message("study_fact.games", games=result.games, digest=result.digest)),
        )
    return (
        (message("fact.budget"), budget),
        (
            message("study_fact.rounds"),
            message(rounds_key, rounds=len(result.rounds), planned=result.planned_rounds, method=method),
        ),
        *space_facts(spec.space, message),
        *conditions,
        (
            message("study_fact.study"),
            message("study_fact.own_storage") if spec.storage is None else message("study_fact.shared_storage"),
        ),
        *times,
    )


def tuning_text(result: StudyResult, language: str = DEFAULT_LANGUAGE) -> str:
    """The study's outcome as text for the terminal, at most 80 columns wide."""
    columns = text_columns()
    message = Catalogue(MESSAGES, language)
    head = "terminal.parameter" if _has_parameters(result.spec) else "terminal.option"
    space = result.spec.space
    recommended = space.default if result.decision is None else result.recommended
    changed = ["" if recommended[name] == space.default[name] else "*" for name in space.names]
    table = [
        name_column(message(head), space.names),
        Column(result.spec.base_name, [value_text(space.default[name]) for name in space.names], least=LEAST_NAME),
        Column(message("terminal.recommended"), [value_text(recommended[name]) for name in space.names]),
        Column("", changed, left=True),
    ]
    parts = ["\n".join(table_lines(table, columns))]
    note = "" if result.decision is None else optimism_sentence(result, language)
    if note:
        parts.append("\n".join(wrapped(note, columns)))
    parts.append("\n".join(wrapped(tuning_sentence(result, language), columns)))
    outlook = _outlook_columns(result, message)
    if outlook:
        parts.append("\n".join(table_lines(outlook, columns)))
    if result.preset is not None:
        parts.append(Catalogue("elolab.tuning", language)("console.preset", preset=result.preset))
    return "\n\n".join(parts)


def tuning_data(result: StudyResult, report: Path | None) -> dict[str, Any]:
    """The result and the path of its report as plain data for JSON, with unrounded numbers."""
    data: dict[str, Any] = {
        "name": result.spec.name,
        "folder": str(result.directory),
        "rounds": len(result.rounds),
        "planned_rounds": result.planned_rounds,
        "games": result.games,
        "interrupted": result.interrupted,
        "stopped_early": result.stopped_early,
        "confirmed": result.confirmed,
        "preset": None if result.preset is None else str(result.preset),
        "faults": [fault.data for fault in result.faults],
        "warnings": result.caveats.sentences(),
        "games_digest": result.digest or None,
        "report": None if report is None else str(report),
    }
    found = result.decision
    if found is not None:
        low, high = found.interval()
        data["recommendation"] = {
            "parameters": result.recommended,
            "changed": {
                name: value for name, value in result.recommended.items() if value != result.spec.space.default[name]
            },
            "kind": "base" if found.is_base else "model maximum",
            "expected_elo": found.gain,
            "believed_elo": found.believed,
            "playoff_pairs": found.pairs,
            "playoff_score": found.score if found.pairs and found.believed else None,
            "deviation": found.deviation,
            "interval": 0.9,
            "low": low,
            "high": high,
            "left_to_gain": None if found.left is None else dict(zip(("elo", "low", "high"), found.left, strict=True)),
        }
        data["winners_curse"] = optimism(result)
    data["known"] = [asdict(one) for one in _knowledge(result)]
    data["own_seconds"], data["games_seconds"] = result.own_seconds, result.games_seconds
    data["validation"] = [verdict_data(verdict) for verdict in result.verdicts]
    data["further_validations"] = [verdict_data(verdict) for verdict in result.further]
    return data


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """A validation's result as plain data for JSON."""
    test = None if verdict.test is None else {**asdict(verdict.test), "verdict": verdict.test.verdict}
    return {
        **asdict(verdict.estimate),
        "after_test": None if verdict.after_test is None else asdict(verdict.after_test),
        "limit": str(verdict.limits),
        "kind": verdict.kind,
        "pentanomial": list(verdict.counts.counts),
        "pairs": verdict.counts.pairs,
        "test": test,
        "expected_pairs": pairs_needed(verdict),
        "outlook": [asdict(one) for one in verdict.outlook],
        "speed": None if verdict.speed is None else asdict(verdict.speed),
        "passed": verdict.passed,
        "unfinished": verdict.unfinished_of is not None,
    }
