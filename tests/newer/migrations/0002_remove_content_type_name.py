"""The second migration of content types."""

from importlib import import_module

Migration = import_module("django.contrib.contenttypes.migrations.0002_remove_content_type_name").Migration
