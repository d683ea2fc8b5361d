"""What is in force at tables: rules as data, versions that one person asks for and another decides on, and when they
go live.
"""
