"""Back office: all pages under ``/staff/`` and the compliance API."""
