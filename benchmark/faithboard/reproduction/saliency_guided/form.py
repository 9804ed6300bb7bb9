"""The parts of this reproduction, each a file of lines."""

from __future__ import annotations

from faithboard.reproduction.files import Form
from faithboard.reproduction.lines import FigureLine, SuiteLine
from faithboard.reproduction.saliency_guided.lines import (
    AccuracyLine,
    BaselineLine,
    CurveLine,
    DifferenceLine,
    EvidenceLine,
    MissingLine,
    ModelLine,
    Reproduction,
    ShareLine,
    ValueLine,
)
from faithboard.reproduction.saliency_guided.page import page

FORM = Form(
    made=Reproduction,
    kinds={
        "suite": SuiteLine,
        "models": ModelLine,
        "missing": MissingLine,
        "values": ValueLine,
        "differences": DifferenceLine,
        "equal_epochs": DifferenceLine,
        "baselines": BaselineLine,
        "accuracies": AccuracyLine,
        "shares": ShareLine,
        "evidence": EvidenceLine,
        "curves": CurveLine,
        "figures": FigureLine,
    },
    page=page,
)
