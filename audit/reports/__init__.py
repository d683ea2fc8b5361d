"""Report framework (GLI-19 v3.0, 2.9.1): what all reports have in common. Other apps register the
kinds of reports (`audit.reports.kinds`).
"""
