from django.urls import path

from games import staff_views

urlpatterns = [
    path("tables/", staff_views.staff_tables, name="staff_tables"),
    path("tables/<int:table_id>/status/", staff_views.staff_table_status, name="staff_table_status"),
]
