"""Read-only lists of the house's rows under ``/staff/admin/``: search, filter, view one row, export.

The lists are Django's admin with the unfold theme, reduced to reading. They cannot add, change or
remove a row. The modules of `backoffice.lists` define the lists.
"""
