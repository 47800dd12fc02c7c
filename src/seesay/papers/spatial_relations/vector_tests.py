"""Analogies, odd one out, and the correlation with people: print, the published files, and matrices
of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from seesay.defaults import RESAMPLES
from seesay.errors import UserError
from seesay.language.perplexity.sums import text_sums
from seesay.language.relations.correlation import HumanRatings, correlate
from seesay.language.relations.evaluate import VectorTest, intrinsic
from seesay.language.relations.published import (
    LM,
    PRINTED,
    TEMPLATES,
    P,
    judgements,
    p_vectors_of,
    phrase_embeddings,
)
from seesay.language.relations.pvectors import EMBEDDINGS, p_vectors
from seesay.language.relations.vectors import WordVectors, read_vectors
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status
from seesay.papers.spatial_relations.vectors import (
    find_published,
    own_matrices,
    published_files,
)
from seesay.reports.charts import heat_map
from seesay.reports.formatting import NONE, interval, number, p_value
from seesay.reports.pages.sections import DataTable

ANALOGY = (
    "a is to b as c is to …? for six pairs of antonyms, 120 questions; the answer has the largest "
    "dot product with b − a + c among the nine remaining words. The authors' source has two "
    "digits: 103 of 120 is .858, 75 of 120 .625.\n\nWith phrases the paper asks 85,744 questions. "
    "The published matrix has the phrases of 67 relations: 1,008 questions, an easier test. "
    "GloVe's vectors are not at hand; `seesay relations test FOLDER --vectors glove.txt` tests a "
    "file of them."
)
ODD = (
    "Two words of one group and one of another, 528 questions (templates have vectors for fewer "
    "words). The figures of the authors' source are ours truncated, not rounded: 462 of 528 is "
    ".875, 384 is .727, 480 is .909. Multi-word phrases of the 67 relations make 3,456 questions, "
    "as there; in these ours differ by up to .08 either way, and which reading of the phrases "
    "gives theirs is not found."
)


def vector_sets(material: Material) -> list[tuple[str, str, WordVectors]]:
    """Return the published vectors and one's own: name, whose they are, vectors."""
    files = find_published(material)
    sets: list[tuple[str, str, WordVectors]] = []
    if files is not None:
        sets += [
            # a phrase has no vector of its own: it is the sum of its words', as in print
            (LM, "published files, phrases summed", phrase_embeddings(files)),
            (P, "published files, 67 x 57", p_vectors_of(files, "67 x 57")),
            (TEMPLATES, "published files", files.templates),
        ]
    for model, folder, matrix, _ in own_matrices(material):
        sets.append((P, model, p_vectors(matrix)))
        if (folder / EMBEDDINGS).is_file():
            sets.append((LM, model, read_vectors(folder / EMBEDDINGS, matrix.words)))
    if not sets:
        raise UserError(
            "There is neither the published matrix (--data) nor a folder of `seesay relations "
            "matrix`."
        )
    return sets


def vector_tests(material: Material) -> list[tuple[str, str, list[VectorTest]]]:
    """Return all tests of all vectors, made once for both tables."""

    def run_tests() -> list[tuple[str, str, list[VectorTest]]]:
        sets = vector_sets(material)
        return [(name, origin, intrinsic(vectors)) for name, origin, vectors in sets]

    return material.once("vector tests", run_tests)


def _printed(test: str, vectors: str, origin: str) -> str:
    """Return what the paper prints for this test, which is of the published vectors alone."""
    if origin.startswith("published"):
        return PRINTED.get((test, vectors), NONE)
    return NONE


def accuracy_table(kind: str, text: str) -> Callable[[Material], Rendered]:
    """Return what renders the tests whose names begin with this."""

    def render(material: Material) -> Rendered:
        body = []
        at_chance = []
        for name, origin, tests in vector_tests(material):
            for test in tests:
                if not test.test.startswith(kind) or not _is_informative(test, tests):
                    continue
                ends = NONE
                if test.low is not None and test.high is not None:
                    ends = interval(test.low, test.high)
                    if test.low <= (test.chance or 0.0) <= test.high:
                        at_chance.append(f"{name} of {origin} ({test.test})")
                row = [
                    test.test,
                    name,
                    origin,
                    number(test.value),
                    ends,
                    f"{test.questions:,}",
                    number(test.chance),
                    _printed(test.test, name, origin),
                ]
                body.append(row)
        header = [
            "test",
            "vectors",
            "from",
            "ours",
            "95 % interval",
            "questions",
            "chance",
            "authors' source",
        ]
        is_whole = find_published(material) is not None
        return Rendered(
            text + _chance_caution(at_chance),
            [DataTable(header, body, "Ours")],
            status=Status.of(is_whole),
        )

    return render


