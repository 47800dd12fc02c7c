"""`seesay relations`: what a language model knows about above, under, in front of."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seesay.cli.application import Application
from seesay.cli.completion import complete_models
from seesay.cli.options import (
    AllowPickle,
    BatchSize,
    Device,
    Family,
    Json,
    Quiet,
    Revision,
    TrustRemoteCode,
)
from seesay.command_line import recorded_command
from seesay.errors import require_packages
from seesay.language.defaults import CLUSTERS, HELD_OUT, MAX_CONTEXTS, MIN_CONTEXTS, RESTARTS
from seesay.language.relations import ContextPart, PerplexityLevel

if TYPE_CHECKING:
    from seesay.language.relations.contexts import ContextCorpus
    from seesay.language.relations.published import Reproduction

app = Application(
    help=(
        "Spatial relations: contexts in captions, P-vectors of any scoring model, and their tests."
    ),
    no_args_is_help=True,
)

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Captions of any known form: text, JSON, TSV; .gz too."),
]
Relations = Annotated[
    Path | None, typer.Option("--relations", help="Your own list of relations, one per line.")
]
Minimum = Annotated[int, typer.Option(min=1, help="Contexts that a relation needs.")]
HeldOut = Annotated[float, typer.Option(min=0, max=0.99, help="Share of the images to hold out.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the held-out images and of all sampling.")]
Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A folder written by `seesay relations matrix`.")
]
VectorFiles = Annotated[
    list[Path] | None,
    typer.Option("--vectors", help="Word vectors to compare: GloVe or word2vec. Repeat for more."),
]
HumanFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--human",
        help="People's ratings: a table of pairs, a square one, or a folder of `judge export`.",
    ),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pair", help="Two relations with a comma: are they neighbours?"),
]


@app.command()
def find(
    files: Files,
    relations: Relations = None,
    minimum: Minimum = MIN_CONTEXTS,
    examples: Annotated[
        int,
        typer.Option(
            min=0,
            help="Show the substitution table of this many relations: each in a context of each.",
        ),
    ] = 0,
    held_out: HeldOut = HELD_OUT,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Count the contexts of every relation: captions that hold it and no other.

    Examples:
        seesay relations find captions.txt.gz --examples 5
    """
    from seesay.cli.output import out, print_json, remark, table
    from seesay.language.relations.contexts import collect_contexts, substitutions
    from seesay.language.relations.lexicon import read_lexicon

    corpus = collect_contexts(
        files,
        read_lexicon(relations) if relations else None,
        held_out=held_out,
        seed=seed,
    )
    rows = corpus.counts()
    sentences = substitutions(corpus, examples, seed=seed)
    if as_json:
        keys = ("relation", "contexts", "held_out", "occurrences")
        document = corpus.summary()
        document["relations"] = [dict(zip(keys, row, strict=True)) for row in rows]
        if examples:
            document["examples"] = [row._asdict() for row in sentences]
        print_json(document)
        return
    out.print(table(("relation", ">contexts", ">held out", ">occurrences"), rows))
    if examples:
        columns = ("context of", "relation put in", "sentence")
        out.print(table(columns, sentences, title="Substitutions"))
    frequent = sum(row[1] >= minimum for row in rows)
    remark(
        f"{corpus.captions:,} captions: {corpus.without:,} hold no relation, {corpus.several:,} "
        f"several, {corpus.repeated:,} are repeated (each counts once). {frequent} of {len(rows)} "
        f"relations have {minimum} contexts or more."
    )
    _report_sources(corpus)


@app.command()
def matrix(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            autocompletion=complete_models,
            help="Any model that scores texts, as in `seesay probe`.",
        ),
    ],
    files: Files,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder of the matrix; an unfinished one is resumed."),
    ],
    relations: Relations = None,
    minimum: Minimum = MIN_CONTEXTS,
    most: Annotated[
        int, typer.Option(min=1, help="Contexts per relation at most, a random sample.")
    ] = MAX_CONTEXTS,
    part: Annotated[
        ContextPart, typer.Option(help="Which captions the contexts are taken from.")
    ] = ContextPart.ALL,
    held_out: HeldOut = HELD_OUT,
    level: Annotated[
        PerplexityLevel, typer.Option(help="Perplexity by token (as published) or by sentence.")
    ] = PerplexityLevel.TOKEN,
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
    """Perplexity of every relation in every relation's contexts, and the P-vectors made from it.

    Examples:
        seesay relations matrix lstm captions.txt.gz -o rel
    """
    from seesay.cli.output import out, print_json, progress_bar
    from seesay.language.relations.contexts import collect_contexts
    from seesay.language.relations.lexicon import read_lexicon
    from seesay.language.relations.matrix import build_matrix
    from seesay.models import ModelOptions, ModelSource

    options = ModelOptions(
        batch_size=batch_size,
        device=device,
        family=family,
        revision=revision,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
    )
    source = ModelSource.parse(model, options)
    corpus = collect_contexts(
        files,
        read_lexicon(relations) if relations else None,
        held_out=held_out,
        seed=seed,
    )
    loaded = source.load()
    with progress_bar("contexts", unit="contexts", quiet=quiet or as_json) as advance:
        built, about = build_matrix(
            loaded,
            corpus,
            output,
            part=part,
            level=level,
            minimum=minimum,
            most=most,
            seed=seed,
            progress=advance,
            command=recorded_command(),
        )
    if as_json:
        print_json({**about, "folder": str(output), "words": list(built.words)})
    elif not quiet:
        size = f"{len(built.words)} words in the contexts of {len(built.contexts)} relations"
        out.print(f"{size}: {output}")
        _report_sources(corpus)
        out.print(f"Next: seesay relations test {output}")


