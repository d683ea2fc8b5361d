"""What programs may ask about a player's money, and the limits they set on it."""

from django.urls import path

from wallet.api import balances, limits

urlpatterns = [
    path("balances/", balances.Balances.as_view(), name="balances"),
    path("limits/", limits.Limits.as_view(), name="limits"),
    path("limits/withdrawn/", limits.LimitWithdrawal.as_view(), name="limit_withdraw"),
    path("limits/declined/", limits.LimitsDeclined.as_view(), name="limits_decline"),
]
