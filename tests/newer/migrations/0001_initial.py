"""The sessions' own first migration."""

from importlib import import_module

Migration = import_module("django.contrib.sessions.migrations.0001_initial").Migration
