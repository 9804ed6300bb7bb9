from __future__ import annotations

from collections import Counter

import pytest

from faithboard.generators import babi
from faithboard.readers.babi import Question, read_stories


def questions(task: int, count: int, split: str = "train") -> list[Question]:
    lines = enumerate(babi.lines(task, split, count), 1)
    return [question for story in read_stories(lines, "generated") for question in story]


def sentences(question: Question) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in question.story:
        if word == ".":
            found.append([])
        else:
            found[-1].append(word)
    return found[:-1]


def facts(question: Question) -> list[tuple[str, ...]]:
    return [question.story[start:end] for start, end in question.supporting]


WALKS = {"moved", "went", "travelled", "journeyed"}
LEAVES = {"dropped", "left", "discarded", "put"}


def solve(question: Question) -> str:
    """The answer by a simulation of its own: follows people and things through the sentences."""
    at: dict[str, str] = {}
    trails: dict[str, list[str]] = {}
    holder: dict[str, str] = {}
    for person, verb, *rest in sentences(question):
        if verb in WALKS:
            assert rest[-1] != at.get(person)
            at[person] = rest[-1]
            for thing in [thing for thing, who in holder.items() if who == person]:
                trails[thing].append(rest[-1])
            continue
        (thing,) = set(rest) & set(babi.THINGS)
        if verb in LEAVES:
            assert holder.pop(thing) == person
        else:
            assert thing not in holder
            trail = trails.setdefault(thing, [at[person]])
            assert trail[-1] == at[person], "a thing is taken where it lies"
            holder[thing] = person
    words = question.words
    if words[:2] == ("Where", "was"):
        trail = trails[words[3]]
        last = len(trail) - 1 - trail[::-1].index(words[6])
        return trail[last - 1]
    return trails[words[3]][-1] if words[2] == "the" else at[words[2]]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_answers_follow_from_the_story(task: int) -> None:
    asked = questions(task, 300)
    assert len(asked) == 300
    assert [solve(question) for question in asked] == [question.answer for question in asked]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_supporting_facts_are_as_many_as_the_task_says_and_enough(task: int) -> None:
    for question in questions(task, 200):
        assert len(set(question.supporting)) == task
        assert any(question.answer in fact for fact in facts(question))
        assert all(fact[-1] == "." and fact.count(".") == 1 for fact in facts(question))
        if task == 1:
            assert question.words[2] in facts(question)[0]
        else:
            assert question.words[3] in facts(question)[0], "the first fact tells who had the thing"
            assert len({fact[0] for fact in facts(question)}) == 1, "one person explains it"


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_supporting_sentences_alone_give_the_answer(task: int) -> None:
    for question in questions(task, 200):
        kept = [word for start, end in sorted(question.supporting) for word in question.story[start:end]]
        alone = Question(question.line, tuple(kept), question.words, question.answer, ())
        if task == 1:
            assert solve(alone) == question.answer
        elif task == 2:
            assert facts(question)[1][-2] == question.answer
        else:
            _, after, before = facts(question)
            assert (after[-2], before[-2]) == (question.words[6], question.answer)


def test_task_1_has_the_shape_of_the_published_files() -> None:
    asked = questions(1, 1000)
    assert [question.line for question in asked[:5]] == [3, 6, 9, 12, 15]
    answers = Counter(question.answer for question in asked)
    assert set(answers) == set(babi.PLACES)
    assert max(answers.values()) < 1.4 * min(answers.values())


def test_the_same_arguments_give_the_same_lines_and_splits_differ() -> None:
    train = list(babi.lines(1, "train", 20))
    assert train == list(babi.lines(1, "train", 20))
    assert train != list(babi.lines(1, "test", 20))
    assert train == list(babi.lines(1, "train", 40))[: len(train)]
