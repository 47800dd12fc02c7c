"""What the ViPhy tasks share: the sources of their facts, the splits, the record of files read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic

from seesay.data import knowledge, store, viphy
from seesay.data.catalogue import CATALOGUE
from seesay.data.cells import BadValueError, prompt_text
from seesay.data.knowledge import (
    COLORS,
    PLACES,
    SIZES,
    ColorFact,
    Fact,
    PlaceFact,
    SizeFact,
    SubtypeFact,
)
from seesay.data.splits import SHARES, left_over, split
from seesay.errors import UserError
from seesay.questions import BadRow, DataSource, Provenance, Published, Question, Splits, Task
from seesay.tasks.template_files import read_template_file

VERSION = "1"
SOURCE = "Singh, Qasemi & Chen 2023"
_KEY_COLUMNS = ("scene", "object", "a", "b", "subtype")
"""What a fact is about: two facts that are equal in these are one."""

AnyFact = ColorFact | SizeFact | PlaceFact | SubtypeFact
Ask = Callable[[Sequence[Fact]], list[Question]]
"""Makes questions of facts."""


@dataclass(frozen=True)
class Facts(Generic[Fact]):
    """Facts, the rows that could not be used, and the files read.

    `folder` holds further tables of the same kind. `published` distinguishes the layout of the
    published files from a knowledge folder that `seesay mine` wrote. `divide` cuts the rows into
    the three splits, by default as published.
    """

    rows: list[Fact]
    bad: list[BadRow]
    files: tuple[Path, ...]
    published: bool
    folder: Path | None
    divide: Callable[[Sequence[Fact]], Mapping[str, list[Fact]]] = split

    def split(self, name: str) -> list[Fact]:
        """Return one of the three splits; a single table is all test."""
        if name not in SHARES:
            raise UserError(f"ViPhy has no split '{name}': choose one of {', '.join(SHARES)}.")
        if self.folder is not None:
            return self.divide(self.rows)[name]
        if name != "test":
            raise UserError(
                f"{self.files[0]} is a single table without splits: for '{name}' give a folder."
            )
        return self.rows

    @property
    def notes(self) -> list[str]:
        """A note about the rows that are in no split, if there are any."""
        if self.folder is None:
            return []
        row_count = left_over(len(self.rows))
        if not row_count:
            return []
        return [
            f"{row_count} of {len(self.rows):,} rows in no split: each split's size is rounded down"
        ]


def load_facts(
    kind: type[Fact],
    data: Path | None,
    file: str | None = None,
) -> Facts[Fact]:
    """Load the facts of a kind.

    `data` is a knowledge folder, a folder in the published layout, or a single published table;
    without it the data folder's published files are read. `file` names another table of the
    published layout.
    """
    file = file or viphy.FILES[kind]
    if data is not None and data.is_dir():
        mined = data / knowledge.FILES[kind]
        if mined.is_file():
            rows, bad = _select_usable(*knowledge.read_checked(data, kind))
            return Facts(
                rows,
                bad,
                files=(mined,),
                published=False,
                folder=data,
            )
        if not (data / file).is_file():
            raise UserError(
                f"{data} holds neither {file}, as ViPhy was published, nor {mined.name}, as "
                "`seesay mine` writes it."
            )
    path = store.require_file("viphy", file, data)
    rows, bad = viphy.read(path, kind)
    folder = None
    if data is None or data.is_dir():
        # The file's name says how deep it is in the published layout.
        folder = path.parents[len(Path(file).parts) - 1]
    return Facts(
        rows,
        bad,
        files=(path,),
        published=True,
        folder=folder,
    )


def table_exists(
    kind: type[Fact],
    file: str,
    data: Path | None,
) -> bool:
    """Return whether `load_facts` would find this table of the published layout.

    A file given as `data` stands for it.
    """
    if data is None:
        return store.find_file("viphy", file) is not None
    if data.is_file():
        return True
    return (data / file).is_file() and not (data / knowledge.FILES[kind]).is_file()


def sibling_file(source: Facts[Fact], file: str) -> Path | None:
    """Return another file of the same published folder, if it exists.

    A mined folder has no such files, and neither has a single table.
    """
    if source.folder is None or not source.published:
        return None
    path = source.folder / file
    if path.is_file():
        return path
    return None


def tag_mirrored(questions: Ask[Fact], source: Facts[Fact]) -> Ask[Fact]:
    """Return what asks about facts, with a tag that says whether a question's mirror image is in
    the training split; a single table has no splits, and no tag."""
    if source.folder is None:
        return questions
    training_ids = {question.id for question in questions(source.split("train"))}

    def ask(rows: Sequence[Fact]) -> list[Question]:
        tagged = []
        for question in questions(rows):
            mirrored = "yes" if question.twin in training_ids else "no"
            tagged.append(replace(question, tags={**question.tags, "mirrored": mirrored}))
        return tagged

    return ask


def _select_usable(
    rows: Mapping[int, Fact],
    incomplete: Sequence[BadRow],
) -> tuple[list[Fact], list[BadRow]]:
    """Return the mined facts that make a question, each once, and why the others do not.

    Published files are checked by their reader; what was mined may come from any pictures.
    """
    good: dict[tuple[str, ...], Fact] = {}
    bad = list(incomplete)
    for number, fact in rows.items():
        columns = [name for name in _KEY_COLUMNS if hasattr(fact, name)]
        key = tuple(getattr(fact, name) for name in columns)
        try:
            _check_names(fact, key)
            if key in good:
                raise BadValueError("is a duplicate of an earlier row")
            _check_labels(fact)
        except BadValueError as error:
            bad.append(BadRow(number, f"{', '.join(key)[:100]}: {error}"))
        else:
            good[key] = fact
    return list(good.values()), sorted(bad, key=lambda row: row.row)


def _check_names(fact: AnyFact, names: Sequence[str]) -> None:
    """Refuse names that cannot be asked about."""
    for name in names:
        # Names are joined with this mark in ids and objects.
        if "|" in prompt_text(name, "name"):
            raise BadValueError("a name contains '|'")
    if isinstance(fact, SizeFact | PlaceFact):
        viphy.check_pair(fact.a, fact.b)


def _check_labels(fact: AnyFact) -> None:
    """Refuse typical labels that make no question."""
    match fact:
        case SubtypeFact():
            return
        case ColorFact():
            _check_typical(fact.typical, COLORS)
            shares = dict(zip(COLORS, fact.shares, strict=False))
            has_shares = len(fact.shares) == len(COLORS)
            if not has_shares or not all(0 < shares[color] <= 1 for color in fact.typical):
                raise BadValueError("its typical colours have no shares")
            return
        case SizeFact():
            labels: tuple[str, ...] = SIZES
            counts = [fact.larger, fact.smaller]
        case PlaceFact():
            labels = PLACES
            counts = [fact.above, fact.level, fact.below]
    _check_typical(fact.typical, labels)
    # Whatever a model says to such a question would be right.
    if len(fact.typical) == len(labels):
        raise BadValueError("every label is typical")
    if min(counts) < 0:
        raise BadValueError("a count is below 0")


def _check_typical(typical: Sequence[str], labels: Sequence[str]) -> None:
    """Refuse a fact without a typical label, or with one of another kind of fact."""
    if not typical or set(typical) - set(labels):
        raise BadValueError(f"its typical labels are {list(typical)}")


def build(
    name: str,
    questions: Ask[Fact],
    rows: Sequence[Fact],
    source: Facts[Fact],
    *,
    people: Callable[[], tuple[Published, ...]] = tuple,
    training: Callable[[], Facts[Fact]] | None = None,
    more_files: Sequence[Path] = (),
    derived: str = "",
) -> Task:
    """Return a ViPhy task.

    Published figures, zero-shot and of a linear probe, are shown beside the published questions
    only. `people` gives further figures to show beside both. `training` are the facts that a linear
    probe learns from, by default those of the task itself; `derived` says how the rows were made of
    others.
    """
    data = _data_sources((*source.files, *more_files), source)
    # A derived set is ours, even if the files that it was derived from are the published ones.
    as_published = not derived and all(entry.as_published for entry in data)

    def load_splits() -> Splits:
        # Called only when a probe is trained: most tasks are asked without their training pairs.
        facts = training() if training else source
        return {
            "train": tuple(questions(facts.split("train"))),
            "validation": tuple(questions(facts.split("val"))),
        }

    task = Task(
        name=name,
        version=VERSION,
        title="",
        questions=tuple(questions(rows)),
        provenance=Provenance(
            data=tuple(data),
            notes=(derived,) if derived else tuple(source.notes),
            bad_rows=tuple(source.bad),
            citation=CATALOGUE["viphy"].citation if source.published else "",
            as_published=as_published,
        ),
        **read_template_file(name),
    )
    zero_shot: tuple[Published, ...] = ()
    linear: tuple[Published, ...] = ()
    if as_published:
        human_figures = people()
        zero_shot = task.published + human_figures
        linear = task.training.linear_published + human_figures
    probe_training = replace(task.training, linear_published=linear, load_splits=load_splits)
    return replace(task, published=zero_shot, training=probe_training)


def _data_sources(paths: Sequence[Path], source: Facts[Fact]) -> list[DataSource]:
    """Return a record of the files read, and of whether each is the published one.

    Names are relative to the published folder, as in the catalogue.
    """
    # A single table says nothing about which of the published ones it is.
    if source.folder is None:
        return [store.data_source(path, path.name, None) for path in paths]
    checksums: dict[str, str | None] = {}
    if source.published:
        checksums = {file.name: file.sha256 for file in CATALOGUE["viphy"].files}
    names = [path.relative_to(source.folder).as_posix() for path in paths]
    return [
        store.data_source(path, name, checksums.get(name))
        for path, name in zip(paths, names, strict=True)
    ]
