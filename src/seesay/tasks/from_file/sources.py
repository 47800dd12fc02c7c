"""The rows of a task file: from its folder, the data folder, the Hub, or a file given instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seesay.data import store
from seesay.data.task_files import hub, rules, tables
from seesay.data.task_files.joins import join_columns
from seesay.data.task_files.reader import Declaration
from seesay.data.task_files.row_rules import Join, Spread
from seesay.data.task_files.schema import TaskFile
from seesay.data.task_files.tables import Table
from seesay.data.task_files.texts import no_column
from seesay.data.task_files.yaml_text import Steps
from seesay.errors import UserError
from seesay.questions import BadRow, DataSource
from seesay.tasks import TASK_FILES


class RowSources:
    """The rows by split, each read once.

    `notes` say where they come from, and `picture_folder` is where their pictures are.
    """

    def __init__(
        self,
        declaration: Declaration,
        file: TaskFile,
        data: Path | None,
    ) -> None:
        self.declaration = declaration
        self.file = file
        self.data = data
        self.picture_folder = declaration.folder
        self.notes: list[str] = []
        self.names_by_path: dict[Path, str] = {}
        self.tables: dict[str, Table] = {}

    def table(self, split: str) -> Table | None:
        """Return the rows of a split with all rules applied.

        None where a rule names a column that does not exist.
        """
        if split in self.tables:
            return self.tables[split]
        table = self._read(split)
        if not table.rows:
            self.refuse_unusable(table.bad)
        for number, rule in enumerate(self.file.rules):
            # Checked one by one: a rule may add the columns that the next one refers to.
            unknown: list[tuple[Steps, str]] = [
                (("rules", number, place), message)
                for place, message in rules.unknown_in(rule, table.columns)
            ]
            if self.report_unknown(unknown):
                return None
            if isinstance(rule, Join):
                joined = self._join(rule, number, table, split)
                if joined is None:
                    return None
                table = joined
            else:
                table = rules.apply(rule, table)
        self.tables[split] = table
        return table

    def _join(
        self,
        rule: Join,
        number: int,
        table: Table,
        split: str,
    ) -> Table | None:
        """Return the rows of a split with the columns of another file.

        None where that file lacks a column that the rule names.
        """
        if isinstance(rule.join, str):
            name = rule.join
        else:
            names = {str(part): file for part, file in rule.join.items()}
            if split not in names:
                raise UserError(f"'join' has no file for the rows of '{split}'.")
            name = names[split]
        path = self._path(name)
        # A file given in place of the rows has its labels beside it.
        if path == self.data:
            path = tables.inside(path.parent, name)
        self.names_by_path[path] = name
        other = tables.read_file(path, rule.read)
        unknown: list[tuple[Steps, str]] = []
        for field, columns in (("on", rule.keys.values()), ("take", rule.take)):
            for column in columns:
                if column not in other.columns:
                    message = f"{name}: {no_column(column, other.columns)}"
                    unknown.append((("rules", number, field), message))
        if self.report_unknown(unknown):
            return None
        return join_columns(rule, table, other, name)

    def refuse_unusable(self, bad: Sequence[BadRow]) -> None:
        """Refuse rows given by a user of which none can be used."""
        if self.data is not None and bad:
            raise UserError(
                f"{self.data} holds no row that can be used ({bad[0]}). Is it the right file?"
            )

    def report_unknown(self, unknown: Sequence[tuple[Steps, str]]) -> bool:
        """Report columns that do not exist, and return whether there were any.

        Of rows given by a user the message names the file: the task file is not at fault.
        """
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
        """Read the rows of a split, of one file, of several, or of the task file itself."""
        source = self.file.sources[split]
        if isinstance(source, str):
            table = self._read_source(source, split)
            # A row's number alone does not say which of several files it is in.
            if len(self.file.sources) > 1:
                table.bad = [replace(row, file=source) for row in table.bad]
            return table
        files = [file for file in source if isinstance(file, str)]
        if files:
            parts = [tables.name_rows(self._read_source(file, split), file) for file in files]
            return tables.join_tables(parts)
        rows = [row for row in source if not isinstance(row, str)]
        return tables.read_inline(rows, self.file.read)

    def _read_source(self, source: str, split: str) -> Table:
        """Read one source of rows, a file or a data set on the Hub, and note where it is."""
        pictures = self.file.picture is not None
        if source.startswith("hf:"):
            split_note = "" if "#" in source else f", split {split}"
            self.notes.append(f"rows of {source}{split_note}")
            table = tables.read_hub(
                source,
                split,
                self.file.read,
                folder=self.declaration.folder,
                pictures=pictures,
            )
        else:
            path = self._path(source)
            self.names_by_path[path] = source
            table = tables.read_file(path, self.file.read, pictures=pictures)
        if table.pictures & self._picture_columns():
            self.picture_folder = hub.picture_folder()
        return table

    def _picture_columns(self) -> set[str]:
        """Return the columns that questions may have their pictures from."""
        column = self.file.picture or ""
        spreads = [rule.spread for rule in self.file.rules if isinstance(rule, Spread)]
        return {column}.union(*(spread.get(column, ()) for spread in spreads))

    def _path(self, name: str) -> Path:
        """Return where a file of rows is: never outside the folder it belongs to."""
        if self.file.dataset:
            path = store.require_file(self.file.dataset, name, self.data)
            # A published file is as deep in its data set as its name says, and pictures are below
            # that root; a user's file of another name has its pictures beside it.
            if path.name == Path(name).name:
                self.picture_folder = path.parents[len(Path(name).parts) - 1]
            else:
                self.picture_folder = path.parent
            return path
        if self.data is None:
            return tables.inside(self.declaration.folder, name)
        if not self.data.exists():
            raise UserError(f"There is no file or folder {self.data}.")
        if self.data.is_dir():
            self.picture_folder = self.data
            path = tables.inside(self.data, name)
            if not path.exists():
                raise UserError(
                    f"There is no file {path}. '{self.declaration.name}' has rows of its own: "
                    f"leave out --data, or give a folder that holds {name}."
                )
            return path
        self.picture_folder = self.data.parent
        return self.data

    def other_splits(self) -> list[str]:
        """Return the splits besides `test` that have rows of their own.

        A file given in place of the rows is asked, and trains nothing.
        """
        if self.data is not None and self.data.is_file():
            return []
        return [name for name in self.file.sources if name != "test"]

    def provenance(self) -> tuple[tuple[DataSource, ...], bool]:
        """Return the files that the task was built from, and whether all are as published.

        There are none for embedded rows, which are as published by themselves.
        """
        if self.declaration.folder == TASK_FILES and self.data is None and not self.file.dataset:
            return (), True
        checksums: dict[str, str | None] = {}
        if self.file.dataset:
            files = store.get_dataset(self.file.dataset).files
            checksums = {file.name: file.sha256 for file in files}
        sources = [
            store.data_source(path, path.name, checksums.get(name))
            for path, name in self.names_by_path.items()
        ]
        as_published = bool(sources) and all(source.as_published for source in sources)
        return tuple(sources), as_published
