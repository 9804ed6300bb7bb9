"""The parts of this page, each a file of lines."""

from __future__ import annotations

from faithboard.reproduction.elephant.lines import (
    AlikeLine,
    Answers,
    AttentionLine,
    DuelLine,
    OperatorLine,
    SourceLine,
)
from faithboard.reproduction.elephant.page import page
from faithboard.reproduction.files import Form

FORM = Form(
    made=Answers,
    kinds={
        "sources": SourceLine,
        "duels": DuelLine,
        "alike": AlikeLine,
        "attention": AttentionLine,
        "operators": OperatorLine,
    },
    page=page,
)
