"""URLs of the cashier and the limits page, below the language prefix."""

from django.urls import path

from wallet import limits
from wallet.cashier import views
from wallet.payments import views as payments
from wallet.sandbox_bank.views import sandbox_bank
from wallet.withdrawals import views as withdrawal_views

urlpatterns = [
    path("cashier/", views.cashier, name="cashier"),
    path("cashier/deposit/", views.cashier_deposit, name="cashier_deposit"),
    path("cashier/deposit/<uuid:payment_id>/", payments.cashier_payment, name="cashier_payment"),
    path("cashier/deposit/<uuid:payment_id>/state/", payments.cashier_payment_state, name="cashier_payment_state"),
    path("cashier/deposit/<uuid:payment_id>/bank/", payments.cashier_payment_bank, name="cashier_payment_bank"),
    path("sandbox-bank/<str:order>/", sandbox_bank, name="sandbox_bank"),
    path("cashier/withdraw/", withdrawal_views.cashier_withdraw, name="cashier_withdraw"),
    path("cashier/withdraw/cancel/", withdrawal_views.cashier_withdraw_cancel, name="cashier_withdraw_cancel"),
    path("cashier/top-up/", views.cashier_top_up, name="cashier_top_up"),
    path("protection/limits/", limits.limits_page, name="limits"),
    path("protection/limits/withdraw/", limits.limits_withdraw, name="limits_withdraw"),
    path("protection/limits/confirm/", limits.limits_confirm, name="limits_confirm"),
    path("protection/limits/not-now/", limits.limits_decline, name="limits_decline"),
    path("protection/limits/reviewed/", limits.limits_review, name="limits_review"),
]
