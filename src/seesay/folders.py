"""Where seesay keeps things between runs."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_folder() -> Path:
    """Published data the user fetched or added: `SEESAY_DATA`, else the platform's (XDG) data folder."""
    return Path(os.environ.get("SEESAY_DATA") or platformdirs.user_data_dir("seesay", appauthor=False))


def cache_folder() -> Path:
    """What can be made again, such as converted weights: `SEESAY_CACHE`, else the platform's (XDG) cache folder."""
    return Path(os.environ.get("SEESAY_CACHE") or platformdirs.user_cache_dir("seesay", appauthor=False))
