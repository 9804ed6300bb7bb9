"""Penn-Treebank-style sentiment trees, one a line: `(3 (2 It) (4 (3 works) (2 .)))` (Socher et al. 2013)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from faithboard.errors import DataError

# Blanks of ASCII alone separate: the published file has a no-break space inside a word.
_PIECE = re.compile(r"[()]|[^ \t()]+")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
_ESCAPED = re.compile(r"\\([/*])")


@dataclass(frozen=True)
class Tree:
    """What a task needs of a tree: the label of its root and the words at its leaves."""

    label: int
    words: tuple[str, ...]


def read_trees(lines: Iterable[tuple[int, str]], name: str) -> Iterator[Tree]:
    """The tree of each line of the file called `name`; empty lines are skipped.

    Raises DataError with file and line for a line that is not exactly one whole tree.
    """
    for number, line in lines:
        if line.strip():
            yield parse_tree(line, f"{name}, line {number}")


def parse_tree(line: str, where: str) -> Tree:
    """One tree: `( label word )` or `( label tree tree ... )`, labels 0 to 4.

    The treebank's escapes are undone, so that words are those of the vectors files: `-LRB-` is `(`, `-RRB-` is `)`, a
    backslash before `/` or `*` goes. Raises DataError, which begins with `where`, for anything else.
    """

    def wrong(what: str) -> DataError:
        return DataError(
            f"{where}: {what} in {line[:60]!r}; expected one tree such as `(3 (2 It) (4 (3 works) (2 .)))`"
        )

    words: list[str] = []
    labels: list[int] = []
    filled: list[str] = []
    """For each open bracket what follows its label: nothing yet, a word, or trees."""
    pieces = iter(_PIECE.findall(line))
    for piece in pieces:
        if labels and not filled:
            raise wrong("text after the tree")
        if piece == "(":
            if filled and filled[-1] == "word":
                raise wrong("a word and a tree side by side")
            if filled:
                filled[-1] = "trees"
            label = next(pieces, "")
            if not label:
                raise wrong("a bracket without anything after it (the line is truncated)")
            if label not in ("0", "1", "2", "3", "4"):
                raise wrong(f"label {label!r}, which is none of 0 to 4,")
            labels.append(int(label))
            filled.append("")
        elif not filled:
            raise wrong(f"{piece!r} outside the tree")
        elif piece == ")":
            if not filled.pop():
                raise wrong("a bracket without word or tree")
        else:
            if filled[-1]:
                raise wrong(f"{piece!r} where a bracket should close")
            filled[-1] = "word"
            words.append(_BRACKETS.get(piece, _ESCAPED.sub(r"\1", piece)))
    if filled or not labels:
        raise wrong(f"{len(filled)} brackets that never close (the line is truncated)" if filled else "no tree")
    return Tree(labels[0], tuple(words))
