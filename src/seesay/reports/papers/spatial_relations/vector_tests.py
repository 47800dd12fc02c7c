"""Analogies, odd one out, and the correlation with people: print, the published files, and matrices of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from seesay.errors import UserError
from seesay.metrics.captions import unigram_precision
from seesay.metrics.perplexity import text_sums
from seesay.relations.correlation import HumanRatings, correlate
from seesay.relations.evaluate import VectorTest, intrinsic
from seesay.relations.published import p_vectors_of
from seesay.relations.pvectors import EMBEDDINGS, p_vectors
from seesay.relations.vectors import WordVectors, read_vectors
from seesay.reports.charts import heat_map
from seesay.reports.formatting import NONE, interval, number, p_value
from seesay.reports.pages.sections import DataTable
from seesay.reports.papers.material import Material
from seesay.reports.papers.paper import Rendered, Status
from seesay.reports.papers.spatial_relations.vectors import own_matrices, published_files

LM, P, TEMPLATES = "LM embeddings", "P-vectors", "spatial templates"
PRINTED = {
    ("analogy", LM): 0.86, ("analogy", P): 0.62,
    ("odd one out, cosine", LM): 0.87, ("odd one out, spearman", LM): 0.90,
    ("odd one out, cosine", P): 0.72, ("odd one out, spearman", P): 0.70,
    ("odd one out, cosine", TEMPLATES): 0.22, ("odd one out, spearman", TEMPLATES): 1.0,
}  # fmt: skip
"""Accuracies as printed. Analogies by a random word: .11, one of nine."""
ASSOCIATION = {"all pairs": 0.48, "pairs above 0": 0.40}
"""Spearman's ρ of P-vectors with word association as printed, for 55 and for 28 pairs."""
ANALOGY = (
    "a is to b as c is to …? for six pairs of antonyms, 120 questions; the answer has the largest dot product with "
    "b − a + c among the nine remaining words. The printed figures have two digits: 103 of 120 is .858, 75 of 120 .625."
)
ODD = (
    "Two words of one group and one of another, 528 questions (templates have vectors for fewer words). The printed "
    "figures are ours truncated, not rounded: 462 of 528 is .875, 384 is .727, 480 is .909. Multi-word phrases of "
    "the 67 relations make 3,456 questions."
)


def vector_sets(material: Material) -> list[tuple[str, str, WordVectors]]:
    """The published vectors and one's own: name, whose they are, vectors."""
    files = published_files(material)
    sets = [
        (LM, "published files", files.embeddings),
        (P, "published files, 67 x 57", p_vectors_of(files, "67 x 57")),
        (TEMPLATES, "published files", files.templates),
    ]
    for model, folder, matrix in own_matrices(material):
        sets.append((P, model, p_vectors(matrix)))
        if (folder / EMBEDDINGS).is_file():
            sets.append((LM, model, read_vectors(folder / EMBEDDINGS, matrix.words)))
    return sets


def vector_tests(material: Material) -> list[tuple[str, str, list[VectorTest]]]:
    """All tests of all vectors."""
    sets = vector_sets(material)
    return material.once("vector tests", lambda: [(name, of, intrinsic(vectors)) for name, of, vectors in sets])


def accuracy_table(kind: str, text: str) -> Callable[[Material], Rendered]:
    """Renders the tests whose names begin with this."""

    def render(material: Material) -> Rendered:
        body = []
        for name, of, tests in vector_tests(material):
            sizes = {test.test: test.questions for test in tests}
            for test in tests:
                repeats = sizes.get(test.test.replace(", phrases", "")) == test.questions and "phrases" in test.test
                if test.test.startswith(kind) and test.value is not None and test.chance != 1 and not repeats:
                    printed = PRINTED.get((test.test, name)) if of.startswith("published") else None
                    ends = NONE if test.low is None or test.high is None else interval(test.low, test.high)
                    numbers = [number(test.value), ends, f"{test.questions:,}", number(test.chance), number(printed)]
                    body.append([test.test, name, of, *numbers])
        header = ["test", "vectors", "from", "ours", "95 % interval", "questions", "chance", "published"]
        return Rendered(Status.SHOWN, text, [DataTable(header, body)])

    return render


