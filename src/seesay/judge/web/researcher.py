"""The researcher's pages, behind a password: counts, links, pause and close, preview, export."""

from __future__ import annotations

import asyncio
import math
import re
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from seesay.judge import participants, security
from seesay.judge.numbers import parse_whole
from seesay.judge.progress import study_progress
from seesay.judge.rejections import RequestRejectedError
from seesay.judge.results.disputes import Dispute, disputed_items, read_rulings, save_ruling
from seesay.judge.results.quality import QualityCriteria, exclude_careless, read_judgements
from seesay.judge.storage.database import Transaction, get_setting, set_setting
from seesay.judge.web.context import COOKIE, SESSION_HOURS, Routes, client_address, read_form
from seesay.judge.web.pages import item_picture, picture_response, preview_page, sample_page
from seesay.judge.web.rate_limits import LOGIN_LIMIT
from seesay.judge.web.rendering import html_page

_MAX_LINKS = 500
"""Links that are created at a time."""
_STATES = ("open", "paused", "closed")


class ResearcherPages(Routes):
    """The researcher's routes of one study."""

    async def show(self, request: Request) -> Response:
        """Show the live page, or the login."""
        session = await self.context.session(request)
        if session is None:
            return self._login_page()
        return await self._overview(session, [])

    async def login(self, request: Request) -> Response:
        """Check the password and open a session."""
        self.context.limit(LOGIN_LIMIT, client_address(request))
        form = await read_form(request)
        self._check_login_token(form.get("form", ""))
        stored = await self.run(lambda tx: get_setting(tx, "password"))
        password = form.get("password", "")[:1000]
        # In a thread, since scrypt is slow on purpose and would hold up everybody else.
        if stored is None or not await asyncio.to_thread(
            security.verify_password, password, stored
        ):
            return self._login_page(403, wrong=True)
        token = security.new_token()
        now = self.context.clock()
        expires = now + 3600 * SESSION_HOURS

        def work(tx: Transaction) -> None:
            tx.execute("DELETE FROM session WHERE expires < ?", now)
            tx.execute(
                "INSERT INTO session (token, expires) VALUES (?, ?)",
                security.digest(token),
                expires,
            )

        await self.run(work)
        response = RedirectResponse("/researcher", 303)
        # Behind a proxy the request itself comes without encryption.
        secure = request.url.scheme == "https" or self.context.public_url.startswith("https://")
        response.set_cookie(
            COOKIE,
            token,
            max_age=3600 * SESSION_HOURS,
            path="/",
            secure=secure,
            httponly=True,
            samesite="strict",
        )
        return response

    async def logout(self, request: Request) -> Response:
        """End the session."""
        session, _ = await self._read_form(request)
        await self.run(
            lambda tx: tx.execute("DELETE FROM session WHERE token = ?", security.digest(session))
        )
        response = RedirectResponse("/researcher", 303)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response

    async def state(self, request: Request) -> Response:
        """Open, pause or close the study."""
        _, form = await self._read_form(request)
        state = form.get("state", "")
        if state not in _STATES:
            raise RequestRejectedError(422, "A study is open, paused or closed.")
        await self.run(lambda tx: set_setting(tx, "state", state))
        return RedirectResponse("/researcher", 303)

    async def links(self, request: Request) -> Response:
        """Create personal links; they are shown only once."""
        session, form = await self._read_form(request)
        count = parse_whole(form.get("count", ""))
        if count is None or not 1 <= count <= _MAX_LINKS:
            raise RequestRejectedError(422, f"Create between 1 and {_MAX_LINKS} links at a time.")
        now = self.context.clock()
        tokens = await self.run(lambda tx: participants.create_links(tx, count, now))
        links = [f"{self.context.public_url}/a/{token}" for token in tokens]
        return await self._overview(session, links)

    async def preview(self, request: Request) -> Response:
        """Show a page as a participant would see it; nothing is stored."""
        await self._require_session(request)
        return preview_page(self.study, token="preview")

    async def picture(self, request: Request) -> Response:
        """Send a picture on the preview page."""
        await self._require_session(request)
        page_items = sample_page(self.study)
        place = request.path_params["place"]
        if not 1 <= place <= len(page_items):
            raise RequestRejectedError(404, "There is no such picture.")
        item = page_items[place - 1].item
        return picture_response(item_picture(item, request.path_params.get("index")))

    async def disputes(self, request: Request) -> Response:
        """Show the items on which people disagree, with what was ruled on them."""
        session = await self._require_session(request)

        def work(tx: Transaction) -> tuple[list[Dispute], dict[str, tuple[str, ...]]]:
            judgements, _ = read_judgements(tx, self.study)
            counted, _ = exclude_careless(judgements, QualityCriteria())
            return disputed_items(counted), read_rulings(tx)

        disputes, rulings = await self.run(work)
        return self._page("disputes.html", session, disputes=disputes, rulings=rulings)

    async def rule(self, request: Request) -> Response:
        """Store a ruling on an item; without labels it is taken back."""
        _, form = await self._read_form(request)
        item = self.study.items_by_id.get(form.get("item", ""))
        if item is None or not item.has_labels:
            raise RequestRejectedError(422, "There is no such item to rule on.")
        labels = [label for place, label in enumerate(item.names) if f"o{place}" in form]
        now = self.context.clock()
        await self.run(lambda tx: save_ruling(tx, item, labels, now))
        return RedirectResponse("/researcher/disputes", 303)

    async def export(self, request: Request) -> Response:
        """Send everything that `seesay judge export` writes, as a ZIP file."""
        await self._require_session(request)
        from seesay.judge.results.export import export_zip

        content = await asyncio.to_thread(export_zip, self.context.database, self.study)
        # A quotation mark or a line break would end the header.
        name = re.sub(r"[^\w-]", "-", self.study.name, flags=re.ASCII)
        headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
        return Response(content, media_type="application/zip", headers=headers)

    async def _overview(self, session: str, links: list[str]) -> Response:
        """Return the live page, with links that were created just now."""
        now = self.context.clock()
        progress = await self.run(lambda tx: study_progress(tx, self.study, now))
        join = f"{self.context.public_url}/join/{self.context.join_key}"
        return self._page("researcher.html", session, progress=progress, links=links, join=join)

    def _page(self, template: str, session: str, **values: Any) -> Response:
        """Return a page with the token of its forms; the researcher's pages are in English."""
        form = self.context.form_token("researcher", session)
        return html_page(template, language="en", study=self.study, form=form, **values)

    async def _require_session(self, request: Request) -> str:
        """Return the session of a request, or reject it."""
        session = await self.context.session(request)
        if session is None:
            self.context.reject_unknown(
                request, 401, "This page needs the researcher's password: log in first."
            )
        return session

    async def _read_form(self, request: Request) -> tuple[str, dict[str, str]]:
        """Return the session, and the fields of a form that belongs to it."""
        session = await self._require_session(request)
        form = await read_form(request)
        self.context.check_form(form, "researcher", session)
        return session, form

    def _check_login_token(self, token: str) -> None:
        """Accept a login form for one to two hours."""
        # Nobody has a session yet that the token could belong to: it belongs to an hour.
        for hour in (self._hour, self._hour - 1):
            if security.verify_signature(token, self.context.secret, "form", "login", hour):
                return
        raise RequestRejectedError(403, "This form is out of date: open the page again.")

    def _login_page(self, status: int = 200, wrong: bool = False) -> Response:
        form = self.context.form_token("login", self._hour)
        return html_page("login.html", status, "en", study=self.study, form=form, wrong=wrong)

    @property
    def _hour(self) -> int:
        return math.floor(self.context.clock() / 3600)
