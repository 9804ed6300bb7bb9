"""Pieces of Markdown: tables that read well in a terminal too, numbers, and generated blocks in files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tabulate import tabulate

from faithboard.errors import FaithboardError

NOTHING = "-"
"""A cell without a value."""


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A padded Markdown table; the columns numbered in `right` are aligned to the right."""
    align = ["right" if column in right else "left" for column in range(len(headers))]
    return tabulate(rows, headers, tablefmt="pipe", disable_numparse=True, colalign=align)


def plain(text: str) -> str:
    """Text that came from outside (the message of an error, say) as one line that cannot break a table or a block."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def number(value: float | None, decimals: int = 3) -> str:
    """Fixed decimals, thousands separated; a value that rounds to 0 has no sign."""
    if value is None:
        return NOTHING
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """`0.412 [0.380, 0.444]`."""
    if value is None:
        return NOTHING
    return number(value) if low is None or high is None else f"{number(value)} [{number(low)}, {number(high)}]"


def amount(value: float | None) -> str:
    """A count, speed or size of any magnitude to about three digits: `0.84`, `12.3`, `4,096`; whole ones whole."""
    if value is None:
        return NOTHING
    return number(value, 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2)


def scientific(value: float) -> str:
    """`4.4e-08`: of a value that may be as small as rounding. Nothing is `0`."""
    return f"{value:.1e}" if value else "0"


def p_value(p: float) -> str:
    """Three decimals, and `<0.001` below what they can show."""
    return "<0.001" if p < 0.0005 else number(p)


def percent(share: float) -> str:
    """`2.5%`."""
    return f"{share:.1%}"


def folded(title: str, body: str) -> str:
    """A block that is closed until a reader opens it."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def begin(name: str) -> str:
    """The line before a generated block."""
    return f"<!-- faithboard:begin {name} -->"


def end(name: str) -> str:
    """The line after a generated block."""
    return f"<!-- faithboard:end {name} -->"


def with_block(text: str, name: str, body: str, where: str) -> str:
    """`text` with the block `name` holding `body`; all around it is kept. Without the block, it is added at the end.

    Raises FaithboardError naming the file `where` when the markers in it are not one pair.
    """
    block = f"{begin(name)}\n\n{body.strip()}\n\n{end(name)}"
    parts = _around(text, name, where)
    if parts is None:
        return f"{text.rstrip()}\n\n{block}\n" if text.strip() else f"{block}\n"
    return parts[0] + block + parts[1]


def without_block(text: str, name: str, where: str) -> str:
    """What people wrote around the block `name`; all of the text where there is no block. Raises as `with_block`."""
    parts = _around(text, name, where)
    return text if parts is None else parts[0] + parts[1].lstrip("\n")


def _around(text: str, name: str, where: str) -> tuple[str, str] | None:
    """What stands before and after a block; None for a text without it."""
    pair = re.findall(f"{re.escape(begin(name))}|{re.escape(end(name))}", text)
    if not pair:
        return None
    if pair != [begin(name), end(name)]:
        raise FaithboardError(
            f"{where}: the markers of the generated block {name!r} must be one `{begin(name)}` and after it one "
            f"`{end(name)}`; put them right, or delete the file to have it made anew"
        )
    before, rest = text.split(begin(name))
    return before, rest.split(end(name))[1]
