"""The world of bAbI tasks 1 to 3 (Weston et al. 2015): people walk between places and carry things.

A simulation of our own that writes the published format, so that generated stories go through the same reader as the
published ones. Task 1 asks where a person is (one supporting fact), task 2 where a thing is (two), task 3 where a
thing was before (three).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from faithboard.rng import seed_of

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
THINGS = ("apple", "football", "milk")
QUESTIONS_PER_STORY = 5

_WALK = ("moved to", "went to", "went back to", "travelled to", "journeyed to")
_TAKE = ("got", "took", "grabbed", "picked up")
_LEAVE = ("dropped", "left", "discarded", "put down")

T = TypeVar("T")


class _Dice:
    """Choices from `random()` alone, the one stream that Python promises to keep over its versions."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self._random() < probability


@dataclass(frozen=True)
class _Stop:
    """A thing at a place, with the lines that prove it: who has it, and how that person came there."""

    place: str
    possession: int
    arrival: int


@dataclass(frozen=True)
class _Asked:
    question: str
    answer: str
    facts: tuple[int, ...]


@dataclass
class _World:
    """What is true after the lines so far."""

    dice: _Dice
    line: int = 0
    at: dict[str, tuple[str, int]] = field(default_factory=dict)
    """person -> place and the line that brought them there."""
    holder: dict[str, str] = field(default_factory=dict)
    """thing -> who carries it."""
    trail: dict[str, list[_Stop]] = field(default_factory=dict)
    """thing -> where it has been, a new stop whenever someone takes, carries or leaves it."""

    def walk(self) -> str:
        person = self.dice.pick(PEOPLE)
        here = self.at.get(person, ("", 0))[0]
        place = self.dice.pick([place for place in PLACES if place != here])
        self.at[person] = (place, self.line)
        for thing, holder in self.holder.items():
            if holder == person:
                self.trail[thing].append(_Stop(place, self.trail[thing][-1].possession, self.line))
        return f"{person} {self.dice.pick(_WALK)} the {place}."

    def handle(self) -> str | None:
        """Someone takes or leaves a thing; None when the person drawn has nothing to take or leave."""
        person, thing = self.dice.pick(PEOPLE), self.dice.pick(THINGS)
        if person not in self.at:
            return None
        place, arrival = self.at[person]
        if self.holder.get(thing) == person:
            del self.holder[thing]
            verb = self.dice.pick(_LEAVE)
        elif thing not in self.holder and (thing not in self.trail or self.trail[thing][-1].place == place):
            self.holder[thing] = person
            verb = self.dice.pick(_TAKE)
        else:
            return None
        self.trail.setdefault(thing, []).append(_Stop(place, self.line, arrival))
        return f"{person} {verb} the {thing}{' there' if self.dice.chance(0.25) else ''}."

    def where_is_person(self) -> _Asked | None:
        if not self.at:
            return None
        person = self.dice.pick(sorted(self.at))
        place, line = self.at[person]
        return _Asked(f"Where is {person}?", place, (line,))

    def where_is_thing(self) -> _Asked | None:
        if not self.trail:
            return None
        thing = self.dice.pick(sorted(self.trail))
        stop = self.trail[thing][-1]
        return _Asked(f"Where is the {thing}?", stop.place, (stop.possession, stop.arrival))

    def where_was_thing(self) -> _Asked | None:
        """About the last arrival of a thing at some place. It only moves while carried, so one carry proves it."""
        askable = []
        for thing, stops in sorted(self.trail.items()):
            seen = set()
            for before, after in zip(reversed(stops[:-1]), reversed(stops[1:]), strict=True):
                if before.place != after.place and after.place not in seen:
                    seen.add(after.place)
                    facts = (after.possession, after.arrival, before.arrival)
                    askable.append(_Asked(f"Where was the {thing} before the {after.place}?", before.place, facts))
        return self.dice.pick(askable) if askable else None


@dataclass(frozen=True)
class _Rules:
    """What tells one bAbI task from another."""

    ask: Callable[[_World], _Asked | None]
    fewest: int
    most: int
    """Sentences before each question, drawn uniformly."""
    handling: float
    """Share of attempts to take or leave a thing."""


_TASKS = {
    1: _Rules(_World.where_is_person, 2, 2, 0.0),
    2: _Rules(_World.where_is_thing, 2, 8, 0.5),
    3: _Rules(_World.where_was_thing, 6, 18, 0.6),
}


def lines(task: int, split: str, questions: int) -> Iterator[str]:
    """Lines of a bAbI file of task 1, 2 or 3 with at least that many questions, in whole stories of five.

    The same arguments give the same lines; splits draw from streams of their own.
    """
    dice = _Dice(seed_of("babi", task, split))
    for _ in range(-(-questions // QUESTIONS_PER_STORY)):
        yield from _story(_World(dice), _TASKS[task])


def _story(world: _World, rules: _Rules) -> Iterator[str]:
    for _ in range(QUESTIONS_PER_STORY):
        left = world.dice.pick(range(rules.fewest, rules.most + 1))
        asked = None
        while left > 0 or asked is None:
            world.line += 1
            handled = world.handle() if world.dice.chance(rules.handling) else None
            yield f"{world.line} {handled or world.walk()}"
            left -= 1
            if left <= 0:
                asked = rules.ask(world)
        world.line += 1
        yield f"{world.line} {asked.question} \t{asked.answer}\t{' '.join(map(str, asked.facts))}"
