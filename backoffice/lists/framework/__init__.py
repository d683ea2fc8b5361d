"""Read-only lists of rows under ``/staff/admin/``: search, filter, view one, export.

The lists are Django's admin with the unfold theme, reduced to reading. They cannot add, change or
remove a row. The modules of `backoffice.lists` define the lists.
"""
