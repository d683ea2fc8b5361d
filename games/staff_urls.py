from django.urls import path

from games import staff_rounds, staff_views

urlpatterns = [
    path("incidents/", staff_views.staff_incidents, name="staff_incidents"),
    path("rounds/", staff_rounds.staff_rounds, name="staff_rounds"),
    path("tables/", staff_views.staff_tables, name="staff_tables"),
    path("tables/<int:table_id>/status/", staff_views.staff_table_status, name="staff_table_status"),
]
