"""Parameter tuning, ablations and tests of claims: everything that decides which matches to play.

This package knows nothing about search algorithms.
"""

from elolab.engine.settings import FileKind, register

TUNING_FILES = register(
    FileKind(
        "tuning", "tuning specification", "elolab tune", ("budget",), name="tuning",
        schema="elolab.tuning.study.study_spec:STUDY",
    ),
    FileKind(
        "ablations", "ablation specification", "elolab ablate",
        ("leave_one_out", "add_one_in", "values", "comparisons", "factorial", "nodes_to_depth", "margin", "error_rate"),
        name="ablation", schema="elolab.tuning.keys.ablation:ABLATION",
    ),
    FileKind(
        "claims", "table of claims", "elolab claims --claims", ("claims",), name="claims",
        schema="elolab.tuning.keys.claims:CLAIMS",
    ),
)  # fmt: skip
"""The kinds of files that tuning studies, ablations and claims read."""
