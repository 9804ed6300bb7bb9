from __future__ import annotations

import pytest

from faithboard.errors import DataError
from faithboard.readers.trees import parse_tree, read_trees


def test_root_label_and_leaves_in_order() -> None:
    tree = parse_tree("(3 (2 It) (4 (4 (2 's) (4 great)) (2 .)))", "f")
    assert (tree.label, tree.words) == (3, ("It", "'s", "great", "."))


def test_one_word_is_a_tree() -> None:
    assert parse_tree("(4 Wow)", "f").words == ("Wow",)


def test_treebank_escapes_are_undone_and_no_break_spaces_stay_in_their_word() -> None:
    tree = parse_tree("(2 (2 -LRB-) (2 (2 (2 8\u00a01\\/2) (2 \\*)) (2 -RRB-)))", "f")
    assert tree.words == ("(", "8\u00a01/2", "*", ")")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("(3 (2 It) (4 (3 wor", "never close"),
        ("(3 (2 It)) (4 x)", "text after the tree"),
        ("(3 (2 It)) )", "text after the tree"),
        ("(3 (2 It) word)", "where a bracket should close"),
        ("(3 It (2 is))", "side by side"),
        ("(3 It is)", "where a bracket should close"),
        ("(7 (2 It))", "label '7'"),
        ("(3)", "without word or tree"),
        ("((2 It))", r"label '\('"),
        ("It is", "outside the tree"),
        ("(", "the line is truncated"),
    ],
)
def test_a_malformed_line_names_file_line_and_what_is_expected(line: str, what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        list(read_trees([(1, "(2 fine)"), (2, ""), (3, line)], "train.txt"))
    assert str(caught.value).startswith("train.txt, line 3: ")
    assert "expected one tree" in str(caught.value)
