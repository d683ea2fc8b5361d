"""The frame of reports (GLI-19 v3.0, 2.9.1): what is common to all of them, whatever they tell of. Which there are, the
floors above register (`audit.reports.kinds`).
"""
