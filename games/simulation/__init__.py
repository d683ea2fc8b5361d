"""Simulation: deals very many coups without money or database and compares returns with the
computed ones.

Two implementations give the same counts. `by_engine` uses the shuffle and the settlement of real
play. `by_arrays` deals many shoes at once with NumPy and asks the engine what each class of coup is
and pays. Only this package imports NumPy.
"""
