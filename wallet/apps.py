from django.apps import AppConfig
from django.utils.translation import gettext_noop


class WalletConfig(AppConfig):
    name = "wallet"

    def ready(self) -> None:
        """Register approvals, hourly totals, reports, significant events and AML detection."""
        from audit import approvals, hours, staff_text  # models are not loaded before this
        from wallet import aml as aml_detection
        from wallet import exchange_rates, letters, reports, significant, webhooks, withdrawals
        from wallet.invariants import house
        from wallet.ledger import adjustments, hourly_totals
        from wallet.money import write_money
        from wallet.payments import held_deposits
        from wallet.seamless_wallet import partners
        from wallet.withdrawals import releases

        letters.register()
        webhooks.register()
        exchange_rates.register()
        approvals.register(
            withdrawals.KIND,
            title=gettext_noop("payment of a withdrawal"),
            then=gettext_noop("The money is sent to this bank account."),
            otherwise=gettext_noop("The money returns to the player’s balance."),
            execute=withdrawals.second,
            refuse=withdrawals.turn_down,
            permission="wallet.approve_withdrawal",
            describe=withdrawals.describe,
            current_facts=releases.facts_without_suspicion,
        )
        approvals.register(
            releases.KIND,
            title=gettext_noop("release of a held withdrawal"),
            then=gettext_noop(
                "The facts listed here no longer hold this payout. It still has to be approved. A fact that is found "
                "later holds it again."
            ),
            execute=releases.execute,
            permission=releases.RELEASE,
            describe=releases.describe,
            current_facts=releases.current_facts,
        )
        approvals.register(
            adjustments.KIND,
            title=gettext_noop("balance adjustment"),
            then=gettext_noop(
                "The balance changes at once against the house account. The player is informed by e-mail "
                "and in the statement."
            ),
            execute=adjustments.execute,
            permission=adjustments.DECIDE,
            describe=adjustments.describe,
            current_facts=adjustments.current_facts,
        )
        approvals.register(
            held_deposits.KIND,
            title=gettext_noop("decision about a deposit"),
            then=gettext_noop(
                "Held money is recorded as sent back or credited to the player, who is informed by e-mail. A deposit "
                "that will not arrive is ended and no longer counts towards the player’s limits."
            ),
            execute=held_deposits.execute,
            permission=held_deposits.DECIDE,
            describe=held_deposits.describe,
            current_facts=held_deposits.current_facts,
        )
        approvals.register(
            partners.ADD,
            title=gettext_noop("partner of the seamless wallet"),
            then=gettext_noop(
                "The partner and its first key are created. The secret is shown once to the requester, "
                "who passes it on."
            ),
            execute=partners.add,
            permission=partners.DECIDE,
            describe=partners.describe,
        )
        approvals.register(
            partners.KEY,
            title=gettext_noop("new key for a partner"),
            then=gettext_noop(
                "The key is created; the previous key stays active. The secret is shown once to the "
                "requester, who passes it on."
            ),
            execute=partners.add_key,
            permission=partners.DECIDE,
            describe=partners.describe_key,
        )
        staff_text.register_format("money", write_money)
        reports.register_alterations()
        hours.register(
            hourly_totals.HOURLY_TOTALS,
            roll=hourly_totals.roll,
            first=hourly_totals.first,
            differences=hourly_totals.differences,
        )
        reports.register()
        significant.register()
        aml_detection.register()
        house.add()
