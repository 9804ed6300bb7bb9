"""The parts of this reproduction, each a file of lines."""

from __future__ import annotations

from faithboard.reproduction.attention.lines import (
    DatasetLine,
    DivergenceLine,
    EvidenceLine,
    HeatmapLine,
    LengthLine,
    ModelLine,
    PermutationLine,
    Reproduction,
    TauLine,
    TriedLine,
)
from faithboard.reproduction.attention.page import page
from faithboard.reproduction.files import Form
from faithboard.reproduction.lines import FigureLine, SuiteLine

FORM = Form(
    made=Reproduction,
    kinds={
        "suite": SuiteLine,
        "models": ModelLine,
        "datasets": DatasetLine,
        "taus": TauLine,
        "lengths": LengthLine,
        "permutations": PermutationLine,
        "divergences": DivergenceLine,
        "evidence": EvidenceLine,
        "heatmaps": HeatmapLine,
        "figures": FigureLine,
        "tried": TriedLine,
    },
    page=page,
)
