"""What pictures keep between runs."""

from __future__ import annotations

from seesay.caches import Cache

ICON_PICTURES = Cache("icon-pictures", "pictures of the prior tasks", format=None)
