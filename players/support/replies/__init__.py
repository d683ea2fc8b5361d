"""Reply templates in five languages: built-in ones, versions by staff, and placeholders."""
