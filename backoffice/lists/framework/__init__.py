"""Lists of the rows that the house keeps, under ``/staff/admin/``: found, filtered, looked at one by one, taken out as
files. They are Django's admin in unfold's clothes, of which only what reads is left: nothing there adds, changes or
removes a row. The modules of `backoffice.lists` name the lists.
"""
