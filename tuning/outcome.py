"""What a tuning, ablation, run of claims or fit has come to so far, as the text that its command prints at the end.

Nothing is written into the run's folder. Finding it out takes seconds of a process of its own, which
``elolab watch --terminal`` starts now and then:

    python -m tuning.outcome DIR LANGUAGE
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.language import Catalogue


def outcome_text(directory: Path, language: str) -> str:
    """The text. Raises ``UserError`` where a run does not say enough yet, or is a tournament."""
    from tuning.reports.claims import claims_text
    from tuning.reports.fit import fit_text
    from tuning.reports.study import tuning_text
    from tuning.rereading import result_in

    result = result_in(directory)
    if result is None:
        raise UserError(f"{directory}: its games are of a tournament")
    texts: Mapping[str, Callable[[Any, str], str]] = {
        "StudyResult": tuning_text,
        "AblationResult": _ablation_text,
        "ClaimsResult": claims_text,
        "FitResult": fit_text,
    }
    return texts[type(result).__name__](result, language)


def _ablation_text(result: Any, language: str) -> str:
    from tuning.reports.ablation import ablation_text
    from tuning.reports.document import MESSAGES
    from tuning.reports.labels import in_language

    shown = in_language(result, Catalogue(MESSAGES, language))
    return ablation_text(shown.rows, shown.effects, language, shown.speeds)


def main(words: list[str]) -> int:
    """Print the text of a folder in a language; 1 where there is none yet."""
    directory, language = words
    try:
        print(outcome_text(Path(directory), language))
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
