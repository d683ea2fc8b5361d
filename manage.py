#!/usr/bin/env python
"""The one command-line entrance: `manage.py help` lists what it can do."""

import gc
import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    gc.set_threshold(10_000)  # nothing of what a start imports is garbage: looking for it took a sixth of every start
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    execute_from_command_line(sys.argv)
