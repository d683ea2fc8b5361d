"""The ledger's addresses in the back office."""

from django.urls import path

from wallet import staff_views

urlpatterns = [path("ledger/", staff_views.staff_ledger, name="staff_ledger")]
