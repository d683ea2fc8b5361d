"""Parses a page strictly and names elements that must not be in it."""

from collections import Counter
from html.parser import HTMLParser


class Page(HTMLParser):
    """The metadata of a page: ``language``, ``title``, number of main headings, and its ``faults``."""

    def __init__(self, text: str, nonce: str) -> None:
        super().__init__()
        self.language, self.title, self.headings = "", "", 0
        self.faults: list[str] = []
        self._nonce = nonce
        self._ids: Counter[str] = Counter()
        self._open: list[str] = []
        self._unprotected: list[str] = []
        self.feed(text)
        self.faults += [f"id {name} occurs {times} times" for name, times in self._ids.items() if times > 1]
        self.faults += self._unprotected

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attributes}
        self._open.append(tag)
        if "id" in given:
            self._ids[given["id"]] += 1
        self.faults += [f"{tag} has {name}" for name in given if name == "style" or name.startswith(("on", "hx-on"))]
        self.faults += [f"{tag} has {name}={value}" for name, value in given.items() if "javascript:" in value.lower()]
        match tag:
            case "html":
                self.language = given.get("lang", "")
            case "h1":
                self.headings += 1
            case "style":
                self.faults.append("style element")
            case "script":
                self._check_script(given)
            case "form":
                if given.get("method", "get").lower() == "post":
                    self._unprotected.append(f"form to {given.get('action')} without a token")
            case "input":
                if given.get("name") == "csrfmiddlewaretoken" and self._unprotected:
                    self._unprotected.pop()

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element."""
        if tag in self._open:
            while self._open.pop() != tag:
                continue

    def handle_data(self, data: str) -> None:
        """Note the title; every page has one."""
        if self._open and self._open[-1] == "title" and "head" in self._open:
            self.title += data

    def _check_script(self, given: dict[str, str]) -> None:
        data_only = given.get("type", "") in ("application/json", "importmap")
        if not data_only and given.get("nonce") != self._nonce:
            self.faults.append(f"script {given.get('src', '(inline)')} without the nonce")
