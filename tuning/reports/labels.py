"""Labels of comparisons and bases in the report's language; a specification stores generated labels in English."""

from __future__ import annotations

from dataclasses import replace

from elolab.engine.language import Catalogue
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.ablation_run import AblationResult
from elolab.tuning.ablation.ablation_spec import MAX_LABEL, Comparison
from elolab.tuning.conditions import Conditions, describe, value_text

GENERATED = ("values", "builds", "factorial", "interactions")
"""Names of the groups of comparisons whose labels elolab generates in the form ``... against ...``."""
OFF_TEXTS = ("off", "false", "none", "no")
"""Values, in lower case, that switch off an external engine's option."""


def in_language(result: AblationResult, message: Catalogue) -> AblationResult:
    """A copy of the result whose comparisons have labels in the language of ``message``."""
    names = {
        comparison.label: comparison_label(comparison, result.spec.conditions, message)
        for comparison in result.spec.comparisons
    }
    return replace(
        result,
        rows=tuple(replace(row, label=names.get(row.label, row.label)) for row in result.rows),
        depths=tuple(replace(row, setting=names.get(row.setting, row.setting)) for row in result.depths),
        speeds=tuple(replace(row, label=names.get(row.label, row.label)) for row in result.speeds),
    )


def comparison_label(comparison: Comparison, conditions: Conditions, message: Catalogue) -> str:
    """The label of a comparison in the report's language; a label from the user's file stays unchanged."""
    label, name = comparison.label, next(iter(comparison.differences), "")
    if comparison.group == "leave_one_out" and label == f"without {name}":
        value, other = dict(comparison.variant).get(name), dict(comparison.reference).get(name)
        if conditions.external is None or value is False or str(value).lower() in OFF_TEXTS:
            return message("label.without", feature=name)
        return _changed_to(name, value, other, message)
    if comparison.group == "add_one_in" and label.endswith(f" with {name}"):
        return message("label.with", base=label.removesuffix(f" with {name}"), feature=name)
    if comparison.group in GENERATED or label == _unnamed(comparison, conditions):
        return label.replace(" against ", message("label.against"))
    return label


def _changed_to(name: str, value: Value | None, other: Value | None, message: Catalogue) -> str:
    """A label for a setting with ``value`` instead of ``other``, such as ``Hash 1 instead of 16``.

    ``None`` stands for the engine's default.
    """
    if value is None:
        return message("label.default", feature=name)
    if other is None:
        return f"{name} {value_text(value)}"
    return message("label.instead", feature=name, value=value_text(value), other=value_text(other))


def _unnamed(comparison: Comparison, conditions: Conditions) -> str:
    """The English label that elolab generates if the user's file gives a comparison no label."""
    one, other = (
        describe(conditions.differences(dict(side))) or "base" for side in (comparison.variant, comparison.reference)
    )
    return f"{one} against {other}"[:MAX_LABEL]


def base_label(conditions: Conditions, message: Catalogue) -> str:
    """The base's name in the language of ``message``, such as ``default with tempo 10``."""
    name = conditions.base_name
    if conditions.external is not None:
        engine = name.removesuffix(" as it is")
        return name if engine == name else message("label.as_it_is", engine=engine)
    preset, _, settings = name.partition(" with ")
    return message("label.with", base=preset, feature=settings) if settings else name
