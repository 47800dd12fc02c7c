"""Counts of all parts, grouped by pair: statements of DuckDB, which holds no more in memory than it
may.

DuckDB groups integers several times as fast as texts. So words get numbers, the same in all parts,
and a pair in a scene is one integer. It groups what fits into memory more than twice as fast as
what does not. So counts are divided by pair into files that are grouped one by one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seesay.errors import UserError
from seesay.mining.observations import (
    COUNTS,
    MAX_EXAMPLES,
    SMALLEST_ID,
    WORDS,
    WORDS_NOTE,
    group_starts,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH = 1 << 16
"""Counts in memory."""
SHARES = 17
"""Files into which counts are divided. By a prime number, whatever numbers are frequent."""
WORD_BITS = 21
"""Bits of a name or a scene: three of them are one integer."""
_PAIR = f"((scenes.number << {WORD_BITS} | firsts.number) << {WORD_BITS}) | seconds.number"


def group_pairs(
    connection: DuckDBPyConnection,
    tables: Sequence[Path],
    columns: Sequence[str],
    min_seen: int,
    min_relation: int,
) -> pa.Array:
    """Write the frequent pairs of all parts into the temporary table `pairs`.

    Returns the words in alphabetical order: the number of a pair, by which pairs are sorted, is
    that of its `scene`, of `a` and of `b` among them, WORD_BITS each.

    `tables`: the counts of each part.
    `columns`: what the count of each label is called.
    `min_seen`: how often a pair must be seen in a scene.
    `min_relation`: how often each of its relations must be seen, to count at all.
    """
    words = _all_words(tables)
    connection.register("words", pa.table({"number": range(len(words)), "word": words}))
    names = ", ".join(columns)
    connection.execute(
        f"""
        CREATE OR REPLACE TEMPORARY TABLE frequent
        (pair BIGINT, {", ".join(f"{name} BIGINT" for name in columns)}, label INTEGER)
        """
    )
    # Sums of floating numbers take half the memory of DuckDB's sums of integers, which have 128
    # bits, and are exact below 2 ** 53.
    sums = [f"sum({name}::DOUBLE)::BIGINT AS {name}" for name in columns]
    frequent_sums = [f"if({name} < $min_relation, 0, {name}) AS {name}" for name in columns]
    query = f"""
        INSERT INTO frequent
        SELECT *, list_position([{names}], greatest({names})) - 1 FROM (
            SELECT pair, {", ".join(frequent_sums)}
            FROM (SELECT pair, {", ".join(sums)} FROM label_counts GROUP BY pair)
        ) WHERE {" + ".join(columns)} >= $min_seen
    """
    minima = {"min_seen": max(min_seen, 1), "min_relation": min_relation}
    schema = pa.schema([("pair", pa.int64()), *((name, pa.int32()) for name in columns)])
    [(threads,)] = connection.sql("SELECT current_setting('threads')").fetchall()
    with _divide(tables, words, schema, threads) as shares:
        for share in shares:
            with pa.OSFile(str(share)) as file:
                connection.register("label_counts", pa.ipc.open_stream(file))
                connection.execute(query, minima)
    _find_examples(connection, tables)
    connection.execute(
        "CREATE OR REPLACE TEMPORARY VIEW pairs AS FROM frequent JOIN examples USING (pair)"
    )
    return words


def _all_words(tables: Sequence[Path]) -> pa.Array:
    """Return the names and scenes of all tables in alphabetical order."""
    words: set[str] = set()
    for table in tables:
        words.update(json.loads(_note(table, WORDS_NOTE)))
    if len(words) > 1 << WORD_BITS:
        raise UserError(
            f"The pictures have more than {1 << WORD_BITS:,} names and kinds of scenes, which "
            "cannot be counted together: mine fewer pictures at a time."
        )
    return pa.array(sorted(words), pa.string())


@contextmanager
def _divide(
    tables: Sequence[Path], words: pa.Array, schema: pa.Schema, threads: int
) -> Iterator[list[Path]]:
    """Write how often each label was counted to a few files, all of a pair to one of them; yield
    the files."""
    folder = tables[0].parent / "shares"
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.arrow" for number in range(SHARES)]
    try:
        with ExitStack() as files:
            opened = [files.enter_context(path.open("wb")) for path in paths]
            writers = [files.enter_context(pa.ipc.new_stream(file, schema)) for file in opened]
            lock = Lock()

            def divide(table: Path) -> None:
                for counts in _label_counts(table, words, schema):
                    share = counts.column("pair").to_numpy() % SHARES
                    sorted_counts = counts.take(
                        pa.array(np.argsort(share.astype(np.uint8), kind="stable"))
                    )
                    ends = np.bincount(share, minlength=SHARES).cumsum()
                    start = 0
                    with lock:
                        for writer, end in zip(writers, ends, strict=True):
                            writer.write_batch(sorted_counts.slice(start, end - start))
                            start = end

            pool = files.enter_context(ThreadPoolExecutor(threads))
            for _ in pool.map(divide, tables):
                pass
        yield paths
    finally:
        shutil.rmtree(folder)


def _label_counts(table: Path, words: pa.Array, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield how often each label was counted for each pair, a batch of a table at a time."""
    labels = range(len(schema) - 1)
    with pq.ParquetFile(table) as file:
        for batch in file.iter_batches(BATCH, columns=COUNTS.names[:-1], use_threads=False):
            pairs = np.zeros(len(batch), dtype=np.int64)
            for name in WORDS:
                column = batch.column(name)
                numbers = pc.index_in(column.dictionary, words).to_numpy()
                pairs = pairs << WORD_BITS | numbers[column.indices.to_numpy()]
            label = batch.column("label").to_numpy()
            count = batch.column("count").to_numpy()
            # A part has the labels of a pair one after another.
            starts = group_starts(pairs)
            sums = [np.add.reduceat(np.where(label == i, count, 0), starts) for i in labels]
            yield pa.record_batch([pairs[starts], *sums], schema=schema)


