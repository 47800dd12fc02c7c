"""The expected tokens were given by Stanford's PTBTokenizer 3.4.1 (`-preserveLines -lowerCase`),
less COCO's list."""

from __future__ import annotations

import hashlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seesay.captions.coco.lexer import lex
from seesay.captions.coco.tokenize import PUNCTUATION, tokenize

ASKED = {
    "A man (or woman) [or child] "
    "{x}": "a man -lrb- or woman -rrb- -lsb- or child -rsb- -lcb- x -rcb-",
    "it's dogs' he'll we've I'm can't won't": "it 's dogs he 'll we 've i 'm ca n't wo n't",
    "cannot gonna GOTTA wanna gimme lemme cant": "can not gon na got ta wan na gim me lem me cant",
    "'tis 'em rock 'n' roll '90s o'clock d'Artagnan y'all ma'am": (
        "'t is 'em rock 'n' roll '90s o'clock d'artagnan y' all ma'am"
    ),
    "t-shirt well-known U.S.-based 20-year-old": "t-shirt well-known u.s.-based 20-year-old",
    "one/two/three/four and/or 24/7": "one/two/three / four and/or 24/7",
    "U.S. Mr. Smith etc. St. no. 5 no. five": "u.s. mr. smith etc. st. no. 5 no five",
    "vitamin C. A man": "vitamin c a man",
    "J. P. Smith": "j. p. smith",
    "$5.00 £5 €7 5¢ 50% #1 US$5": "$ 5.00 # 5 $ 7 5 cents 50 % # 1 us$ 5",
    "10:30am 1 1/2 cups 1,000.5 .5 3rd": "10:30 am 1\xa01/2 cups 1,000.5 .5 3rd",
    "(415) 555-1234": "-lrb-415-rrb-\xa0555-1234",
    "foo@bar.com http://x.org/y?z=1. #tag @user_1": "foo@bar.com http://x.org/y?z=1 #tag @user_1",
    'a <b>bold</b> <a href="x"> < 3': 'a <b> bold </b> <a\xa0href="x"> < 3',
    "AT&T &amp; Q&A &lt;": "at&t & q&a <",
    ":-) ;) ^_^ :D": ":--rrb- ;-rrb- ^_^ :d",
    "!!! ... ?? . ! -- ; : ,": "!!! ??",
    "😀 👍🏽 ❤️ ★ a​b": "❤ ★ a b",
    "½ café naïve Zürich’s 日本語 русский": "1/2 café naïve zürich 's 日本語 русский",
    "qi'ra shi'ite hallowe'en ne'er": "qi ra shi'ite hallowe'en ne'er",
    "a\u00adb it‘s": "ab it s",
    "-LRB- x --": "-lrb- x",
    "": "",
    "  ": "",
}


@pytest.mark.parametrize(("caption", "tokens"), ASKED.items())
def test_tokens_match_the_java_tokenizer(caption: str, tokens: str) -> None:
    assert tokenize(caption) == tokens


def test_every_caption_of_multi30k(multi30k: tuple[list[str], list[list[str]]]) -> None:
    """The digest is of the tokens that pycocoevalcap 1.2 gives the 5,070 captions, a line each."""
    hypotheses, references = multi30k
    lines = [
        tokenize(text) for text in [*hypotheses, *(text for row in references for text in row)]
    ]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == DIGEST


DIGEST = "c6c7e71e18b69be519e89bc2d6b8b4f5d237f0af6defc7283e8ea756371b9da0"


def test_a_line_break_is_a_blank() -> None:
    assert tokenize("a dog\nruns\r\nfast\u2028now\x85") == "a dog runs fast now"


@settings(deadline=None)
@given(st.text(st.sampled_from("aAbBsStT.,'-!?5 ()\"’éC:/&@#$<>_")))
def test_cached_words_change_nothing(caption: str) -> None:
    """A caption made of plain words takes a short cut; it must lead to the same place."""
    slow = " ".join(
        token for token in (token.lower() for token in lex(caption)) if token not in PUNCTUATION
    )
    assert tokenize(caption) == slow


@settings(deadline=None)
@given(st.text())
def test_any_text_gives_clean_tokens(caption: str) -> None:
    tokens = tokenize(caption)
    assert "  " not in tokens
    assert tokens == tokens.strip(" ")
    assert "\n" not in tokens


@pytest.mark.seconds
@pytest.mark.parametrize(
    "text",
    ["a" * 60_000, "<a " * 20_000, "a." * 30_000, "a,b@" * 3_000, "'s-" * 5_000, "1 2/" * 9_000],
)
def test_long_garbage_is_tokenised_in_time(text: str) -> None:
    began = time.perf_counter()
    tokenize(text)
    assert time.perf_counter() - began < 20
