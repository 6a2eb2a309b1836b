"""What every request has at hand, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ranksift.labelling.records import Person, Task
from ranksift.labelling.store import Store
from ranksift.labelling.web.desk import Desk
from ranksift.labelling.web.overview import Overviews
from ranksift.labelling.web.problems import not_found
from ranksift.labelling.web.rendering import render
from ranksift.labelling.web.security import Guesses, form_token, is_form_token
from ranksift.labelling.web.settings import Settings
from ranksift.web.problems import Problem


@dataclass(frozen=True)
class Site:
    """A project that is served."""

    store: Store
    settings: Settings
    desk: Desk
    guesses: Guesses
    overviews: Overviews

    @cached_property
    def cookie_name(self) -> str:
        """That of the session: cookies do not know ports, so projects on one machine need names of their own."""
        return f"ranksift_{self.store.site}"

    @property
    def knock_name(self) -> str:
        """The name of the cookie of a visitor who is about to sign in."""
        return self.cookie_name + "_in"


@dataclass(frozen=True)
class Visit:
    """A request, with who makes it."""

    site: Site
    request: Request
    person: Person | None
    cookie: str = ""
    form: FormData = field(default_factory=FormData)
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The contents of the project."""
        return self.site.store

    @property
    def query(self) -> QueryParams:
        """What the address says after the question mark."""
        return self.request.query_params

    @property
    def root(self) -> str:
        """What all addresses begin with."""
        return self.site.settings.root_path

    @property
    def who(self) -> Person:
        """The person who asks, on pages that need a sign-in."""
        if self.person is None:
            raise Problem(401, "Open the personal link that the lead of this project has sent you.")
        return self.person

    def own_task(self, key: str) -> Task:
        """A task of this person. Those of others count as not found."""
        task = self.store.task(key)
        if task is None or task.person != self.who.id or not task.active:
            raise not_found()
        return task

    def field(self, name: str) -> str:
        """A field of the form, or nothing."""
        value = self.form.get(name, "")
        if not isinstance(value, str):
            return ""
        if "\0" in value:  # PostgreSQL holds no such text
            raise Problem(422, f"{name.capitalize()} has a null character.")
        return value.strip()

    def show(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page."""
        html = render(
            template,
            root=self.root,
            project=self.store.project,
            person=self.person,
            token=form_token(self.cookie) if self.cookie else "",
            here=self.request.url.path.removeprefix(self.root),
            **values,
        )
        return HTMLResponse(html, status)

    def go(self, path: str) -> Response:
        """Another page, after a form; a page that swaps parts is sent on as a whole."""
        if self.request.headers.get("hx-request") == "true":
            return Response(status_code=204, headers={"hx-redirect": self.root + path})
        return RedirectResponse(self.root + path, 303)


def address(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


def identify(site: Site, request: Request) -> tuple[Person | None, str, bool]:
    """Who asks, the cookie, and whether it was by a token in the header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return by_link(site, request, token.strip()), "", True
    cookie = request.cookies.get(site.cookie_name, "")
    person = site.store.person_of_session(cookie) if cookie else None
    return (person if person and person.active else None), cookie, False


def by_link(site: Site, request: Request, token: str) -> Person | None:
    """Whose link it is; wrong ones are counted."""
    where = address(request)
    wait = site.guesses.wait(where)
    if wait > 0:
        seconds = max(1, round(wait))
        sentence = f"There were too many attempts with links that do not exist. Try again in {seconds} s."
        raise Problem(429, sentence, headers={"retry-after": str(seconds)})
    person = site.store.person_of_link(token)
    if person is None or not person.active:
        site.guesses.wrong(where)
        return None
    return person


def check_form(request: Request, cookie: str, form: FormData) -> None:
    """Refuse requests sent by pages of other sites."""
    sent = request.headers.get("x-csrf-token") or form.get("token", "")
    if not isinstance(sent, str) or not is_form_token(cookie, sent):
        raise Problem(403, "This form is too old or comes from another page. Go back, reload the page and try again.")
