"""Lists of the back office under ``/staff/lists/``: search, filter, view one row, export, act on rows.

`view.StaffListView` is the list; the modules named after apps declare one for each model.
"""
