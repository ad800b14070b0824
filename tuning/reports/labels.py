"""Labels of comparisons and bases in the report's language. Specifications store generated labels in English."""

from __future__ import annotations

from dataclasses import replace

from elolab.engine.language import Catalogue
from elolab.tuning.ablation.ablation_run import AblationResult
from elolab.tuning.ablation.ablation_spec import Comparison, unnamed_label
from elolab.tuning.conditions import Conditions, value_text

GENERATED = ("values", "builds", "factorial", "interactions")
"""Groups of comparisons whose labels elolab generates, in the form ``... against ...``."""
OFF_TEXTS = ("off", "false", "none", "no")
"""Values of an external engine's option, in lower case, that switch the option off."""


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
        if value is None:  # the engine's default
            return message("label.default", feature=name)
        if other is None:
            return f"{name} {value_text(value)}"
        return message("label.instead", feature=name, value=value_text(value), other=value_text(other))
    if comparison.group == "add_one_in" and label.endswith(f" with {name}"):
        return message("label.with", base=label.removesuffix(f" with {name}"), feature=name)
    unnamed = unnamed_label(conditions, dict(comparison.variant), dict(comparison.reference))
    if comparison.group in GENERATED or label == unnamed:
        return label.replace(" against ", message("label.against"))
    return label


def base_label(conditions: Conditions, message: Catalogue) -> str:
    """The base's name in the language of ``message``, such as ``default with tempo 10``."""
    name = conditions.base_name
    if conditions.external is not None:
        engine = name.removesuffix(" as it is")
        return name if engine == name else message("label.as_it_is", engine=engine)
    preset, _, settings = name.partition(" with ")
    return message("label.with", base=preset, feature=settings) if settings else name
