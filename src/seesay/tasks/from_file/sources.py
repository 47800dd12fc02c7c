"""Where the rows of a task file come from: its folder, the data folder, the Hub, or rows given in
their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seesay.data import store
from seesay.data.task_files import hub, rules, tables
from seesay.data.task_files.reader import Declaration
from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.tables import Table
from seesay.data.task_files.yaml_text import Steps
from seesay.errors import UserError
from seesay.questions import BadRow, DataSource
from seesay.tasks import TASK_FILES


class RowSources:
    """The rows by split, each read once; `notes` say where from, `picture_folder` is where their
    pictures are."""

    def __init__(self, declaration: Declaration, file: TaskFile, data: Path | None) -> None:
        self.declaration = declaration
        self.file = file
        self.data = data
        self.picture_folder = declaration.folder
        self.notes: list[str] = []
        self.used: dict[Path, str] = {}
        self.tables: dict[str, Table] = {}

    def table(self, split: str) -> Table | None:
        """The rows of a split with all rules applied, or None where a rule names a column that does
        not exist."""
        if split not in self.tables:
            table = self._read(split)
            if not table.rows:
                self.refuse_unusable(table.bad)
            for number, rule in enumerate(self.file.rules):
                unknown = rules.unknown_in(rule, table.columns)
                if self.report_unknown(
                    [(("rules", number, place), message) for place, message in unknown]
                ):
                    return None
                table = rules.apply(rule, table)
            self.tables[split] = table
        return self.tables[split]

    def refuse_unusable(self, bad: Sequence[BadRow]) -> None:
        """Refuse rows given by a user of which none can be used."""
        if self.data is not None and bad:
            raise UserError(
                f"{self.data} holds no row that can be used ({bad[0]}). Is it the right file?"
            )

    def report_unknown(self, unknown: Sequence[tuple[Steps, str]]) -> bool:
        """Report columns that do not exist, and whether there were any; rows given by a user are
        named."""
        if unknown and self.data is not None:
            messages = list(dict.fromkeys(message for _, message in unknown))
            raise UserError(
                f"{self.data} does not fit the task '{self.declaration.name}': "
                f"{'; '.join(messages)}."
            )
        for place, message in unknown:
            self.declaration.add(message, *place)
        return bool(unknown)

    def _read(self, split: str) -> Table:
        source = self.file.sources[split]
        if isinstance(source, str):
            table = self._read_one(source, split)
            if len(self.file.sources) > 1:
                table.bad = [replace(row, file=source) for row in table.bad]
            return table
        files = [file for file in source if isinstance(file, str)]
        if files:
            return tables.joined(
                [tables.named(self._read_one(file, split), file) for file in files]
            )
        return tables.read_inline(
            [row for row in source if not isinstance(row, str)], self.file.read
        )

    def _read_one(self, source: str, split: str) -> Table:
        pictures = self.file.picture is not None
        if source.startswith("hf:"):
            self.notes.append(f"rows of {source}{'' if '#' in source else f', split {split}'}")
            table = tables.read_hub(source, split, self.file.read, pictures=pictures)
        else:
            path = self._path(source)
            self.used[path] = source
            table = tables.read_file(path, self.file.read, pictures=pictures)
        if self.file.picture in table.pictures:
            self.picture_folder = hub.picture_folder()
        return table

    def _path(self, name: str) -> Path:
        """Where a file of rows is: never outside the folder it belongs to."""
        if self.file.dataset:
            path = store.require_file(self.file.dataset, name, self.data)
            if path.name == Path(name).name:
                self.picture_folder = path.parents[len(Path(name).parts) - 1]
            else:
                self.picture_folder = path.parent
            return path
        if self.data is not None:
            if not self.data.exists():
                raise UserError(f"There is no file or folder {self.data}.")
            if self.data.is_dir():
                self.picture_folder = self.data
            else:
                self.picture_folder = self.data.parent
            if self.data.is_dir():
                return tables.inside(self.data, name)
            return self.data
        return tables.inside(self.declaration.folder, name)

    def other_splits(self) -> list[str]:
        """The splits that have rows of their own; a file given in place of the rows is asked, and
        trains nothing."""
        is_one_file = self.data is not None and self.data.is_file()
        if is_one_file:
            return []
        return [name for name in self.file.sources if name != "test"]

    def provenance(self) -> tuple[tuple[DataSource, ...], bool]:
        """The files that the task was built from, none for embedded rows, and whether all are as
        published."""
        if self.declaration.folder == TASK_FILES and self.data is None and not self.file.dataset:
            return (), True
        published: dict[str, str | None] = {}
        if self.file.dataset:
            published = {
                each.name: each.sha256 for each in store.get_dataset(self.file.dataset).files
            }
        sources = [
            store.data_source(path, path.name, published.get(name))
            for path, name in self.used.items()
        ]
        return tuple(sources), bool(sources) and all(source.as_published for source in sources)
