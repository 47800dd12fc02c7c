"""From what somebody wrote to the options: which of them does a free answer name?

The rules, in order:

1. A reasoning trace (`<think>…</think>` and its relatives) is cut off; a trace that never ends
   leaves no answer.
2. What the answer repeats of the question is left out: "the color of a red fox is brown" names
   brown.
3. Where it says "the answer is …", "Answer: …" or `\\boxed{…}`, the last of these is read, else the
   whole.
4. A letter alone, or in front of the answer ("b", "(b) red", "option B"), stands for an option that
   was shown under it.
5. An option is named by its words, in singular or plural, with or without an article, or by an
   alias; of overlapping names the longest counts ("light blue" is not "blue").
6. A name in a question, or under a negation ("not red", "isn't red", "anything but red", "red is
   wrong"), is not an answer. Denying one of a yes-no pair affirms the other; denying anything else
   affirms nothing.
7. The first sentence that affirms any option decides; if it names several, all of them count. One
   that lists most of the options answers nothing.
8. Of an answer that goes on for pages, its beginning and its end are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from seesay.questions import SLOT

ALIASES: tuple[tuple[str, ...], ...] = (
    ("gray", "grey"),
    ("grey", "gray"),
    ("purple", "violet"),
    ("larger", "bigger", "greater"),
    ("smaller", "littler", "tinier"),
    ("large", "big", "huge"),
    ("small", "little", "tiny"),
    ("less", "fewer"),
    ("above", "over", "on top of"),
    ("below", "under", "beneath", "underneath"),
    ("beside", "next to", "alongside"),
    ("yes", "yeah", "yep", "true", "correct", "certainly", "indeed", "of course"),
    ("no", "nope", "nah", "false", "incorrect", "wrong"),
    ("true", "yes", "yeah", "yep", "correct", "right"),
    ("false", "no", "nope", "incorrect", "wrong", "untrue"),
)
"""The first word may also be said by the others, where none of those is another option's own."""

OPPOSITES = ({"yes", "no"}, {"true", "false"})
# an answer that names more options than this, and more than half of them, lists them
MOST_NAMED = 3

