"""`seesay relations`: what a language model knows of above, under, in front of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seesay.cli.options import AllowPickle, BatchSize, Device, Family, Revision, TrustRemoteCode

if TYPE_CHECKING:
    from seesay.models import Model
    from seesay.relations.contexts import Context, Corpus
    from seesay.relations.correlation import Judged
    from seesay.relations.evaluate import Row
    from seesay.relations.lexicon import Lexicon
    from seesay.relations.published import Again
    from seesay.relations.pvectors import Matrix

app = typer.Typer(
    help="Spatial relations: contexts in captions, P-vectors of any scoring model, and their tests.",
    no_args_is_help=True,
)

Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="Captions, one a line or Flickr's tokens; .gz too.")]
Own = Annotated[Path | None, typer.Option("--relations", help="A list of relations of your own, one a line.")]
Minimum = Annotated[int, typer.Option(min=1, help="Contexts that a relation needs.")]
HeldOut = Annotated[float, typer.Option(min=0, max=0.99, help="Share of the pictures held out.")]
Seed = Annotated[int, typer.Option(help="Seed of what is held out and drawn.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that `seesay relations matrix` wrote.")]
VectorFiles = Annotated[
    list[Path] | None, typer.Option("--vectors", help="Word vectors beside: GloVe or word2vec. Repeat for more.")
]
HumanFiles = Annotated[
    list[Path] | None,
    typer.Option("--human", help="People's figures: a table of pairs, a square one, or a folder of `judge export`."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Silent but for errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@app.command()
def find(
    files: Files, relations: Own = None, minimum: Minimum = 100, held_out: HeldOut = 0.1, seed: Seed = 0,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Count the contexts of every relation: captions that hold it and no other."""
    from seesay.cli.output import out, print_json, table
    from seesay.relations.contexts import collect

    corpus = collect(files, _lexicon(relations), held_out=held_out, seed=seed)
    rows = _counts(corpus)
    if as_json:
        listed = [dict(zip(("relation", "contexts", "held_out", "occurrences"), row, strict=True)) for row in rows]
        print_json({**_summary(corpus), "relations": listed})
        return
    out.print(table(("relation", ">contexts", ">of them held out", ">occurrences"), rows))
    many = sum(row[1] >= minimum for row in rows)
    out.print(
        f"{corpus.captions:,} captions: {corpus.without:,} hold no relation, {corpus.several:,} several, "
        f"{corpus.repeated:,} stand there word for word before (each counts once). "
        f"{many} of {len(rows)} relations have {minimum} contexts or more.",
        soft_wrap=True,
    )
    _tell_bad(corpus)