@app.command("test")
def run_tests(
    folder: Folder,
    vectors: VectorFiles = None,
    human: HumanFiles = None,
    pair: Pairs = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Analogies, odd one out, correlation with people, and which relations are neighbours.

    Examples:
        seesay relations test rel --vectors glove.txt
    """
    from seesay.cli.output import out, print_json, table
    from seesay.language.relations import pvectors
    from seesay.language.relations.clusters import pair_proximity
    from seesay.language.relations.evaluate import evaluate_folder, parse_pairs
    from seesay.language.relations.page import proximity_text, test_table

    _require_extra()
    perplexities, about = pvectors.read(folder)
    evaluations = evaluate_folder(folder, vectors or [], human or [], seed=seed)
    pairs = pair_proximity(pvectors.p_vectors(perplexities), parse_pairs(pair or [], perplexities))
    if as_json:
        rows = []
        for proximity in pairs:
            rows.append({**asdict(proximity), "joined_directly": proximity.joined_directly})
        print_json(
            {
                "about": about,
                "rows": [evaluation.as_json() for evaluation in evaluations],
                "pairs": rows,
            }
        )
        return
    tests = test_table(evaluations)
    out.print(table(list(tests.header), [list(map(str, row)) for row in tests.rows]))
    out.print(proximity_text(pairs).replace("\n\n", "\n"))


@app.command()
def page(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")],
    vectors: VectorFiles = None,
    human: HumanFiles = None,
    pair: Pairs = None,
    clusters: Annotated[
        int, typer.Option(help="k of k-means, at most half the number of words; 30 as published.")
    ] = CLUSTERS,
    restarts: Annotated[int, typer.Option(min=1, help="Restarts of k-means.")] = RESTARTS,
    seed: Seed = 0,
) -> None:
    """A page with the heat map in cluster order, the dendrogram and the tests.

    Examples:
        seesay relations page rel -o relations.html
    """
    from seesay.cli.output import remark
    from seesay.language.relations import pvectors
    from seesay.language.relations.clusters import k_means
    from seesay.language.relations.evaluate import evaluate_folder, parse_pairs
    from seesay.language.relations.page import relations_page

    _require_extra()
    perplexities, about = pvectors.read(folder)
    evaluations = evaluate_folder(folder, vectors or [], human or [], seed=seed)
    # Of a few relations, 30 clusters would be one for each.
    k = max(1, min(clusters, len(perplexities.words) // 2))
    groups = k_means(pvectors.p_vectors(perplexities), k, restarts=restarts, seed=seed)
    pairs = parse_pairs(pair or [], perplexities)
    remark(relations_page(output, perplexities, about, evaluations, groups, pairs))


@app.command()
def published(
    data: Annotated[Path, typer.Option(help="The folder with the published files.")],
    readings: Annotated[
        bool, typer.Option("--readings", help="Every reading of the matrix, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The paper's figures, reproduced from its published files, beside those in print.

    Examples:
        seesay relations published --data FOLDER --readings
    """
    from seesay.cli.output import out, print_json, table
    from seesay.language.relations import published as paper

    _require_extra()
    files = paper.read(data)
    figures = paper.reproduce(files)
    others = paper.readings(files) if readings else []
    if as_json:
        by_kind = {
            "figures": [asdict(figure) for figure in figures],
            "readings": [asdict(other) for other in others],
        }
        print_json({"source": paper.SOURCE, **by_kind})
        return
    columns = ("test", "vectors", "reading", ">ours", ">published", ">questions or pairs")
    out.print(table(columns, [_cells(figure) for figure in figures]))
    if others:
        out.print(
            table(columns, [_cells(other) for other in others], title="Readings of the matrix")
        )
    out.print(paper.SOURCE)


def _require_extra() -> None:
    """Reject an installation without SciPy or scikit-learn, with the install line."""
    require_packages("This command", "relations", "scipy", "sklearn")


def _report_sources(corpus: ContextCorpus) -> None:
    """Print on stderr how much of each source was read, and the first rows left out."""
    from seesay.cli.output import err, sources_table

    # On stderr, so that a table of figures can be piped on.
    err.print(sources_table(corpus.sources))
    for path, row in corpus.bad_rows[:10]:
        err.print(f"seesay: {path}, row {row.row}: {row.reason}.")


def _cells(figure: Reproduction) -> tuple[str, ...]:
    """Return the row of a figure beside the one in print."""
    printed = "" if figure.printed is None else f"{figure.printed:.2f}"
    return (
        figure.test,
        figure.vectors,
        figure.reading,
        f"{figure.value:.3f}",
        printed,
        str(figure.n),
    )
