"""A house on many machines, all of them on this one: each is a network namespace with an address and a name of its own,
so that a cable can be pulled. Needs root; `python -m deploy.hosts` opens it.
"""
