"""The statement as a PDF (GLI-19 v3.0, 2.5.7): figures, movements of money, totals by game and day.

The same statement written at the same time gives the same file, byte for byte.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from django.utils.timezone import override
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import CondPageBreak, Flowable, LongTable, Paragraph, SimpleDocTemplate, Spacer, TableStyle

from games.history.statement.figures import ClassSum, Figures, GameSum, Period, game_name
from players.datetime_format import written_day, written_time
from players.models import Player
from wallet.models import Mode
from wallet.money import MINUS, format_money

FONTS = Path(__file__).parent / "fonts"
REGULAR, BOLD = "Hanken", "Hanken-Bold"
INK, DIM, RULE, BAND = HexColor("#16201c"), HexColor("#5b6862"), HexColor("#c9d1cc"), HexColor("#eef2ef")
MARGIN = 18 * mm
WIDTH = A4[0] - 2 * MARGIN
ROOM = 35 * mm
TODAY_IS_NOT_KEPT = 1  # makes reportlab leave out the creation time and the document id

Cells = Sequence[str]


@dataclass(frozen=True)
class Paper:
    """The content of a statement document."""

    player: Player
    mode: Mode
    period: Period
    figures: Figures
    made_at: datetime
    language: str

    def money(self, minor: int) -> str:
        """Format an amount in the reader's language."""
        return format_money(minor, self.player.currency, self.language)

    def signed(self, minor: int) -> str:
        """Format an amount with a plus or minus sign."""
        sign = "" if minor == 0 else "+" if minor > 0 else MINUS
        return f"{sign}{self.money(abs(minor))}"

    def moment(self, at: datetime) -> str:
        """Format a date and time in the player's time zone."""
        with override(self.period.zone):
            return f"{written_day(at, self.language)} {written_time(at, self.language)}"

    @property
    def days(self) -> str:
        """The period as text."""
        since, until = (written_day(day, self.language) for day in (self.period.since, self.period.until))
        return f"{since} – {until}"


def document(paper: Paper) -> bytes:
    """Return the file, in the active language."""
    _load_fonts()
    out = BytesIO()
    template = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN + 6 * mm,
        title=" · ".join(("Sabot", _("Statement"), paper.days)),
        author="Sabot",
        lang=paper.language,
        invariant=TODAY_IS_NOT_KEPT,
    )
    foot = f"Sabot · {paper.player.user.email} · {paper.days}"
    template.build(list(_story(paper)), canvasmaker=_numbered(foot, _("Page %(page)d of %(pages)d")))
    return out.getvalue()


@cache
def _load_fonts() -> None:
    pdfmetrics.registerFont(TTFont(REGULAR, FONTS / "hanken-grotesk-400.ttf"))
    pdfmetrics.registerFont(TTFont(BOLD, FONTS / "hanken-grotesk-700.ttf"))


def _style(name: str, size: float, *, font: str = REGULAR, before: float = 0, after: float = 0) -> ParagraphStyle:
    return ParagraphStyle(
        name,
        fontName=font,
        fontSize=size,
        leading=size * 1.35,
        textColor=INK,
        spaceBefore=before,
        spaceAfter=after,
    )


HOUSE = _style("house", 10, font=BOLD)
TITLE = _style("title", 20, font=BOLD, after=6)
SECTION = _style("section", 12, font=BOLD, before=14, after=4)
TEXT = _style("text", 9)
FIGURE = ParagraphStyle("figure", TEXT, alignment=TA_RIGHT)
HEAD = ParagraphStyle("head", TEXT, fontName=BOLD)
HEAD_FIGURE = ParagraphStyle("head figure", HEAD, alignment=TA_RIGHT)
SMALL = 7.8  # font size for tables with many columns, so that the largest amounts fit in one line


def _story(paper: Paper) -> Iterator[Flowable]:
    yield Paragraph("Sabot", HOUSE)
    yield Paragraph(escape(_("Statement")), TITLE)
    yield _facts(paper)
    yield Paragraph(escape(_("Balance")), SECTION)
    yield _balance(paper)
    if paper.figures.is_empty:
        yield Paragraph(escape(_("No activity in this period.")), SECTION)
        return
    if paper.figures.games:
        yield from _section(_("Games"))
        yield _games(paper, paper.figures.games, with_day=False)
    if paper.figures.money:
        yield from _section(_("Transactions"))
        yield _movements(paper)
    if paper.figures.days:
        yield from _section(_("Games by day"))
        yield _games(paper, paper.figures.days, with_day=True)
        yield Spacer(0, 8)
        yield Paragraph(escape(_("The CSV file of this statement lists every round.")), TEXT)


def _section(name: str) -> Iterator[Flowable]:
    """Begin a section; start a new page unless the heading and some rows fit."""
    yield CondPageBreak(ROOM)
    yield Paragraph(escape(name), SECTION)


def _facts(paper: Paper) -> Flowable:
    money = _("Real money") if paper.mode is Mode.REAL else _("Play money")
    rows = [
        (_("Player number"), str(paper.player.pk)),
        (_("E-mail address"), paper.player.user.email),
        (pgettext("label", "Period"), paper.days),
        (_("Time zone"), paper.period.zone.key),
        (pgettext("label", "Money"), f"{money}, {paper.player.currency}"),
        (pgettext("a document", "Created"), paper.moment(paper.made_at)),
    ]
    cells = [[Paragraph(escape(name), HEAD), Paragraph(escape(value), TEXT)] for name, value in rows]
    table = LongTable(cells, colWidths=[WIDTH * 0.3, WIDTH * 0.7], hAlign="LEFT")
    table.setStyle(TableStyle([("LEFTPADDING", (0, 0), (0, -1), 0), *_PADDING]))
    return table