def _chance_caution(names: Sequence[str]) -> str:
    """Return a paragraph about tests in which vectors cannot be told from guessing, if any."""
    if not names:
        return ""
    return (
        f"\n\nCaution: at chance here, by their 95 % intervals: {'; '.join(names)}. What these "
        "figures show is what guesses look like."
    )


def _is_informative(test: VectorTest, tests: Sequence[VectorTest]) -> bool:
    """Return whether a test says anything, and something that no other test does."""
    if test.value is None or test.chance == 1:
        return False
    if "phrases" not in test.test:
        return True
    # vectors that have no phrases are asked the same questions twice
    without_phrases = test.test.replace(", phrases", "")
    sizes = {other.test: other.questions for other in tests}
    return sizes.get(without_phrases) != test.questions


def human_judgements(material: Material) -> Rendered:
    """Figure 4: word association and word similarity."""
    files = published_files(material)
    charts = [
        _square(files.association, "Word association"),
        _square(files.similarity, "Word similarity, as judged"),
    ]
    text = (
        "How strongly people associate one word with another (the mean of the two directions, or "
        "the one that exists), and how similar they say that two are. The tables were read off the "
        "published figure: good for ranks only."
    )
    return Rendered(text, charts=charts)


def correlations(material: Material) -> Rendered:
    """Table 5: correlation with word association and word similarity."""
    files = published_files(material)
    sets = [
        (P, "published files, 97 x 97", p_vectors_of(files, "97 x 97")),
        (LM, "published files", files.embeddings),
    ]
    # Print correlates the vectors of all 97 relations, and those of single words: of the published
    # sets of the other tables only the templates are the same.
    for name, origin, vectors in vector_sets(material):
        if name == TEMPLATES or not origin.startswith("published"):
            sets.append((name, origin, vectors))
    # a list shows no p-value, for which many shuffles would be needed
    resamples = 200 if material.brief else RESAMPLES
    body = []
    for judgement, ratings in judgements(files).items():
        for name, origin, vectors in sets:
            correlation = correlate(vectors, ratings, resamples=resamples)
            if correlation is None:
                continue
            row = [
                judgement,
                name,
                origin,
                number(correlation.rho),
                interval(correlation.low, correlation.high),
                str(correlation.pairs),
                p_value(correlation.p_words),
                _printed(judgement, name, origin),
            ]
            body.append(row)
    text = (
        "Spearman's ρ between the similarity of two relations' vectors and what people say of the "
        "two. Interval and p-value (words are shuffled) allow for pairs that share a word, which "
        "are not independent.\n\nThe templates have ten of the eleven words and so fewer pairs "
        "than the authors have. Of P-vectors and similarity over the 28 associated pairs the size "
        "is as in their source and the sign is not; of the templates nothing but the weak "
        "correlation with association comes out. People's tables were read off the published "
        "figure, so that small differences mean nothing."
    )
    header = [
        "people",
        "vectors",
        "from",
        "ρ",
        "95 % interval",
        "pairs",
        "p, words shuffled",
        "authors' source",
    ]
    return Rendered(text, [DataTable(header, body, "Ours")])


def _square(ratings: HumanRatings, title: str) -> Markup:
    """Draw ratings of pairs as a symmetric matrix; pairs that were not judged are empty."""
    # in the order in which the pairs name them
    words = list(dict.fromkeys(word for pair in ratings.pairs for word in pair))
    index = {word: place for place, word in enumerate(words)}
    table = np.full((len(words), len(words)), np.nan)
    for (a, b), value in zip(ratings.pairs, ratings.values, strict=True):
        table[index[a], index[b]] = value
        table[index[b], index[a]] = value
    return heat_map(
        table.tolist(),
        words,
        words,
        title=title,
        low_label="",
        high_label="",
        zero=True,
    )


def perplexities(material: Material) -> Rendered:
    """The two definitions of perplexity, on an example that can be checked by hand."""
    half = math.log(1 / 2)
    quarter = math.log(1 / 4)
    # 2 bits and 8 bits: token level 2^(10/6), sentence level 2^(10/2)
    sums = text_sums("a b", [half] * 2) + text_sums("a b c d", [quarter] * 4)
    body = [
        ["token level, equation 6: 2^(−(1/T) Σ log2 q(w | before))", number(sums.token_perplexity)],
        [
            "sentence level, equations 1, 9 and 12: 2^(−(1/|S|) Σ log2 P(s))",
            number(sums.sentence_perplexity),
        ],
    ]
    text = (
        "Two sentences, of two words with probability 1/2 each and of four with 1/4 each, hold 2 + "
        "8 = 10 bits: 10/6 per token, 10/2 per sentence. The paper's equation 1 is the sentence "
        "one; its published matrix was made with the token one (`seesay relations matrix --level`)."
    )
    return Rendered(text, [DataTable(["perplexity", "of the example"], body, "Ours, worked")])
