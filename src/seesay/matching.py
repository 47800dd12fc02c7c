"""From what somebody wrote to the options: which of them does a free answer name?

The rules, in order:

1. A reasoning trace (`<think>…</think>` and its relatives) is cut off; a trace that never ends
   leaves no answer.
2. A reply that is an option, word for word, is that option, whatever it holds: commas, colons,
   "but", "not". Case, mark-up and final punctuation do not matter, unless two options differ in
   nothing else; then only the exact text will do.
3. What the answer repeats of the question is left out: "the color of a red fox is brown" names
   brown.
4. Where it says "the answer is …", "Answer: …", `{"answer": …}` or `\\boxed{…}`, the last of these
   is read, else the whole.
5. An option is named by its words, in singular or plural, with or without an article, by an alias,
   or by the letter that it was shown under ("(b)", "option B"); of overlapping names the longest
   counts ("light blue" is not "blue").
6. A name in a question, or under a negation ("not red", "isn't red", "anything but red", "red is
   wrong", "there's no way it's red"), is not an answer. Denying one of a yes-no pair affirms the
   other; denying anything else affirms nothing.
7. What people might think ("you might think it's blue") counts only where nothing is affirmed.
8. The first sentence that affirms any option decides; if it names several, all of them count. One
   that lists most of the options answers nothing.
9. Where the question compares two things and the answer compares them the other way round ("a
   sparrow is larger than a hedgehog"), the converse of what it says is meant.
10. Of an answer that goes on for pages, its beginning and its end are read.
"""

from __future__ import annotations

import json
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
    ("yes", "absolutely", "definitely", "exactly", "sure", "surely"),
    ("no", "nope", "nah", "false", "incorrect", "wrong"),
    ("true", "yes", "yeah", "yep", "correct", "right", "absolutely", "definitely", "exactly"),
    ("false", "no", "nope", "incorrect", "wrong", "untrue"),
)
"""The first word may also be said by the others, where none of those is another option's name."""

OPPOSITES = ({"yes", "no"}, {"true", "false"})
"""Pairs of which one is affirmed where the other is denied."""

CONVERSES: tuple[tuple[str, str], ...] = (
    ("larger", "smaller"),
    ("bigger", "smaller"),
    ("greater", "smaller"),
    ("heavier", "lighter"),
    ("taller", "shorter"),
    ("longer", "shorter"),
    ("higher", "lower"),
    ("faster", "slower"),
    ("stronger", "weaker"),
    ("older", "younger"),
    ("more", "less"),
    ("above", "below"),
    ("over", "under"),
    ("left", "right"),
    ("before", "after"),
    ("in front of", "behind"),
)
"""What holds of two things in one order, and what then holds of them in the other."""

MOST_NAMED = 3
"""An answer that names more options than this, and more than half of them, lists them."""

_LONGEST = 8_000  # characters: the time grows with the square of what a server sends

# In a text that is read, every name of an option is one character of a private plane of Unicode:
# commas and negations inside a name are then no part of the sentence around it.
_FIRST_PLACE = 0xF0000
_LAST_PLACE = 0xFFFFD
_PLACE = "[\U000f0000-\U000ffffd]"
_UNREADABLE = "\U0010fffd"  # where letter and name disagree, or a name is that of two options
_WORD = "[\\w\U000f0000-\U000ffffd]"

_TRACES = "think|thinking|thought|reasoning|reflection"
_TRACE = re.compile(rf"<({_TRACES})>", re.IGNORECASE)
_TRACE_END = re.compile(rf"^.*</(?:{_TRACES})>", re.DOTALL | re.IGNORECASE)
_TRACE_START = re.compile(rf"<(?:{_TRACES})>.*", re.DOTALL | re.IGNORECASE)
_CHANNEL = re.compile(r"^.*<\|channel\|>final<\|message\|>", re.DOTALL)

