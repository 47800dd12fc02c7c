"""Where seesay keeps things between runs."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Published data the user fetched or added: `SEESAY_DATA`, else the platform's (XDG) data
    folder."""
    return Path(os.environ.get("SEESAY_DATA") or _user_folder("user_data_dir", ".local/share"))


def cache_folder() -> Path:
    """What can be made again, such as converted weights: `SEESAY_CACHE`, else the platform's (XDG)
    cache folder."""
    return Path(os.environ.get("SEESAY_CACHE") or _user_folder("user_cache_dir", ".cache"))


def _user_folder(kind: str, without_platformdirs: str) -> str | Path:
    """The platform's folder; where captions are scored with NumPy alone there is no platformdirs to
    ask for it."""
    try:
        import platformdirs
    except ModuleNotFoundError:
        return Path.home() / without_platformdirs / "seesay"
    folder: str = getattr(platformdirs, kind)("seesay", appauthor=False)
    return folder
