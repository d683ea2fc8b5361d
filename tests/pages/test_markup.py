"""The reader of pages must see the faults it is trusted to see."""

import pytest

from tests.pages.markup import Page

GOOD = (
    '<html lang="en"><head><title>A</title><script src="a.js" nonce="n"></script></head><body><h1 id="a">A</h1>'
    '<form method="post" action="/x/"><input type="hidden" name="csrfmiddlewaretoken" value="t"></form>'
    '<form action="/search/"><input name="q"></form><script type="application/json">{}</script></body></html>'
)


def test_a_good_page_has_no_fault():
    page = Page(GOOD, nonce="n")
    assert (page.language, page.title, page.headings, page.faults) == ("en", "A", 1, [])


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ('<p style="color:red">', "p has style"),
        ('<p onclick="go()">', "p has onclick"),
        ('<p hx-on:click="go()">', "p has hx-on:click"),
        ('<a href="JavaScript:go()">', "a has href=JavaScript:go()"),
        ("<style>p{}</style>", "style element"),
        ("<script>go()</script>", "script (inline) without the nonce"),
        ('<script src="b.js" nonce="other"></script>', "script b.js without the nonce"),
        ('<form method="POST" action="/y/"></form>', "form to /y/ without a token"),
        ('<p id="a">', "id a occurs 2 times"),
    ],
)
def test_a_fault_is_named(part, fault):
    assert Page(GOOD.replace("</body>", part + "</body>"), nonce="n").faults == [fault]
