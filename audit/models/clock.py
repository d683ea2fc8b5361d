"""The one clock of the house."""

from django.db import models
from django.db.models import Func


class Clock(Func):
    """PostgreSQL's clock as it stands when a row is written; `Now` is when its transaction began."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()
