"""20 Newsgroups (Lang 1995), "bydate" release, two groups: baseball or hockey?

Three tasks differ in how much of a message is text: the body (`20news`), all of it (`20news-full`), or the body without
quotations and signature (`20news-stripped`), which is what the 2019 code used and what lies on the hub. There is no
published dev set: a tenth of the training messages, cut off by content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from faithboard.readers.files import read_texts, required
from faithboard.readers.hub import class_name
from faithboard.task import HubSource, Record, Source, Task, TextRules

GROUPS = {"rec.sport.baseball": "baseball", "rec.sport.hockey": "hockey"}
OTHERS = (
    *("alt.atheism", "misc.forsale", "soc.religion.christian", "rec.autos", "rec.motorcycles"),
    *("comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    *("comp.windows.x", "sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    *("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc", "talk.religion.misc"),
)
FILES = {
    split: (f"20news-bydate-{split}", f"20news-bydate.tar.gz/20news-bydate-{split}") for split in ("train", "test")
}
_QUOTES = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")
"""A line that quotes another message or announces a quotation, by the rule of scikit-learn's loader."""


def whole(message: str) -> str:
    """Headers and body."""
    return message


def body(message: str) -> str:
    """What follows the first empty line."""
    return message.partition("\n\n")[2]


def stripped(message: str) -> str:
    """The body without signature, then without quoting lines; the rules are those of scikit-learn's loader.

    The last empty line, or line of hyphens, begins the signature, unless it is the first line.
    """
    text = body(message)
    lines = text.strip().split("\n")
    breaks = [at for at, line in enumerate(lines) if not line.strip().strip("-")]
    unsigned = lines[: breaks[-1]] if breaks and breaks[-1] > 0 else text.split("\n")
    return "\n".join(line for line in unsigned if not _QUOTES.search(line))


def convert(split: str, number: int, row: Mapping[str, Any]) -> Record | None:
    """The record of a row on the hub, None for the other eighteen groups."""
    label = class_name({**GROUPS, **dict.fromkeys(OTHERS, "")}, row["label_text"], f"split {split}, row {number}")
    return Record("", row["text"], label) if label else None


HUB = HubSource(
    id="SetFit/20_newsgroups",
    revision="f1b91292074e7cfb69be58b642d583ec262f30ed",
    columns=("text", "label_text"),
    convert=convert,
    splits={"train": "train", "test": "test"},
)


def _task(
    name: str,
    part: Callable[[str], str],
    description: str,
    fingerprints: dict[str, str],
    hub: HubSource | None = None,
) -> Task:
    def read(folder: Path, split: str) -> Iterator[Record]:
        if split not in FILES:
            return
        # 13 of the 1,993 messages are not UTF-8.
        for place, message in read_texts(required(folder, FILES[split]), "latin-1"):
            group = place.split("/")[0]
            if group in GROUPS:
                yield Record("", part(message), GROUPS[group])

    return Task(
        name=name,
        version=1,
        source=Source(
            title="20 Newsgroups, bydate",
            citation="Lang 1995, NewsWeeder: Learning to Filter Netnews",
            licence="none stated",
            url="http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
        ),
        labels=("baseball", "hockey"),
        folder="20news",
        files=FILES,
        read=read,
        hub=hub,
        text=TextRules(min_document_frequency=2, more_than=6, fewer_than=500),
        cut={"dev": 0.1},
        performance="f1-weighted",
        profile={
            "vectors": "glove-6b-50d",
            "epochs": 8,
            "batch_size": 32,
            "loss_reduction": "sum",
            "weight_decay": 1e-5,
        },
        fingerprints=fingerprints,
        # The published 1,197 training messages, less the dev tenth.
        published_rows={"train": 1_077, "dev": 120, "test": 796},
        family="20news",
        differences=(
            "the paper splits all messages 64/16/20 at random; here the published split by date is used",
            "the paper drops quotations and signatures, as 20news-stripped does, and shortens runs of punctuation",
        ),
        description=description,
    )


NEWSGROUPS = _task(
    "20news",
    body,
    "Is the message about baseball or hockey? Its body, as it was sent (the hub has 20news-stripped).",
    {"shared-subset": "1ccc3b08ee5ad5366bf65266eead7511df3706495adfaa52efb6d07e01cd4731"},
)
NEWSGROUPS_FULL = _task(
    "20news-full",
    whole,
    "The same with headers: sender, subject, organisation.",
    {"shared-subset": "013c6eeedbadc8143e1f19c7898883631bb6a1ffef0eaa831891413492cdada3"},
)
NEWSGROUPS_STRIPPED = _task(
    "20news-stripped",
    stripped,
    "The same, the body without quotations and signature.",
    {"shared-subset": "23629db97fc60944f0a556f446be5b227bd730a6319345dc4db412ac5dfa5ab3"},
    HUB,
)
