"""Whether cards and shuffles are what chance gives (GLI-19 v3.0, 3.2–3.3): they are counted hour by hour, and tested at
99 % confidence whenever somebody looks, and once for each week that is over.
"""
