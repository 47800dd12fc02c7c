"""Editions of a task: its questions drawn anew by the same generator, but for anchors that stay.

An edition is a task of its own, called `core-size@2027-01`: nothing mistakes its questions for the
published ones. What it has in common with every other edition are the anchors, by which runs of two
editions are compared (`runs.equating`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seesay.digests import text_digest, text_number
from seesay.errors import UserError
from seesay.grouping import group_by
from seesay.questions import Question, Task, name_edition, same_question
from seesay.tasks import TASKS, is_task_file, load_task, task_card

Questions = tuple[Question, ...]
Tags = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The questions about an object of the published draw, and those that an edition has in their
    place; of an anchor they are the same."""

    published: Questions
    renewed: Questions


def load_edition(name: str, edition: str) -> Task:
    """Draw an edition of the task of this name; a task that cannot be drawn anew is refused."""
    share = anchor_share(name)
    fresh = load_task(name, seed=edition_seed(edition))
    return make_edition(load_task(name), fresh, share, edition)


def make_edition(published: Task, fresh: Task, share: float, edition: str) -> Task:
    """Return the edition that a fresh draw makes of the published one, of which a share stays."""
    places = fill_places(published, fresh, share, edition)
    note = (
        f"edition {edition}: {share:.0%} of the objects are the published ones, the others are "
        "drawn anew"
    )
    notes = (*published.provenance.notes, note)
    return replace(
        published,
        name=name_edition(published.name, edition),
        title=f"{published.title or published.name}, edition {edition}",
        questions=tuple(question for place in places for question in place.renewed),
        published=(),
        provenance=replace(published.provenance, notes=notes, as_published=False),
        # examples and probes would be drawn from the published questions
        training=replace(published.training, linear_published=(), load_splits=None),
    )


def pair_places(published: Task, edition: Task) -> list[Place]:
    """Return the places of a task as published and as in an edition, anchors left out."""
    groups = [
        list(group_by(task.questions, lambda question: question.object).values())
        for task in (published, edition)
    ]
    # an edition has one object in every place, in the order of the published draw
    pairs = zip(*groups, strict=True)
    places = [Place(tuple(old), tuple(new)) for old, new in pairs]
    return [place for place in places if place.published[0].id != place.renewed[0].id]


def edition_seed(edition: str) -> int:
    """Return the seed that an edition is drawn with, which follows from its name."""
    return text_number(f"edition {edition}", 4)


def anchor_share(name: str) -> float:
    """Return the share of a task's objects that stay in every edition; refuse a task without."""
    if not is_task_file(name):
        share = task_card(name).anchors
        if not share:
            raise UserError(
                f"'{name}' is a fixed list, of which nothing can be drawn anew: there are editions "
                f"of {', '.join(renewable_tasks())}."
            )
        return share
    from seesay.tasks.from_file.load import read_anchors

    return read_anchors(Path(name).expanduser())


def renewable_tasks(*, texts_only: bool = False) -> list[str]:
    """Return the names of the tasks that can be drawn anew: all, or those without pictures."""
    cards = {name: task_card(name) for name in TASKS.names()}
    return [
        name for name, card in cards.items() if card.anchors and not (texts_only and card.pictures)
    ]


def fill_places(published: Task, fresh: Task, share: float, edition: str) -> list[Place]:
    """Return the places of the published draw, filled with anchors and with what is new in a fresh
    one.

    A new object takes the place of the one of its name (a thing that every draw shows, in another
    picture), else of one with the same tags as far as there is one: an edition has as many
    questions of every kind as the published draw.
    """
    old = group_by(published.questions, lambda question: question.object)
    anchors = choose_anchors(old, share)
    new = {
        name: questions
        for name, questions in group_by(fresh.questions, lambda q: q.object).items()
        if name not in anchors and (name not in old or _shows_pictures(questions))
    }
    successors = _assign(old, new, [name for name in old if name not in anchors])
    places = []
    for name, questions in old.items():
        if name in anchors:
            same = tuple(questions)
            places.append(Place(same, same))
        else:
            renewed = _rename(new[successors[name]], questions, edition)
            places.append(Place(tuple(questions), renewed))
    return places


def choose_anchors(old: Mapping[str, Sequence[Question]], share: float) -> set[str]:
    """Return the objects that stay: always the same ones, and the same share of every kind."""
    # in the order of kinds, every n-th object: so each kind gives its share
    names = sorted(old, key=lambda name: (_kind(old[name]), text_digest(f"anchor {name}")))
    return {
        name for number, name in enumerate(names) if int((number + 1) * share) > int(number * share)
    }


def _assign(
    old: Mapping[str, Sequence[Question]],
    new: Mapping[str, Sequence[Question]],
    places: Sequence[str],
) -> dict[str, str]:
    """Return the new object for each place: of its name, of its kind, or any that is not taken."""
    successors = {name: name for name in places if name in new}
    unused = [name for name in new if name not in successors]
    missing = len(places) - len(successors) - len(unused)
    if missing > 0:
        raise UserError(
            f"Another draw has {len(new):,} new objects for {len(places):,} places: an edition "
            "needs more rows to draw from, or more anchors."
        )
    by_kind = group_by(unused, lambda name: _kind(new[name]))
    without_kind = []
    for name in places:
        if name in successors:
            continue
        alike = by_kind.get(_kind(old[name]))
        if alike:
            successors[name] = alike.pop(0)
        else:
            without_kind.append(name)
    others = (name for names in by_kind.values() for name in names)
    return successors | dict(zip(without_kind, others, strict=False))


def _kind(questions: Sequence[Question]) -> tuple[Tags, ...]:
    """Return what makes an object one of its kind: the tags of the questions about it."""
    return tuple(sorted(tuple(sorted(question.tags.items())) for question in questions))


def _shows_pictures(questions: Sequence[Question]) -> bool:
    """Whether another draw asks something else about an object of the same name: in words it is
    asked the same, the other way round at most."""
    return any(question.picture is not None for question in questions)


def _rename(
    questions: Sequence[Question], published: Collection[Question], edition: str
) -> Questions:
    """Return new questions with ids that no other edition has.

    One that every draw asks alike, such as a blind one about a thing, keeps its id.
    """
    by_id = {question.id: question for question in published}
    ids = {}
    for question in questions:
        other = by_id.get(question.id)
        if other is None or not same_question(question, other):
            ids[question.id] = f"{edition}/{question.id}"
    return tuple(
        replace(
            question,
            id=ids.get(question.id, question.id),
            twin=ids.get(question.twin, question.twin),
        )
        for question in questions
    )
