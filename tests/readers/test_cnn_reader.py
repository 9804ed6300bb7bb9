from __future__ import annotations

from pathlib import Path

import pytest

from faithboard.errors import DataError
from faithboard.readers.cnn import Cloze, read_questions

PASSAGE = "@entity3 met @entity1 , said @entity3 's aide"
QUESTION = "who met @placeholder ?"
FILE = f"http://example.org\n\n{PASSAGE}\n\n{QUESTION}\n\n@entity1\n\n@entity1:Ann\n@entity3:Bob\n"
EXPECTED = Cloze("", tuple(PASSAGE.split()), tuple(QUESTION.split()), "@entity1")


def parts(question: Cloze) -> tuple[object, ...]:
    return question.passage, question.words, question.answer


def test_a_folder_of_question_files(tmp_path: Path) -> None:
    (tmp_path / "abc.question").write_text(FILE)
    (tmp_path / "notes.txt").write_text("no question")
    (question,) = read_questions(tmp_path)
    assert question.name == "abc"
    assert parts(question) == parts(EXPECTED)
    assert question.entities == ("@entity3", "@entity1")


def test_the_preprocessed_form(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("\n\n".join([f"{QUESTION}\n@entity1\n{PASSAGE}"] * 3))
    questions = list(read_questions(path))
    assert [question.name for question in questions] == ["0", "1", "2"]
    assert all(parts(question) == parts(EXPECTED) for question in questions)
    path.write_text(f"{path.read_text()}\n\n\n")
    assert len(list(read_questions(path))) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (FILE.replace(f"{QUESTION}\n\n", ""), "4 blocks; expected five"),
        (FILE.replace("@placeholder", "him"), "no question with @placeholder"),
        (FILE.replace("\n@entity1\n\n", "\nAnn\n\n"), "answer @entityN"),
    ],
)
def test_a_file_in_another_form_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "abc.question").write_text(content)
    with pytest.raises(DataError, match=rf"abc\.question: .*{message}"):
        list(read_questions(tmp_path))


def test_a_question_that_is_not_three_lines_names_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "dev.txt"
    path.write_text(f"{QUESTION}\n@entity1\n{PASSAGE}\n\n{QUESTION}\n@entity1\n\n")
    with pytest.raises(DataError, match=r"dev\.txt, line 6: .* has 2 lines"):
        list(read_questions(path))
