"""A house on several simulated machines, for tests of failures.

Each machine is a network namespace with its own address and name, so that its network cable can be
unplugged. Needs root. `python -m deploy.hosts` starts it.
"""
