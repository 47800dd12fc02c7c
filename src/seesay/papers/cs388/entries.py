"""The CS388 notes as `seesay paper cs388` goes through them: each formula on numbers that can be
checked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from seesay.captions import (
    CaptionCorpus,
    bleu,
    cider_d,
    fuse,
    load,
    meteor,
    relevance,
    rouge,
    unigram_precision,
)
from seesay.captions.parses import parse, score
from seesay.data.catalogue import WORKS
from seesay.language.perplexity.sums import PerplexitySums, text_sums
from seesay.papers.material import Material
from seesay.papers.paper import Rendered, Status, read_paper
from seesay.reports.formatting import number
from seesay.reports.pages.sections import DataTable

WORKED = ("what", "by hand", "computed")

SENTENCES = (("a dog", (1 / 2, 1 / 4)), ("unbelievable", (1 / 2, 1 / 4, 1 / 2)))
"""Two sentences with the probability of each token; the second is one word in three pieces."""

GOLD = "(S (NP (DT the) (NN dog)) (VP (VBD chased) (NP (DT a) (NN cat))))"
PARSE = "(S (NP (DT the) (NN dog)) (VBD chased) (NP (DT a) (NN cat)))"

CANDIDATE = "the the the the the the the"
REFERENCES = ("the cat is on the mat", "there is a cat on the mat")
"""The example by which Papineni et al. (2002, section 2.1) show why counts are clipped."""

CAPTIONS = ("a dog runs in the park", "two cats sleep")
CAPTION_REFERENCES = (
    ("a dog is running in the park", "a dog runs in a park"),
    ("two cats are sleeping", "two cats sleep on a bed"),
)


def perplexity(material: Material) -> Rendered:
    """Equations 1 and 2: 3 bits of the first sentence and 4 of the second, over 3 words."""
    total = PerplexitySums()
    for text, probabilities in SENTENCES:
        total += text_sums(text, [math.log(p) for p in probabilities])
    # equation 1 as it stands: the N-th root of one over the product
    product = math.prod(p for _, probabilities in SENTENCES for p in probabilities)
    rows = [
        ("equation 1 over words", "(2⁷)^(1/3) = 5.040", (1 / product) ** (1 / total.words)),
        ("equation 2 over words: word perplexity", "2^(7/3) = 5.040", total.word_perplexity),
        ("equation 2 over tokens: token perplexity", "2^(7/5) = 2.639", total.token_perplexity),
    ]
    text = (
        "(1) PP(W) = (1 / P(w₁ … w_N))^(1/N); (2) PP(W) = exp(−Σ_d log P(W_d) / Σ_d N_d).\n\n"
        "Worked on two sentences, “a dog” with probabilities 1/2 and 1/4, and “unbelievable”, one "
        "word in three pieces with 1/2, 1/4 and 1/2: P(W) = 2⁻⁷. N_d counts words, of which there "
        "are 3, in 5 tokens. `seesay perplexity` reports both, and bits per word."
    )
    return Rendered(text, [_worked(rows)])


def precision_and_recall(material: Material) -> Rendered:
    """Section 2: of a parse that lacks one of four constituents, and of repeated words."""
    counts = score(parse(GOLD), parse(PARSE))
    rows = [
        ("recall of a parse", "3 / 4 = 0.750", counts.matched / counts.gold),
        ("precision of a parse", "3 / 3 = 1.000", counts.matched / counts.test),
        ("precision of a translation", "7 / 7 = 1.000", unigram_precision(CANDIDATE, REFERENCES)),
        (
            "the same, clipped",
            "2 / 7 = 0.286",
            unigram_precision(CANDIDATE, REFERENCES, clipped=True),
        ),
    ]
    text = (
        f"Worked on the gold parse `{GOLD}` and a system's `{PARSE}`, which lacks the verb phrase; "
        f"and on the candidate “{CANDIDATE}” with the references “{REFERENCES[0]}” and "
        f"“{REFERENCES[1]}” (Papineni et al. 2002), where the notes' formula gives 1 and its "
        "clipped form, which BLEU uses, 2/7."
    )
    return Rendered(text, [_worked(rows)])


def ambiguity(material: Material) -> Rendered:
    """Section 3.1: two names and a joke, of which there is nothing to compute."""
    return Rendered("Two names, and a joke for the first: nothing is measured there, or here.")


def accuracy_of_captions(material: Material) -> Rendered:
    """Section 4.1: the four metrics of two captions, and their plain mean."""
    corpus = CaptionCorpus.tokenized(CAPTIONS, CAPTION_REFERENCES)
    resources = load()
    bleus = bleu(corpus)
    alignment = meteor(corpus, resources)
    # of the four BLEUs the last one alone is averaged with the other metrics
    parts = [bleus[-1], alignment, rouge(corpus), cider_d(corpus)]
    average = fuse(parts)
    rows = []
    for part in (*bleus[:-1], *parts, average):
        rows.append([part.name, number(part.value)])
    text = (
        f"Of the captions “{CAPTIONS[0]}” and “{CAPTIONS[1]}”, with two references each. The "
        "notes' BLEU@N is BLEU-1 to 4, of which the last enters the average. The average is the "
        "plain mean of the four; what else it may have been, the notes do not say. 4.1.1 and 4.1.2 "
        "are headings there, with a pointer to a post."
    )
    if not resources.complete:
        text += " METEOR's data are not here: a lesser variant is computed, named by its matchers."
    table = DataTable(["metric", "ours"], rows, "Ours")
    return Rendered(text, [table], status=Status.of(resources.complete))


def relevance_of_captions(material: Material) -> Rendered:
    """Section 4.2, a heading: our own measure, on vectors made by hand."""
    # a cosine of 3/5, and one of −1; lengths do not matter
    captions = np.array([[1.0, 0.0], [0.0, 2.0]])
    pictures = np.array([[3.0, 4.0], [0.0, -5.0]])
    measured = relevance(captions, pictures)
    rows = [
        ("caption (1, 0), picture (3, 4)", "2.5 · 3/5 = 1.500", float(measured.scores[0])),
        ("caption (0, 2), picture (0, −5)", "2.5 · max(−1, 0) = 0.000", float(measured.scores[1])),
        ("both", "0.750", measured.value),
    ]
    text = (
        "The notes have the heading alone, and what the cited work measures is not in them. Ours, "
        "under a name of its own: w · max(cos(caption, picture), 0), the shape of CLIPScore "
        "(Hessel et al. 2021) with its w = 2.5, for the vectors of any encoder of both."
    )
    return Rendered(text, [_worked(rows)])


def _worked(rows: Sequence[tuple[str, str, float]]) -> DataTable:
    """Return a table of results by hand and by the code."""
    body = [[what, by_hand, number(computed)] for what, by_hand, computed in rows]
    return DataTable(WORKED, body, "Ours, worked")


PAPER = read_paper(
    "cs388",
    WORKS["hu-cs388"],
    {
        "Equations 1 and 2": perplexity,
        "Section 2": precision_and_recall,
        "Section 3.1": ambiguity,
        "Section 4.1": accuracy_of_captions,
        "Section 4.2": relevance_of_captions,
    },
)