_ANSWER = re.compile(
    r"\\boxed\{(?:\\text\{)?([^{}]*)\}"
    r"|\b(?:(?:final |correct |best )?answer|correct (?:option|choice))"
    r"(?:\s+(?:is|would be|should be|must be|here is))?\s*[:\-–]?\s*((?!not\b|n't)[^\n]+)",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*_`#\"“”«»]+")
_EDGES = " \n\t.!,;:'"  # a question mark makes another thing of an answer
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+|\n")
_CLAUSE = re.compile(
    r"[,;:()–—]|\s-\s|\b(?:but|although|though|however|whereas|while|because|since)\b"
    r"|(?<!that )\b(?:it'?s|it is|they are)\b(?!\s+not)"
)

# Idioms, rewritten before a text is read.
_PRONOUN = r"(?:it'?s|it is|it was|it has|it to be|they are|they're|this is|that is)?"
_AFFIRMED = re.compile(
    r"\b(?:nothing|never anything|not anything|none other than|no other than|no one but)\s+"
    r"(?:but|else than)?\s*"
    r"|\bno (?:doubt|question|wonder)\b|\bwithout (?:a |any )?(?:doubt|question)\b"
    r"|\bnot (?:only|just)\b|\bwhy not\b"
)
_EXCLUDED = re.compile(r"\b(?:anything|everything|all|any colou?r|every colou?r)\s+but\b")
_RATHER = re.compile(r"\bnot so much\s+(.+?)\s+as\b")
_UNKNOWN = re.compile(
    r"\bno (?:idea|clue|opinion|information|comment|preference|answer)\b|\bno way to \w+"
    r"|\bnot (?:sure|certain)\b(?!\s+(?:that|it|if|whether))(?:\s+about\s+\w+)?"
    r"|\b(?:cannot|can't|couldn't) (?:say|tell|know)\b"
)
_REFUSED = re.compile(  # what denies the clause that follows it
    r"\b(?:no way"
    r"|(?:don't|do not|doesn't|can't|cannot|wouldn't|never|didn't)"
    r" (?:think|believe|say|claim|suppose)"
    r"|not (?:the case|true|sure|certain|convinced|persuaded|likely)|doubt|deny)"
    rf"\s+(?:that\s+|if\s+|whether\s+)?(?=it|they|this|that|the|an?\b){_PRONOUN}"
)
_SUPPOSED = re.compile(  # what others think, and whoever answers need not
    r"\b(?:you|one|some|many|most|people|others)(?: people)?\s+"
    r"(?:(?:might|may|could|would|often|usually|will|sometimes)\s+)?"
    rf"(?:think|say|expect|assume|believe|guess|claim|suppose)s?\s+(?:that\s+)?{_PRONOUN}"
)
_SUPPOSEDLY = re.compile(r"\bsupposedly\b")
_PLAIN_NO = re.compile(
    r"\b(?:of course|certainly|absolutely|definitely|surely|probably|clearly) not\b"
    r"|\bnot (?:at all|really|exactly|quite|in the least)\b|\bby no means\b"
    r"|\bno way\b(?!\s+(?:to|that|it))|\bi (?:don't|do not) think so\b|^never\b"
)

_NEGATION = re.compile(
    r"n't\b|\b(?:not|no|never|neither|nor|none|non|cannot|cant|isnt|wasnt|wouldnt|doesnt|dont|arent"
    r"|without|except|excluding|excludes?|unlike|hardly|rarely|seldom|barely|unlikely|impossible"
    r"|rather than|instead of|other than|far from|opposed to|rule out|ruled out|deny|doubt|lacks?"
    r"|fails? to|myth|misconception|mistaken?|wrong to|false that)\b"
)
_DENIED_AFTER = re.compile(
    r"^[^,;.]*?\b(?:(?:can't|cannot|won't)\b"
    r"|(?:is|are|was|were|would be|will be|can|could|may|does|do|seems|has|have|must|should|would)"
    r"(?:\s+\w+)?\s*"
    r"(?:n't|not|never|wrong|incorrect|false|unlikely|impossible|ruled out|excluded)\b)"
)
_LISTED = re.compile(
    rf"\s*(?:or|nor|and)\b|\s*{_WORD}+(?:\s+(?:or|nor|and)\s+[\w \U000f0000-\U000ffffd]+)?\s*$"
)
_NEGATED_WHOLE = re.compile(
    r"^\s*(?:no|nope|nah|not really|not exactly|not quite|of course not)\s*$"
)

_LETTER = re.compile(
    r"(?:\b(?:option|choice|letter)\s+\(?(?P<named>[a-z]{1,2})\b\)?"
    r"|\((?P<bracketed>[a-z]{1,2})\)"
    r"|(?:^|(?<=[.!?;]\s)|(?<=\bbut\s)|(?<=\bnot\s))(?P<first>[a-z]{1,2})(?=\s*[).:]|\s*$)[).:]*)"
    rf"(?:[).:\s-]*(?P<name>{_PLACE}))?",
    re.MULTILINE,
)
_ARTICLE = re.compile(r"^(?:a|an|the|some)\s+")
_CONTENT = re.compile(r"[^\W\d_]{2,}")
_FUNCTION_WORDS = {
    *("an", "the", "is", "are", "was", "were", "be", "than", "in", "on", "of", "to", "and", "or"),
    *("it", "its", "this", "that", "usually", "typically", "answer"),
}


@dataclass(frozen=True, slots=True)
class NamedOptions:
    """The options that an answer names.

    Where there are none, `reason` is empty, unfinished, ambiguous, denied, reversed, all or none.
    """

    labels: tuple[str, ...]
    reason: str = ""


def without_reasoning(text: str) -> tuple[str, bool]:
    """Return the text after its reasoning trace, and whether the trace never ended.

    >>> without_reasoning("<think>Is it red?</think> Green."), without_reasoning("<think>Is it")
    (('Green.', False), ('', True))
    """
    text = _TRACE_END.sub("", _without_traces(_CHANNEL.sub("", text)))
    answer = _TRACE_START.sub("", text)
    return answer.strip(), answer != text


def _without_traces(text: str) -> str:
    """Cut out the traces that end, in one pass over the text, however many begin."""
    pieces: list[str] = []
    place = 0
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
        place = end + len(name) + 3
    return "".join([*pieces, text[place:]])


def _lower_ascii(text: str) -> str:
    """Put a text in lower case where that changes no length: İ would become two characters."""
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

    `question` is what was asked, with its slot; `letters` those shown with the options, in their
    order; `aliases` are further names of options.
    """
    text, unfinished = without_reasoning(text)
    if unfinished:
        return NamedOptions((), "unfinished")
    text = _json_answer(text)
    if not text.strip():
        return NamedOptions((), "empty")
    exact = _equal_option(text, tuple(options))
    if exact is not None:
        return exact
    if len(text) > _LONGEST:
        # of whole sentences: "not" may be cut off
        ending = _SENTENCE.split(text[-_LONGEST // 2 :], maxsplit=1)[1:]
        text = "\n".join([text[: _LONGEST // 2], *ending])
    further = tuple((option, tuple(names)) for option, names in (aliases or {}).items())
    reader = _reader(tuple(options), tuple(letters), further)
    return reader.read(text, question)


def _json_answer(text: str) -> str:
    """Return the answer of a reply that is a JSON object with one, else the reply."""
    if not text.lstrip().startswith("{") or len(text) > _LONGEST:
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    answer = document.get("answer")
    return answer if isinstance(answer, str) else text


def _equal_option(text: str, options: tuple[str, ...]) -> NamedOptions | None:
    """Return the option that the whole reply is; None where it is none of them."""
    if text.strip() in options:
        return NamedOptions((text.strip(),))
    if len(text) > 2 * max(map(len, options)) + 100:  # with room for mark-up
        return None
    equal = _options_by_text(options).get(_bare(text), ())
    if len(equal) > 1:
        return NamedOptions((), "ambiguous")
    return NamedOptions(equal) if equal else None


@lru_cache(maxsize=256)
def _options_by_text(options: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the options by what is left of them without case, mark-up and final punctuation."""
    by_text: dict[str, tuple[str, ...]] = {}
    for option in options:
        bare = _bare(option)
        if bare:
            by_text[bare] = (*by_text.get(bare, ()), option)
    return by_text


class _Reader:
    """Reads free answers to questions that have the same options."""

    def __init__(
        self,
        options: tuple[str, ...],
        letters: tuple[str, ...],
        aliases: tuple[tuple[str, tuple[str, ...]], ...],
    ) -> None:
        self._options = options
        self._letters = {letter: i for i, letter in enumerate(letters) if i < len(options)}
        self._numbers = _names(options, aliases)
        longest_first = sorted(self._numbers, key=lambda name: (-len(name), name))
        # a modifier may stand before a name ("sky-blue"); "non-white" is no white
        names = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(
            rf"(?<![\w-])(?P<modifier>(?!non-|un-|anti-)[^\W\d_]+-)?(?P<name>{names})(?!\w|-\w)"
        )
        pair = {option.lower() for option in options}
        self._is_yes_no = pair in OPPOSITES
        self._converses = _converses(options, self._numbers)

    def read(self, text: str, question: str) -> NamedOptions:
        """Return the options that the answer to a question names."""
        compared = _compared(question)
        plain = self._mark_names(_normal(text))
        turns_it_round = compared and any(
            _is_reversed(sentence, compared) for sentence in _SENTENCE.split(plain)
        )
        if not turns_it_round:
            plain = self._mark_names(_without_echo(_normal(text), question))
        answers = [
            group for marker in _ANSWER.finditer(plain) for group in marker.groups() if group
        ]
        reasons = []
        for part in (*answers[-1:], plain):
            reading = self._read(self._mark_letters(part), compared)
            if reading.labels or reading.reason in ("all", "ambiguous", "reversed"):
                return reading
            reasons.append(reading.reason)
        return NamedOptions((), "denied" if "denied" in reasons else "none")

    def _mark_names(self, text: str) -> str:
        """Rewrite idioms, and put one character for each name of an option."""
        text = _RATHER.sub(r"not \1 but", _UNKNOWN.sub(" ", _AFFIRMED.sub(" ", text)))
        if self._is_yes_no:
            text = _PLAIN_NO.sub(" no ", text)
        text = _SUPPOSED.sub(" supposedly ", _REFUSED.sub(" not ", text))
        if not self._numbers:
            return text
        return self._pattern.sub(self._place, _EXCLUDED.sub("except", text))

    def _place(self, name: re.Match[str]) -> str:
        modifier = name["modifier"] or ""
        if modifier.rstrip("-") in self._numbers:  # yellow-green is neither
            return name[0]
        number = self._numbers[name["name"]]
        return _UNREADABLE if number is None else chr(_FIRST_PLACE + number)

    def _mark_letters(self, text: str) -> str:
        """Put one character for each letter of an option, and for the name that follows it."""
        return _LETTER.sub(self._place_of_letter, text) if self._letters else text

    def _place_of_letter(self, letter: re.Match[str]) -> str:
        text = letter["named"] or letter["bracketed"] or letter["first"]
        number = self._letters.get(text)
        if number is None:
            return letter[0]
        place = chr(_FIRST_PLACE + number)
        # a letter before a name is one answer, if both are of one option
        if letter["name"] not in (None, place):
            return _UNREADABLE
        return f"{place} "

    def _read(self, text: str, compared: tuple[str, str] | None) -> NamedOptions:
        if _UNREADABLE in text:
            return NamedOptions((), "ambiguous")
        affirmed, denied = self._affirmed(text, compared)
        if affirmed is None:
            return NamedOptions((), "reversed")
        if not affirmed:
            others = [option for option in self._options if option not in denied]
            if self._is_yes_no and len(set(denied)) == 1:
                return NamedOptions(tuple(others))
            return NamedOptions((), "denied" if denied else "none")
        labels = tuple(dict.fromkeys(affirmed))
        if len(labels) > max(MOST_NAMED, len(self._options) / 2):
            return NamedOptions((), "all")
        return NamedOptions(labels)

    def _affirmed(
        self, text: str, compared: tuple[str, str] | None
    ) -> tuple[list[str] | None, list[str]]:
        """Return what the first sentence that affirms anything affirms, and what is denied before.

        None where that sentence compares the two things the other way round, and the options have
        no word for that.
        """
        denied: list[str] = []
        supposed: list[str] = []
        for sentence in _SENTENCE.split(text):
            if sentence.rstrip().endswith("?"):
                continue
            affirmed: list[str] = []
            for clause in _clauses(sentence):
                self._sort_names(clause, affirmed, denied, supposed)
            if affirmed and compared and _is_reversed(sentence, compared):
                return self._turned(affirmed), denied
            if affirmed:
                return affirmed, denied
        return supposed, denied

    def _sort_names(
        self, clause: str, affirmed: list[str], denied: list[str], supposed: list[str]
    ) -> None:
        """Add each option that a clause names to what is affirmed, denied or supposed."""
        for place in re.finditer(_PLACE, clause):
            label = self._options[ord(place[0]) - _FIRST_PLACE]
            before = clause[: place.start()]
            after = clause[place.end() :]
            if _NEGATION.search(before) or _DENIED_AFTER.match(after):
                denied.append(label)
            elif _SUPPOSEDLY.search(before):
                supposed.append(label)
            else:
                affirmed.append(label)

    def _turned(self, labels: Sequence[str]) -> list[str] | None:
        """Return the converse of each label; None where one has none among the options."""
        converses = [self._converses.get(label) for label in labels]
        turned = [label for label in converses if label is not None]
        return turned if len(turned) == len(converses) else None


@lru_cache(maxsize=64)
def _reader(
    options: tuple[str, ...],
    letters: tuple[str, ...],
    aliases: tuple[tuple[str, tuple[str, ...]], ...],
) -> _Reader:
    return _Reader(options, letters, aliases)


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the clauses of a sentence. A negation reaches over a list, not over other commas."""
    pieces: list[tuple[str, str]] = []
    start = 0
    for boundary in _CLAUSE.finditer(sentence):
        pieces.append((sentence[start : boundary.start()], boundary.group()))
        start = boundary.end()
    pieces.append((sentence[start:], ""))
    negation_before = ""
    for index, (piece, _) in enumerate(pieces):
        is_listed = index > 0 and pieces[index - 1][1] == "," and _LISTED.match(piece)
        if not is_listed:
            negation_before = ""
        yield negation_before + piece
        if negation := _NEGATION.search(piece):
            is_list = len(piece[negation.end() :].split()) <= 3
            continues = is_list and not _NEGATED_WHOLE.search(piece)
            negation_before = f"{negation.group()} " if continues else ""


def _compared(question: str) -> tuple[str, str] | None:
    """Return the heads of the two things that a question compares, before and after its slot."""
    before, slot, after = question.rpartition(SLOT)
    if not slot:
        return None
    heads = []
    for part in (before, after):
        words = [word for word in _CONTENT.findall(_normal(part)) if word not in _FUNCTION_WORDS]
        if not words:
            return None
        heads.append(words[-1])
    return heads[0], heads[1]


def _is_reversed(sentence: str, compared: tuple[str, str]) -> bool:
    """Return whether a sentence says something of the second thing in relation to the first."""
    first, second = compared
    place = re.search(_PLACE, sentence)
    if place is None:
        return False
    before = sentence[: place.start()]
    after = sentence[place.end() :]

    def mentions(text: str, head: str) -> bool:
        return re.search(rf"\b{re.escape(head)}s?\b", text) is not None

    names_second_first = mentions(before, second) and not mentions(before, first)
    return names_second_first and mentions(after, first)


def _converses(options: Sequence[str], numbers: Mapping[str, int | None]) -> dict[str, str]:
    """Return the converse of each option that has one among the options; "level" is its own."""
    converses = {option: option for option in options if _bare(option).split()[:1] == ["level"]}
    for one, other in CONVERSES:
        first = numbers.get(one)
        second = numbers.get(other)
        if first is not None and second is not None:
            converses.setdefault(options[first], options[second])
            converses.setdefault(options[second], options[first])
    return converses


@lru_cache(maxsize=256)
def _names(
    options: tuple[str, ...], aliases: tuple[tuple[str, tuple[str, ...]], ...]
) -> dict[str, int | None]:
    """Return the number of the option that each name stands for; None for a name of two options.

    A name that two might have is that of the option itself so called.
    """
    numbers: dict[str, int | None] = {}
    for number, option in enumerate(options):
        name = _bare(option)
        if name:
            numbers[name] = None if name in numbers else number
    for number, option in enumerate(options):
        name = _ARTICLE.sub("", _bare(option))
        further = [name, *_grammatical_numbers(name), *_aliases(name)]
        further += [_bare(text) for label, texts in aliases if label == option for text in texts]
        for other in further:
            if other:
                numbers.setdefault(other, number)
    return numbers


def _aliases(name: str) -> Iterator[str]:
    """Yield what else a name may be called: "bigger than" for "larger than"."""
    for word, *others in ALIASES:
        if name == word or name.startswith(f"{word} "):
            for other in others:
                yield other + name[len(word) :]


def _grammatical_numbers(name: str) -> Iterator[str]:
    """Yield the plural of a singular name and the singular of a plural one, as English mostly
    forms them."""
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
        yield from (f"{name[:-1]}ves", f"{name}s")
    elif name.endswith("fe"):
        yield f"{name[:-2]}ves"
    else:
        yield f"{name}s"


def _normal(text: str) -> str:
    """Put a text in lower case, with plain apostrophes and spaces and no mark-up."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").lower()
    text = re.sub("[\U000f0000-\U0010ffff]", " ", text)  # they stand for names here
    return re.sub(r" ?\n[ \n]*", "\n", re.sub(r"[^\S\n]+", " ", _MARKS.sub("", text))).strip()


def _bare(text: str) -> str:
    """Return the normal form of a text without punctuation at its ends; brackets stay."""
    return _normal(text).strip(_EDGES)


def _without_echo(text: str, question: str) -> str:
    """Leave out the parts of the question that the answer repeats."""
    for part in question.split(SLOT):
        words = _normal(part).strip(" .?!")
        if len(words.split()) > 1:
            text = text.replace(words, " ")
    return text
