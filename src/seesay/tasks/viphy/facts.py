"""What the ViPhy tasks share: where their facts come from, the three splits, and a note of the files read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from seesay.data import knowledge, store, viphy
from seesay.data.catalogue import CATALOGUE
from seesay.data.jsonl import BadValueError, prompt_text
from seesay.data.knowledge import COLORS, PLACES, SIZES, ColorFact, Fact, PlaceFact, SizeFact, SubtypeFact
from seesay.data.splits import SHARES, left_over, split
from seesay.errors import UserError
from seesay.questions import BadRow, Published, Question, Task, Template

AS_PUBLISHED = "as published"
VERSION = "1"
SOURCE = "Singh, Qasemi & Chen 2023"
SPLITS = tuple(SHARES)


@dataclass(frozen=True)
class Facts(Generic[Fact]):
    """Facts, the rows that could not be used, and the files read. `folder` holds further tables of the same kind.

    `published` tells the layout of the published files from a knowledge folder that `seesay mine` wrote.
    """

    rows: list[Fact]
    bad: list[BadRow]
    files: tuple[Path, ...]
    published: bool
    folder: Path | None

    def part(self, name: str) -> list[Fact]:
        """One of the three splits; a table of its own is all test."""
        if name not in SPLITS:
            raise UserError(f"ViPhy has no split '{name}': choose one of {', '.join(SPLITS)}.")
        if self.folder is not None:
            return split(self.rows)[name]
        if name != "test":
            raise UserError(f"{self.files[0]} is one table and is asked as a whole: for '{name}' give a folder.")
        return self.rows

    @property
    def left_over(self) -> list[str]:
        """A note of the rows that are in no split, where there are some."""
        n = left_over(len(self.rows)) if self.folder is not None else 0
        rule = AS_PUBLISHED if self.published else "as ViPhy's"
        return [f"{n} of {len(self.rows):,} rows in no split: each is rounded down ({rule})"] if n else []


def facts(kind: type[Fact], data: Path | None, file: str | None = None) -> Facts[Fact]:
    """The facts of a kind: from a knowledge folder, a folder in the published layout, or a single published table.

    Without `data` the data folder's published files are read. `file` names another table of the published layout.
    """
    file = file or viphy.FILES[kind]
    if data is not None and data.is_dir():
        if (data / knowledge.FILES[kind]).is_file():
            rows, bad = _usable(*knowledge.read_checked(data, kind))
            return Facts(rows, bad, (data / knowledge.FILES[kind],), published=False, folder=data)
        if not (data / file).is_file():
            raise UserError(
                f"{data} holds neither {file}, as ViPhy was published, nor {knowledge.FILES[kind]}, as `seesay mine` "
                "writes it."
            )
    path = store.require_file("viphy", file, data)
    rows, bad = viphy.read(path, kind)
    folder = None if data is not None and data.is_file() else _root(path, file)
    return Facts(rows, bad, (path,), published=True, folder=folder)


def there(kind: type[Fact], file: str, data: Path | None) -> bool:
    """Whether `facts` would find this table of the published layout; a file that is named stands for it."""
    if data is None:
        return store.find_file("viphy", file) is not None
    return data.is_file() or ((data / file).is_file() and not (data / knowledge.FILES[kind]).is_file())


def beside(source: Facts[Fact], file: str) -> Path | None:
    """Another file of the same published folder, if it is there."""
    path = source.folder / file if source.folder and source.published else None
    return path if path and path.is_file() else None


def _root(path: Path, file: str) -> Path:
    return path.parents[len(Path(file).parts) - 1]


def _usable(rows: Mapping[int, Fact], lacking: Sequence[BadRow]) -> tuple[list[Fact], list[BadRow]]:
    """Mined facts that make a question, each once, and why the others do not."""
    good: dict[tuple[str, ...], Fact] = {}
    bad = list(lacking)
    for number, fact in rows.items():
        key = tuple(getattr(fact, name) for name in ("scene", "object", "a", "b", "subtype") if hasattr(fact, name))
        try:
            for part in key:
                if "|" in prompt_text(part, "name"):
                    raise BadValueError("a name holds '|'")
            if isinstance(fact, SizeFact | PlaceFact):
                viphy.pair(fact.a, fact.b)
            if key in good:
                raise BadValueError("stood in an earlier row")
            _must_say_something(fact)
        except BadValueError as error:
            bad.append(BadRow(number, f"{', '.join(key)[:100]}: {error}"))
        else:
            good[key] = fact
    return list(good.values()), sorted(bad, key=lambda row: row.row)


def _must_say_something(fact: ColorFact | SizeFact | PlaceFact | SubtypeFact) -> None:
    if isinstance(fact, SubtypeFact):
        return
    labels = {ColorFact: COLORS, SizeFact: SIZES, PlaceFact: PLACES}[type(fact)]
    if not fact.typical or set(fact.typical) - set(labels):
        raise BadValueError(f"its typical labels are {list(fact.typical)}")
    if isinstance(fact, ColorFact):
        shares = dict(zip(COLORS, fact.shares, strict=False))
        if len(fact.shares) != len(COLORS) or not all(0 < shares[color] <= 1 for color in fact.typical):
            raise BadValueError("its typical colours have no shares")
        return
    if len(fact.typical) == len(labels):
        raise BadValueError("every label is typical")
    counts = (fact.larger, fact.smaller) if isinstance(fact, SizeFact) else (fact.above, fact.level, fact.below)
    if min(counts) < 0:
        raise BadValueError("a count is below 0")


def build(
    name: str,
    title: str,
    questions: Sequence[Question],
    source: Facts[Fact],
    *,
    templates: tuple[Template, ...],
    metrics: tuple[str, ...],
    neutral: dict[str, str],
    published: Callable[[], tuple[Published, ...]] | tuple[Published, ...] = (),
    more: Sequence[Path] = (),
    notes: Sequence[str] = (),
) -> Task:
    """A ViPhy task. Published figures stand beside the questions of the published files only.

    `more` are further files that were read, `notes` what else was done to make these questions.
    """
    files: list[str] = _provenance((*source.files, *more), source)
    same = _as_published((*files, *notes))
    return Task(
        name=name,
        version=VERSION,
        title=title,
        templates=templates,
        questions=tuple(questions),
        metrics=metrics,
        neutral=neutral,
        published=() if not same else published() if callable(published) else published,
        citation=CATALOGUE["viphy"].citation if source.published else "",
        bad_rows=tuple(source.bad),
        data=(*files, *notes),
    )


def as_published(task: Task) -> bool:
    """Whether a task asks what the published files hold, no more and no less."""
    return bool(task.data) and _as_published(task.data)


def _as_published(notes: Sequence[str]) -> bool:
    return all(note.endswith(f"({AS_PUBLISHED})") for note in notes)


def zero_shot_rows(
    bert: float, roberta: float, visual_bert: float, unified_qa: float, *, headline: str, part: str | None = None
) -> tuple[Published, ...]:
    """The paper's zero-shot figures: by the whole vocabulary, on a part of the questions where one is named, and of
    UnifiedQA, which chooses, by the task's headline."""
    source = f"{SOURCE}, zero-shot"
    filled = {"BERT-large": bert, "RoBERTa-large": roberta, "VisualBERT": visual_bert}
    return (
        *(Published(model, "vocabulary_accuracy", value, source, slice=part) for model, value in filled.items()),
        Published("UnifiedQA-large", headline, unified_qa, f"{source}, by choice"),
    )


def linear_rows(
    metrics: Sequence[str], table: Sequence[tuple[str, *tuple[float | None, ...]]]
) -> dict[str, tuple[Published, ...]]:
    """The published figures of the paper's linear probe, by metric; a cell that the paper leaves empty has none."""
    return {
        metric: tuple(
            Published(model, metric, value, SOURCE if model.startswith("people") else f"{SOURCE}, linear probe")
            for model, *values in table
            if (value := values[column]) is not None
        )
        for column, metric in enumerate(metrics)
    }


def _provenance(paths: Sequence[Path], source: Facts[Fact]) -> list[str]:
    """A note a file read: its digest, and whether that is the published one's."""
    known = {file.name: file.sha256 for file in CATALOGUE["viphy"].files} if source.published else {}
    notes = []
    for path in paths:
        name = path.relative_to(source.folder).as_posix() if source.folder else path.name
        digest = store.checksum(path)
        same = source.folder is not None and digest == known.get(name, "")
        notes.append(f"{name} sha256:{digest[:16]} ({AS_PUBLISHED if same else 'not verified'})")
    return notes
