"""The languages of the page: message catalogues (gettext), and which of them a visitor reads.

`make messages` collects the marked texts with Babel and compiles the catalogues; the server needs
the standard library alone. A visitor reads the language that they chose (`?lang=de`, kept in a
cookie), else the first of their browser's that the study offers, else the study's first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seesay.errors import UserError
from seesay.judge.items import BaseItem, SentenceItem
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.study import Study
from seesay.judge.texts import CheckQuestion, PracticeItem, StudyTexts
from seesay.questions import SLOT

PSEUDO = "ar-XB"
"""English in right-to-left order, as the Unicode CLDR calls it: shows whether the layout can be
mirrored."""
LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "français",
    "es": "español",
    "zh": "中文",
    PSEUDO: "‮pseudo‬",
}
DRAFTS = ("fr", "es", "zh")
"""Catalogues that no native speaker has read yet."""
_RIGHT_TO_LEFT = ("ar", "fa", "he", "ur")
COOKIE = "seesay_language"
"""Holds the language that a visitor chose."""

current_language: ContextVar[str] = ContextVar("seesay_judge_language", default="en")


class _Mirrored(NullTranslations):
    """The pseudo language: every text between marks that turn its direction."""

    def gettext(self, message: str) -> str:
        return "\n".join(re.sub(r"^([#\s]*)(.+)$", "\\1‮\\2‬", line) for line in message.splitlines())

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@cache
def translations(language: str) -> NullTranslations:
    """Return the catalogue of a language; English texts are their own."""
    if language == PSEUDO:
        return _Mirrored()
    path = files("seesay.judge.web") / "locale" / language / "LC_MESSAGES" / "judge.mo"
    if language == "en" or not path.is_file():
        return NullTranslations()
    with path.open("rb") as file:
        return GNUTranslations(file)


def translate(message: str, values: Mapping[str, object] | None = None) -> str:
    """Return a marked text in the visitor's language, its placeholders filled."""
    # The translation of an empty text is the header of a catalogue.
    text = translations(current_language.get()).gettext(message) if message else ""
    return text % values if values else text


def direction(language: str) -> str:
    """Return `rtl` or `ltr`, for HTML's `dir`."""
    if language.partition("-")[0] in _RIGHT_TO_LEFT:
        return "rtl"
    return "ltr"


def check_languages(languages: Sequence[str]) -> None:
    """Reject languages without a catalogue."""
    for language in languages:
        if language not in LANGUAGES:
            raise UserError(
                f"There are no texts in '{language}': choose from {', '.join(LANGUAGES)}."
            )


def describe_rejection(error: RequestRejectedError) -> str:
    """Return why a request was rejected, in the visitor's language."""
    return translate(error.message_id, error.values)


class LocalTexts:
    """A study's texts in the visitor's language.

    Where it has none they are those of the study's first language, else the standard ones.
    """

    def __init__(self, study: Study) -> None:
        language = current_language.get()
        local = study.texts.get(language) or StudyTexts()
        default = study.texts.get(study.design.languages[0]) or StudyTexts()

        def find_text(name: str, standard: str) -> str:
            return getattr(local, name) or getattr(default, name) or translate(standard)

        self._local = local
        self.language = language
        self.title = find_text("title", study.title)
        self.consent = find_text("consent", study.consent)
        self.instructions = find_text("instructions", study.instructions)
        self.low = find_text("low", study.design.low)
        self.high = find_text("high", study.design.high)
        self.check: tuple[CheckQuestion, ...] = local.check or default.check
        self.practice: tuple[PracticeItem, ...] = local.practice or default.practice

    def parts(self, item: SentenceItem) -> tuple[str, str]:
        """Return the text before the blank and the text after it."""
        text = self._local.items.get(item.base, item.text)
        before, _, after = text.partition(SLOT)
        return before, after

    def options(self, item: SentenceItem) -> list[str]:
        """Return the options as they are shown."""
        shown = item.option_texts or item.options
        return [
            self._local.options.get(label, text)
            for label, text in zip(item.options, shown, strict=True)
        ]

    def correct(self, item: BaseItem) -> str:
        """Return the right answers of a practice item."""
        return ", ".join(self._local.options.get(label, label) for label in item.known)


class LanguageChoice:
    """Middleware that finds out which language the visitor reads, and remembers their choice."""

    def __init__(self, app: ASGIApp, languages: Sequence[str]) -> None:
        self.app = app
        self.languages = tuple(languages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        choice = request.query_params.get("lang", "")
        # Only languages of the study: the cookie holds nothing that a visitor made up.
        is_choice = choice in self.languages
        language = choice if is_choice else self._find(request)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                cookie = f"{COOKIE}={language}; Path=/; SameSite=Lax; HttpOnly; Max-Age=2592000"
                MutableHeaders(scope=message).append("Set-Cookie", cookie)
            await send(message)

        before = current_language.set(language)
        try:
            await self.app(scope, receive, send_with_cookie if is_choice else send)
        finally:
            current_language.reset(before)

    def _find(self, request: Request) -> str:
        """Return the language of the cookie, else of the browser, else the study's first."""
        earlier_choice = request.cookies.get(COOKIE, "")
        if earlier_choice in self.languages:
            return earlier_choice
        for preference in preferred(request.headers.get("accept-language", "")):
            base = preference.partition("-")[0]
            for language in self.languages:
                # Swiss German is better served by German than by another language.
                if preference == language or base == language.partition("-")[0]:
                    return language
        return self.languages[0]


def preferred(header: str) -> list[str]:
    """Return the languages of an Accept-Language header, the best first.

    >>> preferred("fr;q=0.4, de-CH, en;q=0.8, *;q=0.1")
    ['de-CH', 'en', 'fr']
    """
    weighted: list[tuple[float, str]] = []
    # A browser lists a few languages; a header may be of any length.
    for part in header.split(",")[:20]:
        name, _, weight = part.partition(";")
        quality = re.fullmatch(r"\s*q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?)\s*", weight)
        if re.fullmatch(r"\s*[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*\s*", name):
            weighted.append((float(quality[1]) if quality else 1.0, name.strip()))
    # Sorting keeps the order of equal weights.
    return [name for _, name in sorted(weighted, key=lambda pair: -pair[0])]
