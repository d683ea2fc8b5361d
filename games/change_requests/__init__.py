"""Change requests of tables: stored rules, versions that need a request and a decision, and their
schedule.
"""
