"""The first migration of content types."""

from importlib import import_module

Migration = import_module("django.contrib.contenttypes.migrations.0001_initial").Migration
