"""Dealing very many coups without money, a database or anybody at the table, to see that returns come out as computed.

Two ways lead to the same tally. `by_engine` goes through the shuffle and the settlement that play uses; `by_arrays`
deals many shoes at once with NumPy and lets the engine say what each kind of coup is and pays. NumPy is imported here
and nowhere else in the house.
"""
