from django.apps import AppConfig


class WalletConfig(AppConfig):
    name = "wallet"

    def ready(self) -> None:
        """Say what of money takes two people."""
        from audit import approvals  # models are loaded by now, and not before
        from wallet import alterations, significant, withdrawals

        approvals.register(
            withdrawals.KIND,
            execute=withdrawals.second,
            refuse=withdrawals.turn_down,
            permission="wallet.approve_withdrawal",
            describe=withdrawals.describe,
        )
        alterations.ready()
        significant.register()