def _find_examples(connection: DuckDBPyConnection, tables: Sequence[Path]) -> None:
    """Write the examples of the frequent pairs into the temporary table `examples`: the pictures
    with the smallest ids that show a pair's most frequent label.

    Parts are read in the order of their smallest ids, until those that remain can have no smaller
    one: where ids rise from part to part, a few parts are enough.
    """
    connection.execute(
        """
        CREATE OR REPLACE TEMPORARY TABLE incomplete AS SELECT pair, label FROM frequent;
        CREATE OR REPLACE TEMPORARY TABLE ids (pair BIGINT, id VARCHAR);
        """
    )
    part_ids = sorted((_note(path, SMALLEST_ID), path) for path in tables)
    start = 0
    while start < len(part_ids):
        # Each time twice as many, since few pairs are as rare as that.
        end = 2 * start + 1
        paths = [str(path) for _, path in part_ids[start:end]]
        connection.execute(
            f"""
            INSERT INTO ids SELECT pair, id FROM (
                SELECT pair, unnest(examples) AS id FROM (
                    SELECT {_PAIR} AS pair, label, examples
                    FROM read_parquet($paths) AS counts
                    JOIN words AS scenes ON scenes.word = counts.scene
                    JOIN words AS firsts ON firsts.word = counts.a
                    JOIN words AS seconds ON seconds.word = counts.b
                ) JOIN incomplete USING (pair, label)
            ) QUALIFY row_number() OVER (PARTITION BY pair ORDER BY id) <= {MAX_EXAMPLES}
            """,
            {"paths": paths},
        )
        start = end
        if start < len(part_ids):
            query = f"""
                DELETE FROM incomplete WHERE pair IN (
                    SELECT pair FROM ids WHERE id < $smallest
                    GROUP BY pair HAVING count(*) >= {MAX_EXAMPLES}
                )
            """
            connection.execute(query, {"smallest": part_ids[start][0]})
            if not connection.execute("FROM incomplete LIMIT 1").fetchall():
                break
    following = [f"lead(id, {i}) OVER by_id" for i in range(1, MAX_EXAMPLES)]
    connection.execute(
        f"""
        CREATE OR REPLACE TEMPORARY TABLE examples AS
        SELECT pair, [id, {", ".join(following)}][:count(*) OVER (PARTITION BY pair)] AS examples
        FROM ids WINDOW by_id AS (PARTITION BY pair ORDER BY id)
        QUALIFY row_number() OVER by_id = 1
        """
    )


def _note(path: Path, name: str) -> str:
    """Return what the file of a table of counts says of it under this name."""
    return str(pq.read_metadata(path).metadata[name.encode()], "utf-8")
