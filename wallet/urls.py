"""The cashier's addresses, under the language."""

from django.urls import path

from wallet import views

urlpatterns = [
    path("cashier/", views.cashier, name="cashier"),
    path("cashier/deposit/", views.cashier_deposit, name="cashier_deposit"),
    path("cashier/top-up/", views.cashier_top_up, name="cashier_top_up"),
]
