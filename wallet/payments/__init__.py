"""Deposits through payment providers.

`deposits` begins one, `notifications` decides what a provider's message means, `status_queries`
queries overdue deposits, `held_deposits` sends back what may not be credited,
and `providers` talks to the configured django-payments provider.
"""
