"""Deposits through payment providers: `beginning` asks for one, `notices` decides what news of it means, `asking` asks
where none comes, `providers` speaks with whatever django-payments provider is configured.
"""