@app.command()
def matrix(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Any model that scores texts, as in `seesay probe`.")],
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the matrix; begun before, it goes on.")],
    relations: Own = None,
    minimum: Minimum = 100,
    most: Annotated[int, typer.Option(min=1, help="Contexts of one relation at most, drawn by the seed.")] = 500,
    part: Annotated[str, typer.Option(help="Whose contexts: all, train or held-out.")] = "all",
    held_out: HeldOut = 0.1,
    level: Annotated[str, typer.Option(help="Perplexity by token (as published) or by sentence.")] = "token",
    batch_size: BatchSize = None,
    device: Device = "auto",
    family: Family = None,
    revision: Revision = None,
    trust_remote_code: TrustRemoteCode = False,
    allow_pickle: AllowPickle = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Perplexity of every relation in every relation's contexts, and the P-vectors made from it."""
    from seesay.cli.output import err, out, print_json, progress_bar
    from seesay.errors import UserError
    from seesay.models import ModelOptions, locate
    from seesay.relations import pvectors
    from seesay.relations.contexts import WARNINGS, collect, enough, readable, seen_in_training
    from seesay.relations.lexicon import spellings
    from seesay.relations.matrix import LEVELS, perplexity_matrix
    from seesay.relations.vectors import lstm_embeddings, write_vectors

    _one_of("--part", part, ("all", "train", "held-out"))
    _one_of("--level", level, LEVELS)
    options = ModelOptions(
        batch_size=batch_size, device=device, family=family, revision=revision,
        trust_remote_code=trust_remote_code, allow_pickle=allow_pickle,
    )  # fmt: skip
    load = locate(model, options)
    corpus = collect(files, _lexicon(relations), held_out=held_out, seed=seed)
    loaded = load()
    if "score" not in loaded.abilities:
        raise UserError(f"'{model}' cannot score texts: give a causal or masked model, an LSTM or an ARPA file.")
    usable, left_out = readable(corpus.part(part), loaded)
    contexts = enough(usable, minimum, most, seed)
    words, spelt, unknown = spellings(loaded, corpus.words(minimum))
    if unknown and not quiet:
        err.print(f"seesay: '{model}' does not know {', '.join(unknown)}: no row for them.", soft_wrap=True)
    if left_out and not quiet:
        err.print(f"seesay: {left_out:,} contexts left out: '{model}' does not know all their words.", soft_wrap=True)
    seen = seen_in_training(Path(model).expanduser(), corpus, part)
    if seen in WARNINGS and not quiet:
        err.print(f"seesay: {WARNINGS[seen]}", soft_wrap=True)
    with progress_bar("contexts", unit="contexts", quiet=quiet or as_json) as advance:
        made = perplexity_matrix(loaded, contexts, spelt, level=level, progress=advance, folder=output / "columns")
    found = pvectors.Matrix(words, tuple(contexts), made)
    about = _about(
        model,
        loaded,
        contexts,
        unknown,
        corpus,
        part=part,
        held_out=held_out,
        level=level,
        seed=seed,
        seen=seen,
        left_out=left_out,
    )
    pvectors.write(output, found, about)
    embeddings = lstm_embeddings(Path(model).expanduser(), words, spelt)
    if embeddings is not None:
        write_vectors(output / pvectors.EMBEDDINGS, embeddings)
    if as_json:
        print_json({**about, "folder": str(output), "words": list(words)})
    elif not quiet:
        out.print(f"{len(words)} words in the contexts of {len(contexts)} relations: {output}", soft_wrap=True)
        out.print(f"seesay relations test {output}", soft_wrap=True)
        _tell_bad(corpus)


@app.command("test")
def run_tests(
    folder: Folder,
    vectors: VectorFiles = None,
    human: HumanFiles = None,
    pair: Annotated[list[str] | None, typer.Option(help="Two relations by comma: do they fall together?")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Analogies, odd one out, correlation with people, and which relations fall together."""
    from seesay.cli.output import out, print_json, table
    from seesay.relations import pvectors
    from seesay.relations.clusters import together
    from seesay.report.pages.relations import sentences, test_table

    _require()
    found, about = pvectors.read(folder)
    rows = _rows(folder, vectors or [], human or [], seed)
    near = together(pvectors.p_vectors(found), _pairs(pair, found))
    if as_json:
        print_json(
            {
                "about": about,
                "rows": [_row_json(row) for row in rows],
                "pairs": [{**asdict(one), "alone": one.alone} for one in near],
            }
        )
        return
    made = test_table(rows)
    out.print(table(list(made.header), [[str(cell) for cell in row] for row in made.rows]))
    out.print(sentences(near).replace("\n\n", "\n"), soft_wrap=True)


@app.command()
def page(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")],
    vectors: VectorFiles = None,
    human: HumanFiles = None,
    pair: Annotated[list[str] | None, typer.Option(help="Two relations by comma: do they fall together?")] = None,
    clusters: Annotated[int, typer.Option(help="k of k-means; as published 30, at most half of the words.")] = 30,
    restarts: Annotated[int, typer.Option(min=1, help="Restarts of k-means.")] = 1000,
    seed: Seed = 0,
) -> None:
    """A page with the heat map in cluster order, the tree and the tests."""
    from seesay.cli.output import out
    from seesay.relations import pvectors
    from seesay.relations.clusters import k_means
    from seesay.report.pages.relations import relations_page

    _require()
    found, about = pvectors.read(folder)
    rows = _rows(folder, vectors or [], human or [], seed)
    k = max(1, min(clusters, len(found.words) // 2))
    groups = k_means(pvectors.p_vectors(found), k, restarts=restarts, seed=seed)
    out.print(str(relations_page(output, found, about, rows, groups, _pairs(pair, found))), soft_wrap=True)


@app.command()
def published(
    data: Annotated[Path, typer.Option(help="The folder with the published files.")],
    readings: Annotated[bool, typer.Option("--readings", help="Every reading of the matrix, too.")] = False,
    as_json: Json = False,
) -> None:
    """The paper's figures from the files that it published, beside those in print."""
    from seesay.cli.output import out, print_json, table
    from seesay.relations import published as paper

    _require()
    read = paper.read(data)
    found = paper.again(read)
    others = paper.readings(read) if readings else []
    if as_json:
        print_json(
            {
                "source": paper.SOURCE,
                "figures": [asdict(one) for one in found],
                "readings": [asdict(one) for one in others],
            }
        )
        return
    columns = ("test", "vectors", "reading", ">ours", ">published", ">questions or pairs")
    out.print(table(columns, [_again(one) for one in found]))
    if others:
        out.print(table(columns, [_again(one) for one in others], title="Readings of the matrix"))
    out.print(paper.SOURCE, soft_wrap=True)


def _require() -> None:
    """One sentence with the install line where SciPy or scikit-learn is missing."""
    from importlib.util import find_spec

    from seesay.errors import UserError

    missing = [name for name in ("scipy", "sklearn") if find_spec(name) is None]
    if missing:
        raise UserError(
            f"These tests need an extra that is not installed ({missing[0]}): pip install 'seesay[relations]'"
        )


def _lexicon(path: Path | None) -> Lexicon:
    from seesay.relations.lexicon import Lexicon, read_lexicon

    return Lexicon() if path is None else read_lexicon(path)


def _one_of(option: str, value: str, allowed: Sequence[str]) -> None:
    from seesay.errors import UserError

    if value not in allowed:
        raise UserError(f"{option} is one of {', '.join(allowed)}, not '{value}'.")


def _counts(corpus: Corpus) -> list[tuple[str, int, int, int]]:
    every = corpus.part("all")
    rows = [
        (word, len(every.get(word, ())), len(corpus.held_out.get(word, ())), n)
        for word, n in corpus.occurrences.items()
    ]
    return sorted(rows, key=lambda row: (-row[1], -row[3], row[0]))


def _summary(corpus: Corpus) -> dict[str, Any]:
    return {
        "captions": corpus.captions, "without_relation": corpus.without, "with_several": corpus.several,
        "repeated": corpus.repeated,
        "bad_rows": [{"file": str(path), "row": row.row, "reason": row.reason} for path, row in corpus.bad_rows],
    }  # fmt: skip


def _tell_bad(corpus: Corpus) -> None:
    from seesay.cli.output import err

    for path, row in corpus.bad_rows[:10]:
        err.print(f"seesay: {path}, line {row.row}: {row.reason}.", soft_wrap=True)
    if len(corpus.bad_rows) > 10:
        err.print(f"seesay: {len(corpus.bad_rows) - 10:,} more lines could not be used.", soft_wrap=True)


def _about(
    name: str,
    model: Model,
    contexts: dict[str, list[Context]],
    unknown: Sequence[str],
    corpus: Corpus,
    **settings: object,
) -> dict[str, Any]:
    from seesay import __version__
    from seesay.command_line import recorded_command

    return {
        "model": name,
        "fingerprint": model.fingerprint,
        **settings,
        "contexts": {word: len(found) for word, found in contexts.items()},
        "unknown": list(unknown),
        **_summary(corpus),
        "command": recorded_command(),
        "seesay": __version__,
    }


def _rows(folder: Path, vectors: Sequence[Path], human: Sequence[Path], seed: int) -> list[Row]:
    """The P-vectors, the model's own embeddings where the folder has them, and the files beside."""
    from seesay.relations.correlation import read_human
    from seesay.relations.evaluate import asked_words, evaluate
    from seesay.relations.pvectors import EMBEDDINGS, p_vectors, read
    from seesay.relations.vectors import read_vectors

    matrix, about = read(folder)
    model = about.get("model", "the matrix")
    judged: list[Judged] = [read_human(path) for path in human]
    rows = [evaluate(f"P-vectors of {model}", p_vectors(matrix), judged, seed=seed)]
    own = [(f"embeddings of {model}", folder / EMBEDDINGS)] if (folder / EMBEDDINGS).is_file() else []
    wanted = asked_words(matrix.words, judged)
    for name, path in [*own, *((path.name, path) for path in vectors)]:
        rows.append(evaluate(name, read_vectors(path, wanted), judged, seed=seed))
    return rows


def _pairs(asked: Sequence[str] | None, matrix: Matrix) -> list[tuple[str, str]]:
    from seesay.data.relations import NEIGHBOURS
    from seesay.errors import UserError

    if not asked:
        return list(NEIGHBOURS)
    pairs = []
    for text in asked:
        a, _, b = (part.strip() for part in text.partition(","))
        missing = [word for word in (a, b) if word not in matrix.words]
        if missing or a == b:
            raise UserError(f"--pair {text!r} needs two relations of the matrix with a comma between them.")
        pairs.append((a, b))
    return pairs


def _row_json(row: Row) -> dict[str, Any]:
    from math import isfinite

    def plain(found: dict[str, Any]) -> dict[str, Any]:
        return {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in found.items()}

    return {
        "name": row.name,
        "words": row.words,
        "tests": [plain(asdict(one)) for one in row.tested],
        "people": {name: None if one is None else plain(asdict(one)) for name, one in row.people.items()},
        "told": row.told,
    }


def _again(one: Again) -> tuple[str, ...]:
    printed = "" if one.printed is None else f"{one.printed:.2f}"
    return one.test, one.vectors, one.reading, f"{one.value:.3f}", printed, str(one.n)
