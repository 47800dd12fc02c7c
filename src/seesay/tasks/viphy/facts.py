"""What the ViPhy tasks share: where their facts come from, the three splits, and the record of the
files read."""

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
from seesay.questions import BadRow, DataSource, Published, Question, Splits, Task
from seesay.tasks.wording import wording

VERSION = "1"
SOURCE = "Singh, Qasemi & Chen 2023"


@dataclass(frozen=True)
class Facts(Generic[Fact]):
    """Facts, the rows that could not be used, and the files read. `folder` holds further tables of
    the same kind.

    `published` distinguishes the layout of the published files from a knowledge folder that `seesay
    mine` wrote.
    """

    rows: list[Fact]
    bad: list[BadRow]
    files: tuple[Path, ...]
    published: bool
    folder: Path | None

    def split(self, name: str) -> list[Fact]:
        """One of the three splits; a single table is all test."""
        if name not in SHARES:
            raise UserError(f"ViPhy has no split '{name}': choose one of {', '.join(SHARES)}.")
        if self.folder is not None:
            return split(self.rows)[name]
        if name != "test":
            raise UserError(
                f"{self.files[0]} is a single table without splits: for '{name}' give a folder."
            )
        return self.rows

    @property
    def notes(self) -> list[str]:
        """A note about the rows that are in no split, if there are any."""
        n = left_over(len(self.rows)) if self.folder is not None else 0
        if n:
            return [
                f"{n} of {len(self.rows):,} rows in no split: each split's size is rounded down"
            ]
        return []


def load_facts(kind: type[Fact], data: Path | None, file: str | None = None) -> Facts[Fact]:
    """The facts of a kind: from a knowledge folder, a folder in the published layout, or a single
    published table.

    Without `data` the data folder's published files are read. `file` names another table of the
    published layout.
    """
    file = file or viphy.FILES[kind]
    if data is not None and data.is_dir():
        if (data / knowledge.FILES[kind]).is_file():
            rows, bad = _usable(*knowledge.read_checked(data, kind))
            return Facts(rows, bad, (data / knowledge.FILES[kind],), published=False, folder=data)
        if not (data / file).is_file():
            raise UserError(
                f"{data} holds neither {file}, as ViPhy was published, nor "
                f"{knowledge.FILES[kind]}, as `seesay mine` "
                "writes it."
            )
    path = store.require_file("viphy", file, data)
    rows, bad = viphy.read(path, kind)
    folder = None if data is not None and data.is_file() else _root(path, file)
    return Facts(rows, bad, (path,), published=True, folder=folder)


def table_exists(kind: type[Fact], file: str, data: Path | None) -> bool:
    """Whether `load_facts` would find this table of the published layout; a file given as `data`
    stands for it."""
    if data is None:
        return store.find_file("viphy", file) is not None
    return data.is_file() or (
        (data / file).is_file() and not (data / knowledge.FILES[kind]).is_file()
    )


def sibling_file(source: Facts[Fact], file: str) -> Path | None:
    """Another file of the same published folder, if it exists."""
    path = source.folder / file if source.folder and source.published else None
    return path if path and path.is_file() else None


def _root(path: Path, file: str) -> Path:
    return path.parents[len(Path(file).parts) - 1]


def _usable(
    rows: Mapping[int, Fact], incomplete: Sequence[BadRow]
) -> tuple[list[Fact], list[BadRow]]:
    """Mined facts that make a question, each once, and why the others do not."""
    good: dict[tuple[str, ...], Fact] = {}
    bad = list(incomplete)
    for number, fact in rows.items():
        key = tuple(
            getattr(fact, name)
            for name in ("scene", "object", "a", "b", "subtype")
            if hasattr(fact, name)
        )
        try:
            for part in key:
                if "|" in prompt_text(part, "name"):
                    raise BadValueError("a name contains '|'")
            if isinstance(fact, SizeFact | PlaceFact):
                viphy.check_pair(fact.a, fact.b)
            if key in good:
                raise BadValueError("is a duplicate of an earlier row")
            _check_labels(fact)
        except BadValueError as error:
            bad.append(BadRow(number, f"{', '.join(key)[:100]}: {error}"))
        else:
            good[key] = fact
    return list(good.values()), sorted(bad, key=lambda row: row.row)


def _check_labels(fact: ColorFact | SizeFact | PlaceFact | SubtypeFact) -> None:
    if isinstance(fact, SubtypeFact):
        return
    labels = {ColorFact: COLORS, SizeFact: SIZES, PlaceFact: PLACES}[type(fact)]
    if not fact.typical or set(fact.typical) - set(labels):
        raise BadValueError(f"its typical labels are {list(fact.typical)}")
    if isinstance(fact, ColorFact):
        shares = dict(zip(COLORS, fact.shares, strict=False))
        if len(fact.shares) != len(COLORS) or not all(
            0 < shares[color] <= 1 for color in fact.typical
        ):
            raise BadValueError("its typical colours have no shares")
        return
    if len(fact.typical) == len(labels):
        raise BadValueError("every label is typical")
    if isinstance(fact, SizeFact):
        counts = [fact.larger, fact.smaller]
    else:
        counts = [fact.above, fact.level, fact.below]
    if min(counts) < 0:
        raise BadValueError("a count is below 0")


def build(
    name: str,
    questions: Callable[[Sequence[Fact]], list[Question]],
    rows: Sequence[Fact],
    source: Facts[Fact],
    *,
    people: Callable[[], tuple[Published, ...]] = tuple,
    training: Callable[[], Facts[Fact]] | None = None,
    more_files: Sequence[Path] = (),
    derived: str = "",
) -> Task:
    """A ViPhy task. Published figures, zero-shot and of a linear probe, are shown beside the
    published questions only.

    `people` gives further figures to show beside both. `training` are the facts that a linear probe
    learns from, by default those of the task itself; `derived` says how the rows were made of
    others.
    """
    data = _data_sources((*source.files, *more_files), source)
    as_published = not derived and all(entry.as_published for entry in data)

    def load_splits() -> Splits:
        train_on = training() if training else source
        train, validation = (tuple(questions(train_on.split(name))) for name in ("train", "val"))
        return {"train": train, "validation": validation}

    task = Task(
        name=name,
        version=VERSION,
        title="",
        questions=tuple(questions(rows)),
        citation=CATALOGUE["viphy"].citation if source.published else "",
        bad_rows=tuple(source.bad),
        data=tuple(data),
        data_notes=(derived,) if derived else tuple(source.notes),
        as_published=as_published,
        load_splits=load_splits,
        **wording(name),
    )
    if not as_published:
        return replace(task, published=(), linear_published=())
    of_people = people()
    return replace(
        task,
        published=task.published + of_people,
        linear_published=task.linear_published + of_people,
    )


def _data_sources(paths: Sequence[Path], source: Facts[Fact]) -> list[DataSource]:
    """The files read, and whether each is the published one."""
    if source.published:
        published = {file.name: file.sha256 for file in CATALOGUE["viphy"].files}
    else:
        published = {}
    names = [
        path.relative_to(source.folder).as_posix() if source.folder else path.name for path in paths
    ]
    return [
        store.data_source(path, name, published.get(name) if source.folder else None)
        for path, name in zip(paths, names, strict=True)
    ]