def association(material: Material) -> Rendered:
    """Correlation with word association."""
    ratings = published_files(material).association
    parts = {"all pairs": ratings, "pairs above 0": ratings.where(ratings.values > 0)}
    body = []
    for part, chosen in parts.items():
        body += _correlations(material, part, chosen, ASSOCIATION[part])
    text = (
        "Spearman's ρ between the similarity of two relations' vectors and how many people name one when given the "
        "other (the stronger direction of the two). The interval is over pairs; the second p-value shuffles words, "
        "since pairs that share a word are not independent. The table was read off the published figure: good for "
        "ranks only."
    )
    return Rendered(Status.SHOWN, text, [_correlation_table(body)], [_square(ratings, "Word association")])


def similarity(material: Material) -> Rendered:
    """Correlation with people's similarity judgements."""
    ratings = published_files(material).similarity
    text = (
        "The same with how similar people say the two relations are. No printed figure for all pairs is at hand. "
        "The table was read off the published figure: good for ranks only."
    )
    body = _correlations(material, "all pairs", ratings, None)
    return Rendered(Status.SHOWN, text, [_correlation_table(body)], [_square(ratings, "Word similarity, as judged")])


def _correlations(material: Material, part: str, ratings: HumanRatings, printed: float | None) -> list[list[str]]:
    files, rows = published_files(material), []
    sets = [(P, "published files, 97 x 97", p_vectors_of(files, "97 x 97"))]
    sets += [each for each in vector_sets(material) if each[0] != P or not each[1].startswith("published")]
    for name, of, vectors in sets:
        correlation = correlate(vectors, ratings, resamples=200 if material.brief else 10_000)
        if correlation is not None:
            shown = number(printed) if name == P and of.startswith("published") else NONE
            ends = interval(correlation.low, correlation.high)
            tests = [p_value(correlation.p), p_value(correlation.p_words)]
            rows.append([part, name, of, number(correlation.rho), ends, str(correlation.pairs), *tests, shown])
    return rows


def _correlation_table(body: Sequence[Sequence[str]]) -> DataTable:
    header = ["pairs", "vectors", "from", "ρ", "95 % interval", "n", "p", "p, words shuffled", "published"]
    return DataTable(header, body)


def _square(ratings: HumanRatings, title: str) -> Markup:
    words = list(dict.fromkeys(word for pair in ratings.pairs for word in pair))
    table = np.full((len(words), len(words)), np.nan)
    for (a, b), value in zip(ratings.pairs, ratings.values, strict=True):
        i, j = words.index(a), words.index(b)
        table[i, j] = table[j, i] = value
    return heat_map(table.tolist(), words, words, title=title, low_label="", high_label="", zero=True)


def study(material: Material) -> Rendered:
    """The study of people's similarity judgements."""
    raise UserError(
        "66 people judged every pair about 10 times on a slider from dissimilar to similar. Control items: a "
        "relation with `green`, and with itself; whoever was above 60 % on the first or below 90 % on the second "
        "lost all judgements: 9 people, which left about 7 judgements per pair. A study takes people; `seesay judge "
        "export` applies the same rule."
    )


def perplexities(material: Material) -> Rendered:
    """The two definitions of perplexity, on an example that can be checked by hand."""
    half, quarter = math.log(1 / 2), math.log(1 / 4)
    sums = text_sums("a b", [half] * 2) + text_sums("a b c d", [quarter] * 4)
    body = [
        ["token level: 2^(−(1/T) Σ log2 q(w | before))", number(sums.token_perplexity)],
        ["sentence level: 2^(−(1/|S|) Σ log2 P(s))", number(sums.sentence_perplexity)],
    ]
    text = (
        "Two sentences, of two words with probability 1/2 each and of four with 1/4 each, hold 2 + 8 = 10 bits: 10/6 "
        "per token, 10/2 per sentence. The paper's equation is the sentence one; its published matrix was made with "
        "the token one (`seesay relations matrix --level`)."
    )
    return Rendered(Status.SHOWN, text, [DataTable(["perplexity", "of the example"], body)])


def precision(material: Material) -> Rendered:
    """Unigram precision, plain and clipped, on the example of Papineni et al. (2002)."""
    caption, references = "the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]
    body = [
        [name, number(unigram_precision(caption, references, clipped=clipped))]
        for name, clipped in (("unigram precision", False), ("clipped (BLEU's)", True))
    ]
    text = (
        f"Seven times “the” against “{references[0]}” and “{references[1]}”: every word occurs in a reference, but "
        "only two are matched once each counts as often as there. `seesay score captions` has the plain one as a row, "
        "over all words of the captions; the clipped one is BLEU-1 without its brevity penalty."
    )
    return Rendered(Status.SHOWN, text, [DataTable(["measure", "of the example"], body)])
