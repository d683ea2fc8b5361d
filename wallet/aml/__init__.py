"""Signs of money laundering: money that only passes through, deposits kept just under the amount from which somebody
looks, deposits far above a player's own months before. Each is found in the sealed log and told with the rows it
follows from; nothing is decided here.
"""
