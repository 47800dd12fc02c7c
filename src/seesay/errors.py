"""Errors that are the user's to fix."""

from __future__ import annotations


class UserError(Exception):
    """A mistake that the user can fix. The command line prints it as one sentence and exits with code 2."""