_LONGEST = 8_000  # characters: the time grows with the square of what a server sends
_TRACE = re.compile(r"<(think|thinking|thought|reasoning|reflection)>", re.IGNORECASE)
_TRACE_END = re.compile(
    r"^.*</(?:think|thinking|thought|reasoning|reflection)>", re.DOTALL | re.IGNORECASE
)
_TRACE_START = re.compile(
    r"<(?:think|thinking|thought|reasoning|reflection)>.*", re.DOTALL | re.IGNORECASE
)
_CHANNEL = re.compile(r"^.*<\|channel\|>final<\|message\|>", re.DOTALL)
_ANSWER = re.compile(
    r"\\boxed\{(?:\\text\{)?([^{}]*)\}"
    r"|\b(?:(?:final |correct |best )?answer|correct (?:option|choice))"
    r"(?:\s+(?:is|would be|should be|must be|here is))?\s*[:\-–]?\s*((?!not\b|n't)[^\n]+)",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*_`#\"“”«»]+")
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+|\n")
_CLAUSE = re.compile(
    r"[,;:()–—]|\s-\s|\b(?:but|although|though|however|whereas|while|because|since)\b"
    r"|(?<!that )\b(?:it'?s|it is|they are)\b(?!\s+not)"
)
_AFFIRMED = re.compile(
    r"\b(?:nothing|never anything|not anything|none other than|no other than|no one but)"
    r"\s+(?:but|else than)?\s*"
    r"|\bno (?:doubt|question|wonder)\b|\bnot (?:only|just)\b"
    r"|\bwithout (?:a )?(?:doubt|question)\b|\bwhy not\b"
)
_EXCLUDED = re.compile(r"\b(?:anything|everything|all|any colou?r|every colou?r)\s+but\b")
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|cant|isnt|wasnt|without|except|excluding|unlike"
    r"|hardly|rarely|seldom|barely|rather than|instead of|other than|far from|non|opposed to"
    r"|myth|misconception|mistaken?|wrong to|false that|wouldnt|doesnt|dont|arent|unlikely"
    r"|impossible|rule out|ruled out|excludes?|deny|doubt|lacks?|fails? to)\b|n't\b"
)
_DENIED_AFTER = re.compile(
    r"^[^,;.]*?\b(?:is|are|was|were|would be|will be|can|could|may|does|do|seems|has|have|must"
    r"|should|would)(?:\s+\w+)?"
    r"\s*(?:n't|not|never|wrong|incorrect|false|unlikely|impossible|ruled out|excluded)\b"
)
_LISTED = re.compile(r"\s*(?:or|nor|and)\b|\s*\w+(?:\s+(?:or|nor|and)\s+[\w ]+)?\s*$")
_NEGATED_WHOLE = re.compile(
    r"^\s*(?:no|nope|nah|not really|not exactly|not quite|of course not)\s*$"
)
_LETTER = re.compile(
    r"^\s*(?:(?:option|choice|letter)\s+)?"
    r"(?:\(([a-z]{1,2})\)|([a-z]{1,2})(?=\s*[).:]|\s*$))[).:\s-]*",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:a|an|the|some)\s+")


@dataclass(frozen=True, slots=True)
class NamedOptions:
    """The options that an answer names; where there are none, `reason` is empty, unfinished,
    denied, all or none."""

    labels: tuple[str, ...]
    reason: str = ""


def without_reasoning(text: str) -> tuple[str, bool]:
    """The text after its reasoning trace, and whether the trace never ended, so that there is no
    answer.

    >>> without_reasoning("<think>Is it red?</think> Green."), without_reasoning("<think>Is it")
    (('Green.', False), ('', True))
    """
    text = _TRACE_END.sub("", _without_traces(_CHANNEL.sub("", text)))
    answer = _TRACE_START.sub("", text)
    return answer.strip(), answer != text


def _without_traces(text: str) -> str:
    """Return the text without its traces that end, in one pass over it, however many begin."""
    pieces: list[str] = []
    place = 0
    # a trace that never ends is looked for once: a reply may open thousands of them
    unended = set[str]()
    lowered = _lower_ascii(text)
    for opening in _TRACE.finditer(text):
        name = opening[1].lower()
        if opening.start() < place or name in unended:
            continue
        end = lowered.find(f"</{name}>", opening.end())
        if end < 0:
            unended.add(name)
            continue
        pieces.append(text[place : opening.start()])
        place = end + len(f"</{name}>")
    pieces.append(text[place:])
    return "".join(pieces)


def _lower_ascii(text: str) -> str:
    """Return the text in lower case where that changes no length: İ would become two characters."""
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), text)


def match(
    text: str,
    options: Sequence[str],
    *,
    question: str = "",
    letters: Sequence[str] = (),
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> NamedOptions:
    """Return the options that a free answer names.

    `question` is what was asked, with its slot; `letters` are those shown with the options, in
    their order; `aliases` are further names of options.
    """
    text, unfinished = without_reasoning(text)
    if unfinished:
        return NamedOptions((), "unfinished")
    if not text.strip():
        return NamedOptions((), "empty")
    if len(text) > _LONGEST:
        # of whole sentences: "not" may be cut off
        ending = _SENTENCE.split(text[-_LONGEST // 2 :], maxsplit=1)[1:]
        text = "\n".join([text[: _LONGEST // 2], *ending])
    # hashable, since the names of options are worked out once
    alias_items = tuple((option, tuple(words)) for option, words in (aliases or {}).items())
    names = _names(tuple(options), alias_items)
    plain = _without_echo(_normal(text), question)
    parts = [plain]
    marked = [group for marker in _ANSWER.finditer(plain) for group in marker.groups() if group]
    if marked:
        # the last: a model that reasons says "the answer is" more than once
        parts.insert(0, marked[-1])
    reason = "none"
    for part in parts:
        reading = _read(part, options, letters, names)
        if reading.labels or reading.reason == "all":
            return reading
        if reading.reason == "denied":
            reason = "denied"
    return NamedOptions((), reason)


def _read(
    text: str, options: Sequence[str], letters: Sequence[str], names: Mapping[str, str]
) -> NamedOptions:
    """Return the options that a part of an answer names, by a letter or by their words."""
    letter_match = _LETTER.match(text) if letters else None
    if letter_match:
        letter = (letter_match.group(1) or letter_match.group(2)).lower()
        if letter in letters:
            label = options[list(letters).index(letter)]
            words, _ = _affirmed(text[letter_match.end() :], names)
            # not the letter of one and the name of another
            if set(words) <= {label}:
                return NamedOptions((label,))
            return NamedOptions((), "none")
    labels, denied = _affirmed(text, names)
    if not labels:
        is_pair = {option.lower() for option in options} in OPPOSITES
        # "not yes" is no, but "not red" may be any other color
        if is_pair and len(set(denied)) == 1:
            return NamedOptions(tuple(option for option in options if option != denied[0]))
        return NamedOptions((), "denied" if denied else "none")
    distinct = tuple(dict.fromkeys(labels))
    if len(distinct) > max(MOST_NAMED, len(options) / 2):
        return NamedOptions((), "all")
    return NamedOptions(distinct)


def _affirmed(text: str, names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the options affirmed by the first sentence that affirms any, and those denied up to
    there."""
    denied: list[str] = []
    pattern = _pattern(tuple(names))
    # "nothing but red" affirms and "anything but red" denies, whatever else their words do
    text = _EXCLUDED.sub("except", _AFFIRMED.sub(" ", text))
    for sentence in _SENTENCE.split(text):
        if sentence.rstrip().endswith("?"):
            continue
        affirmed: list[str] = []
        for clause in _clauses(sentence):
            for name in pattern.finditer(clause):
                option = names[name.group()]
                if _is_denied(clause, name):
                    denied.append(option)
                else:
                    affirmed.append(option)
        if affirmed:
            return affirmed, denied
    return [], denied


def _is_denied(clause: str, name: re.Match[str]) -> bool:
    """Whether a negation stands before a name, or a denial after it ("red is wrong")."""
    if _NEGATION.search(clause[: name.start()]):
        return True
    return _DENIED_AFTER.match(clause[name.end() :]) is not None


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the clauses of a sentence. A negation reaches over a list, not over other commas."""
    pieces: list[str] = []
    boundaries = [""]
    start = 0
    for boundary in _CLAUSE.finditer(sentence):
        pieces.append(sentence[start : boundary.start()])
        boundaries.append(boundary.group())
        start = boundary.end()
    pieces.append(sentence[start:])
    # "not red, green or blue": the negation is repeated before each member of the list
    negation_before = ""
    for piece, boundary_before in zip(pieces, boundaries, strict=True):
        if boundary_before != "," or not _LISTED.match(piece):
            negation_before = ""
        yield negation_before + piece
        if negation := _NEGATION.search(piece):
            words_after = piece[negation.end() :].split()
            negation_before = ""
            if len(words_after) <= 3 and not _NEGATED_WHOLE.search(piece):
                negation_before = f"{negation.group()} "


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    # of overlapping names the longest counts, and the first that fits is taken
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w]|-\w)")


@lru_cache(maxsize=256)
def _names(
    options: tuple[str, ...], aliases: tuple[tuple[str, tuple[str, ...]], ...]
) -> dict[str, str]:
    """Return every name of every option, in lower case; a name that two might have is that of the
    option itself so called."""
    names: dict[str, str] = {}
    for option in options:
        names.setdefault(_normal(option), option)
    for option in options:
        word = _ARTICLE.sub("", _normal(option))
        option_names = [word, *_numbers(word)]
        for alias_group in ALIASES:
            if alias_group[0] == word:
                option_names += alias_group
        for label, alias_words in aliases:
            if label == option:
                option_names += map(_normal, alias_words)
        for name in option_names:
            names.setdefault(name, option)
    return names


def _numbers(name: str) -> Iterator[str]:
    """Yield the plural of a singular name and the singular of a plural one, as English mostly forms
    them."""
    if len(name) < 3 or not name.isascii() or not name.replace(" ", "").isalpha():
        return
    for ending, other in (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", "")):
        if name.endswith(ending) and not name.endswith("ss"):
            yield name.removesuffix(ending) + other
    if name[-1] == "y" and name[-2] not in "aeiou":
        yield f"{name[:-1]}ies"
    elif name.endswith(("s", "x", "z", "ch", "sh")):
        yield f"{name}es"
    elif name.endswith("f"):
        yield f"{name[:-1]}ves"
        yield f"{name}s"
    elif name.endswith("fe"):
        yield f"{name[:-2]}ves"
    else:
        yield f"{name}s"


def _normal(text: str) -> str:
    """Return the text in lower case, with plain apostrophes and spaces, and without mark-up."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").lower()
    text = _MARKS.sub("", text)
    text = re.sub(r"[^\S\n]+", " ", text)
    return re.sub(r" ?\n[ \n]*", "\n", text).strip()


def _without_echo(text: str, question: str) -> str:
    """Return the answer without the parts of the question that it repeats."""
    for part in question.split(SLOT):
        words = _normal(part).strip(" .?!")
        # a single word may be an option
        if len(words.split()) > 1:
            text = text.replace(words, " ")
    return text
