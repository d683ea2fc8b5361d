"""A page as a tree of elements, to which the parts of an answer of htmx are applied as a browser does."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
OOB = "hx-swap-oob"


@dataclass
class Element:
    """An element: its attributes, and its children, which are elements and texts."""

    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    def elements(self) -> Iterator["Element"]:
        """Yield this element and all in it, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.elements()

    def by_id(self, name: str) -> "Element":
        """Return the element with an id. Raises KeyError."""
        for element in self.elements():
            if element.attributes.get("id") == name:
                return element
        raise KeyError(name)

    def remove(self, unwanted: "Element") -> None:
        """Remove an element in this one."""
        for element in self.elements():
            element.children = [child for child in element.children if child is not unwanted]

    @property
    def text(self) -> str:
        """The text, with single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            yield from child._texts() if isinstance(child, Element) else [child]

    def outline(self) -> list[object]:
        """Return what readers and scripts see: tags, attributes and texts, without white space between elements."""
        inside: list[object] = []
        for child in self.children:
            if isinstance(child, Element):
                inside += child.outline()
            elif child.strip():
                inside.append(" ".join(child.split()))
        return [(self.tag, sorted(self.attributes.items())), *inside, f"/{self.tag}"]


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open = [Element("", {})]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(text: str) -> Element:
    """Return the elements of a page or a fragment. Fails if a tag is not closed."""
    reader = _Reader(text)
    assert len(reader.open) == 1, reader.open[-1]
    return reader.open[0]


def apply_parts(page: Element, answer: str) -> list[str]:
    """Put the out-of-band parts of an answer in the place of those of the page; return their ids.

    Fails if the answer has anything else, or a part that the page does not have.
    """
    replaced = []
    for part in read(answer).children:
        if isinstance(part, str):
            assert not part.strip(), part
            continue
        assert part.attributes.pop(OOB) == "true", part.tag
        name = part.attributes["id"]
        target = page.by_id(name)
        target.tag, target.attributes, target.children = part.tag, part.attributes, part.children
        replaced.append(name)
    return replaced


def sent_by(form: Element) -> dict[str, str]:
    """Return what a form sends, without a button."""
    return {
        element.attributes["name"]: element.attributes.get("value", "")
        for element in form.elements()
        if element.tag == "input"
        and "name" in element.attributes
        and (element.attributes.get("type") != "radio" or "checked" in element.attributes)
    }
