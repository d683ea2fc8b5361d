"""What lists of people are filtered by: each index goes on in the order of its list."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0019_locks")]
    operations = [
        migrations.AlterField(
            "player",
            "jurisdiction",
            models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.jurisdiction"),
        ),
        migrations.AddIndex("player", models.Index(fields=["jurisdiction", "-id"], name="players_player_where")),
        migrations.AddIndex("closure", models.Index(fields=["state", "-id"], name="players_closure_state")),
        migrations.AddIndex("closure", models.Index(fields=["state", "-player"], name="players_closure_whose")),
        migrations.AddIndex("exclusion", models.Index(fields=["kind", "-id"], name="players_exclusion_kind")),
        migrations.AddIndex("submission", models.Index(fields=["status", "-id"], name="players_submission_status")),
        migrations.AddIndex(
            "registercheck",
            models.Index(
                fields=["outcome", "-id"], condition=~models.Q(outcome="clear"), name="players_registercheck_hits"
            ),
        ),
        migrations.AddIndex(
            "mail",
            models.Index(
                fields=["-id"], condition=models.Q(next_try_at=None, sent_at=None), name="players_mail_given_up"
            ),
        ),
    ]
