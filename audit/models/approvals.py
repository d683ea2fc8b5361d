"""Approvals and decisions; triggers refuse every change."""

from django.db import models

from audit.models.hours import Clock


class Verdict(models.TextChoices):
    """How an approval ended."""

    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"  # nobody decided in time
    WITHDRAWN = "withdrawn"  # by the person who asked


class Approval(models.Model):
    """A request by one person that another person has to decide.

    ``request`` holds the canonical JSON that will be executed unchanged, ``sha256`` its hash.
    ``person`` is the human behind ``by``: two accounts of one human share it.
    """

    kind = models.TextField()
    on = models.TextField()  # the subject, as in the event log
    request = models.TextField()
    sha256 = models.BinaryField()
    by = models.TextField()
    person = models.UUIDField()
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "audit_approval"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["on", "id"], name="audit_approval_on"),
            models.Index(fields=["kind", "-id"], name="audit_approval_kind"),
        ]


class Decision(models.Model):
    """The end of an approval. ``asker`` repeats the approval's person, so that a constraint can
    compare the two: they are equal if and only if the request was withdrawn. ``person`` is None
    where it expired.
    """

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True)
    verdict = models.CharField(max_length=9, choices=Verdict)
    by = models.TextField()
    asker = models.UUIDField()
    person = models.UUIDField(null=True)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_decision"
        default_permissions = ()
        indexes = [models.Index(fields=["verdict", "-approval"], name="audit_decision_verdict")]
