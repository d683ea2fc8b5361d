"""Outbox page of the demo: shows all mail, codes included. In production it is not found."""

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from players.models import Mail

PAGE = 20


class AddressFilter(forms.Form):
    """Filter by e-mail address; empty for all mail."""

    address = forms.CharField(required=False, strip=True, max_length=254, label=_("E-mail address"))


@require_safe
def outbox(request: HttpRequest) -> HttpResponse:
    """Show all mail, newest first. Raises Http404 outside the demo."""
    if not settings.DEMO:
        raise Http404
    form = AddressFilter(request.GET)
    address = form.cleaned_data["address"].lower() if form.is_valid() else ""
    mails = Mail.objects.order_by("-id")
    if address:
        mails = mails.filter(address__icontains=address)
    page = Paginator(mails, PAGE).get_page(request.GET.get("page"))
    return render(request, "demo/outbox.html", {"form": form, "address": address, "page": page})
