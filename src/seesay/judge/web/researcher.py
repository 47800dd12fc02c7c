"""The researcher's pages, behind the password: live counts, links, pause and close, preview, export."""

from __future__ import annotations

import asyncio
import math

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from seesay.judge import participants, progress, secret
from seesay.judge.answers import RefusedError
from seesay.judge.storage.database import Transaction, keep, setting
from seesay.judge.web.context import COOKIE, SESSION_HOURS, Desk, address, read_form
from seesay.judge.web.pages import picture_of, sample
from seesay.judge.web.rate_limits import LOGIN, STRANGER
from seesay.judge.web.rendering import page

_MOST_LINKS = 500
_STATES = ("open", "paused", "closed")


class Researcher:
    """The researcher's routes of one study."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def show(self, request: Request) -> Response:
        """The live page, or the login."""
        session = await self.desk.session(request)
        if session is None:
            return page("login.html", study=self.desk.study, form=self._login_token(), wrong=False)
        return await self._overview(request, session, [])

    async def login(self, request: Request) -> Response:
        """Check the password and open a session."""
        self.desk.limit(LOGIN, address(request))
        form = await read_form(request)
        self._check_login_token(form.get("form", ""))
        kept = await self.desk.run(lambda tx: setting(tx, "password"))
        given = form.get("password", "")[:1000]
        if kept is None or not await asyncio.to_thread(secret.check_password, given, kept):
            return page("login.html", 403, study=self.desk.study, form=self._login_token(), wrong=True)
        token, expires = secret.new_token(), self.desk.clock() + 3600 * SESSION_HOURS
        now = self.desk.clock()

        def work(tx: Transaction) -> None:
            tx.rows("DELETE FROM session WHERE expires < ?", now)
            tx.rows("INSERT INTO session (token, expires) VALUES (?, ?)", secret.digest(token), expires)

        await self.desk.run(work)
        response = RedirectResponse("/researcher", 303)
        secure = request.url.scheme == "https" or self.desk.public_url.startswith("https://")
        response.set_cookie(
            COOKIE, token, max_age=3600 * SESSION_HOURS, path="/", secure=secure, httponly=True, samesite="strict"
        )
        return response

    async def logout(self, request: Request) -> Response:
        """End the session."""
        session = await self._inside(request)
        await self._form(request, session)
        await self.desk.run(lambda tx: tx.rows("DELETE FROM session WHERE token = ?", secret.digest(session)))
        response = RedirectResponse("/researcher", 303)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return response

    async def state(self, request: Request) -> Response:
        """Open, pause or close the study."""
        session = await self._inside(request)
        wanted = (await self._form(request, session)).get("state", "")
        if wanted not in _STATES:
            raise RefusedError(422, "A study is open, paused or closed.")
        await self.desk.run(lambda tx: keep(tx, "state", wanted))
        return RedirectResponse("/researcher", 303)

    async def links(self, request: Request) -> Response:
        """Make personal links; they are shown this once."""
        session = await self._inside(request)
        count = (await self._form(request, session)).get("count", "")
        if not count.isascii() or not count.isdigit() or not 1 <= int(count) <= _MOST_LINKS:
            raise RefusedError(422, f"Make from 1 to {_MOST_LINKS} links at a time.")
        now = self.desk.clock()
        tokens = await self.desk.run(lambda tx: participants.invite(tx, int(count), now))
        return await self._overview(request, session, [f"{self._base(request)}/a/{token}" for token in tokens])

    async def preview(self, request: Request) -> Response:
        """The pages as a person would see them; nothing is kept."""
        await self._inside(request)
        return page("preview.html", study=self.desk.study, slots=sample(self.desk.study), token="preview")

    async def picture(self, request: Request) -> Response:
        """A picture of the preview."""
        await self._inside(request)
        slots = sample(self.desk.study)
        place = int(request.path_params["place"])
        if not 1 <= place <= len(slots):
            raise RefusedError(404, "There is no such picture.")
        return picture_of(slots[place - 1].item)

    async def export(self, request: Request) -> Response:
        """Everything that `seesay judge export` writes, as one archive."""
        await self._inside(request)
        from seesay.judge.results.export import archive

        content = await asyncio.to_thread(archive, self.desk.database, self.desk.study)
        name = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in self.desk.study.name)
        headers = {"Content-Disposition": f'attachment; filename="{name.encode("ascii", "replace").decode()}.zip"'}
        return Response(content, media_type="application/zip", headers=headers)

    async def _overview(self, request: Request, session: str, links: list[str]) -> Response:
        now, study = self.desk.clock(), self.desk.study
        counted = await self.desk.run(lambda tx: progress.counts(tx, study, now))
        return page(
            "researcher.html",
            study=study,
            counts=counted,
            links=links,
            join=f"{self._base(request)}/join/{self.desk.join_key}",
            form=self.desk.form_token("researcher", session),
        )

    async def _inside(self, request: Request) -> str:
        session = await self.desk.session(request)
        if session is None:
            self.desk.limit(STRANGER, address(request))
            raise RefusedError(401, "This page needs the researcher's password: log in first.")
        return session

    async def _form(self, request: Request, session: str) -> dict[str, str]:
        form = await read_form(request)
        self.desk.check_form(form, "researcher", session)
        return form

    def _base(self, request: Request) -> str:
        return self.desk.public_url or f"{request.url.scheme}://{request.url.netloc}"

    def _login_token(self, hours_ago: int = 0) -> str:
        return self.desk.form_token("login", math.floor(self.desk.clock() / 3600) - hours_ago)

    def _check_login_token(self, given: str) -> None:
        if not any(secret.is_signed(given, self.desk.secret, "form", "login", hour) for hour in self._hours()):
            raise RefusedError(403, "This form is out of date: open the page again.")

    def _hours(self) -> tuple[int, int]:
        hour = math.floor(self.desk.clock() / 3600)
        return hour, hour - 1