def _balance(paper: Paper) -> Flowable:
    figures = paper.figures
    rows = [(_("Opening balance"), "", paper.money(figures.opening.total))]
    rows.extend((str(line.name), _unseen(paper, line), paper.signed(line.amount)) for line in figures.sums)
    rows.append((_("Closing balance"), "", paper.money(figures.closing.total)))
    parts = (
        (_("of which in Golden Baccarat"), figures.closing.purse),
        (_("of which in a Chemin de Fer bank"), figures.closing.bank),
        (_("of which pending withdrawals"), figures.closing.pending),
        (_("of which deposits that we send back"), figures.closing.refund),
    )
    rows.extend((name, "", paper.money(amount)) for name, amount in parts if amount)
    closing = 1 + len(figures.sums)
    return _table(rows, (0.4, 0.35, 0.25), figures_from=2, bold=(0, closing))


def _unseen(paper: Paper, line: ClassSum) -> str:
    """Describe an amount that moved without changing the player's total balance."""
    if line.aside:
        return _("%(amount)s: your balance is unchanged") % {"amount": paper.money(line.aside)}
    return (
        _("%(amount)s transferred between your own balances") % {"amount": paper.money(line.within)}
        if line.within
        else ""
    )


def _games(paper: Paper, games: Sequence[GameSum], *, with_day: bool) -> Flowable:
    heads = [
        pgettext("table heading", "Game"),
        _("Rounds"),
        _("Staked"),
        _("Paid out"),
        _("Voided"),
        pgettext("won less lost", "Net"),
    ]
    rows = [
        [
            game_name(each.variant, paper.language),
            str(each.rounds),
            paper.money(each.staked),
            paper.money(each.paid),
            paper.signed(each.other),
            paper.signed(each.net),
        ]
        for each in games
    ]
    if not with_day:
        return _table(
            [heads, *rows], (0.2, 0.08, 0.18, 0.18, 0.18, 0.18), figures_from=1, bold=(0,), head=True, size=SMALL
        )
    heads.insert(0, pgettext("table heading", "Day"))
    for row, each in zip(rows, games, strict=True):
        row.insert(0, written_day(each.day, paper.language) if each.day else "")
    return _table(
        [heads, *rows], (0.16, 0.15, 0.07, 0.155, 0.155, 0.155, 0.155), figures_from=2, bold=(0,), head=True, size=SMALL
    )


def _movements(paper: Paper) -> Flowable:
    heads = [
        pgettext("table heading", "Time"),
        pgettext("number of a journal", "No."),
        pgettext("table heading", "Description"),
        _("Amount"),
    ]
    rows = [heads]
    for each in paper.figures.money:
        what = str(each.name)
        if each.within:
            what += (
                " ("
                + _("%(amount)s transferred between your own balances") % {"amount": paper.money(each.within)}
                + ")"
            )
        amount = paper.money(each.aside) if each.aside else paper.signed(each.amount)
        rows.append([paper.moment(each.at), str(each.journal_id), what, amount])
    return _table(rows, (0.28, 0.17, 0.36, 0.19), figures_from=3, bold=(0,), head=True)


_PADDING = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("TOPPADDING", (0, 0), (-1, -1), 2),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
]


def _table(
    rows: Sequence[Cells],
    widths: Sequence[float],
    *,
    figures_from: int,
    bold: Sequence[int],
    head: bool = False,
    size: float = TEXT.fontSize,
) -> Flowable:
    """Return a table with a heading on every page.

    Columns from *figures_from* on are right-aligned.
    """
    cells = [
        [
            Paragraph(escape(text), _cell_style(is_figure=column >= figures_from, is_bold=number in bold, size=size))
            for column, text in enumerate(row)
        ]
        for number, row in enumerate(rows)
    ]
    style = [*_PADDING, ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE)]
    style += [("BACKGROUND", (0, number), (-1, number), BAND) for number in bold]
    if size == SMALL:
        style += [("LEFTPADDING", (1, 0), (-1, -1), 2), ("RIGHTPADDING", (0, 0), (-2, -1), 2)]
    table = LongTable(cells, colWidths=[WIDTH * part for part in widths], repeatRows=int(head))
    table.setStyle(TableStyle(style))
    return table


@cache
def _cell_style(*, is_figure: bool, is_bold: bool, size: float) -> ParagraphStyle:
    found = {(False, False): TEXT, (False, True): HEAD, (True, False): FIGURE, (True, True): HEAD_FIGURE}[
        is_figure, is_bold
    ]
    # Figures are never split over two lines.
    return ParagraphStyle(
        f"{found.name} {size}", found, fontSize=size, leading=size * 1.35, splitLongWords=not is_figure
    )


def _numbered(foot: str, page_of_pages: str) -> type[Canvas]:
    """Return a canvas that writes page number and page count at the foot of every page."""

    class Numbered(Canvas):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **kwargs)
            self._pages: list[dict[str, object]] = []

        def showPage(self) -> None:  # noqa: N802  (reportlab's name)
            self._pages.append(dict(self.__dict__))
            self._startPage()

        def save(self) -> None:
            for number, page in enumerate(self._pages, start=1):
                self.__dict__.update(page)
                self.setFont(REGULAR, 8)
                self.setFillColor(DIM)
                self.drawString(MARGIN, MARGIN, foot)
                self.drawRightString(
                    A4[0] - MARGIN, MARGIN, page_of_pages % {"page": number, "pages": len(self._pages)}
                )
                super().showPage()
            super().save()

    return Numbered
