"""What compliance demands two people for: nobody who asks decides it, by whichever way it may be done."""

import pytest
from django.contrib.auth.models import Permission

from audit import approvals

# What it is, the kind of request by which it is done.
DEMANDED = {
    "balance adjustments": "balance.adjust",
    "voiding a settled round": "void_live_round",
    "changes of limits or rules on a live table": "table.version",
    "lifting an exclusion": "exclusion.lift",
    "paying withdrawals above a threshold": "withdrawal",
}


@pytest.mark.django_db
@pytest.mark.parametrize("kind", DEMANDED.values(), ids=DEMANDED)
def test_each_is_a_request_that_some_role_decides(kind):
    app, codename = approvals.kind(kind).permission.split(".")
    assert Permission.objects.filter(content_type__app_label=app, codename=codename, group__isnull=False).exists()
