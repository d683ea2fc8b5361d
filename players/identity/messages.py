"""Translated texts for documents, parts and refusal reasons, as players read them."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from players.models import DocumentKind, Part, RefusalReason

_Word = str | Promise

DOCUMENT_KINDS: dict[DocumentKind, _Word] = {
    DocumentKind.PASSPORT: gettext_lazy("Passport"),
    DocumentKind.CARD: gettext_lazy("Identity card"),
    DocumentKind.LICENCE: gettext_lazy("Driving licence"),
}
PARTS: dict[Part, _Word] = {
    Part.FRONT: pgettext_lazy("identity document", "Front"),
    Part.BACK: pgettext_lazy("identity document", "Back"),
    Part.ADDRESS: gettext_lazy("Proof of address"),
}
REASONS: dict[RefusalReason, _Word] = {
    RefusalReason.UNREADABLE: gettext_lazy("A document cannot be read. Send a sharp picture of the whole page."),
    RefusalReason.EXPIRED: gettext_lazy("A document is out of date."),
    RefusalReason.MISMATCH: gettext_lazy("What you wrote is not what your document says."),
    RefusalReason.ADDRESS: gettext_lazy(
        "The proof of address does not show your name and address, or is older than three months."
    ),
    RefusalReason.INCOMPLETE: gettext_lazy("A page or a side of a document is missing."),
    RefusalReason.ALTERED: gettext_lazy("A document seems to have been altered. Send the original as it is."),
    RefusalReason.ANOTHER_ACCOUNT: gettext_lazy("You have another account here, and each person may have one."),
}
