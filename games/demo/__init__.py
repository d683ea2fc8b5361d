"""A visitor without an account watches a round and plays with chips that are worth nothing.

None of it is money and none of it is kept: it lives in the visitor's session and ends with it.
"""
