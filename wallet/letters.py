"""Amounts in letters to players: from a deposit, from a withdrawal, or typed by the staff member."""

from typing import Any

from django import forms
from django.utils.translation import get_language, gettext

from players.models import Player
from players.support import staff_replies as replies
from players.support.staff_replies import Given, Input
from wallet.cashier import MoneyField
from wallet.models import Payment, Withdrawal
from wallet.money import format_money


def register() -> None:
    """Register these amounts with the letter templates."""
    replies.register_input("amount", Input(_field, _write))
    replies.register("deposit", _deposit)
    replies.register("withdrawal", _withdrawal)


def _field(player: Player) -> forms.Field:
    field = MoneyField(required=False, label=gettext("Amount (%(currency)s)") % {"currency": player.currency})
    field.currency = player.currency
    return field


def _write(value: Any, player: Player) -> str:
    return format_money(value, player.currency, get_language() or "en")


def _deposit(player: Player, number: str) -> Given | None:
    found = Payment.objects.filter(pk=number, player=player).first()
    return Given("deposit", {"amount": _of(found.amount, found.currency)}) if found else None


def _withdrawal(player: Player, number: str) -> Given | None:
    found = Withdrawal.objects.filter(pk=number, player=player).first()
    return Given("withdrawal", {"amount": _of(found.amount, found.currency)}) if found else None


def _of(amount: int, currency: str) -> str:
    return format_money(amount, currency, get_language() or "en")
