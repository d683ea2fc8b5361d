"""URLs of the player API for balances and limits."""

from django.urls import path

from wallet.api import balances, limits

urlpatterns = [
    path("balances/", balances.Balances.as_view(), name="balances"),
    path("limits/", limits.Limits.as_view(), name="limits"),
    path("limits/withdrawn/", limits.LimitWithdrawal.as_view(), name="limit_withdraw"),
    path("limits/declined/", limits.LimitsDeclined.as_view(), name="limits_decline"),
]
