"""Whether bets return what they should: how each ended, summed up by the hour, the evidence against that, and what
follows from it. The mathematics is the engine's (`games.engine.evidence`).
"""
