from django.apps import AppConfig


class WalletConfig(AppConfig):
    name = "wallet"

    def ready(self) -> None:
        """Register approvals, hourly totals, reports, significant events and AML detection."""
        from audit import approvals, hours  # models are not loaded before this
        from wallet import alterations, letters, reports, significant, withdrawals
        from wallet.aml import detection as watches
        from wallet.ledger import adjustments, hourly_totals
        from wallet.seamless_wallet import partners

        letters.register()
        approvals.register(
            withdrawals.KIND,
            title="payment of a withdrawal",
            then="The house sends the money to this bank account. If you refuse, it goes back to the player’s balance.",
            execute=withdrawals.second,
            refuse=withdrawals.turn_down,
            permission="wallet.approve_withdrawal",
            describe=withdrawals.describe,
        )
        approvals.register(
            adjustments.KIND,
            title="adjustment of a balance",
            then="The balance changes at once, against the house, and the player reads why in a mail and a statement.",
            execute=adjustments.execute,
            permission=adjustments.DECIDE,
            describe=adjustments.describe,
            standing=adjustments.standing,
        )
        approvals.register(
            partners.ADD,
            title="partner of the seamless wallet",
            then="The partner and its first key are made. Whoever asked sees the secret once, and hands it over.",
            execute=partners.add,
            permission=partners.DECIDE,
            describe=partners.describe,
        )
        approvals.register(
            partners.KEY,
            title="another key of a partner",
            then="The key is made; the one before it goes on. Whoever asked sees the secret once, and hands it over.",
            execute=partners.add_key,
            permission=partners.DECIDE,
            describe=partners.describe_key,
        )
        alterations.ready()
        hours.register(
            hourly_totals.SUMS,
            roll=hourly_totals.roll,
            first=hourly_totals.first,
            differences=hourly_totals.differences,
        )
        reports.register()
        significant.register()
        watches.register()
