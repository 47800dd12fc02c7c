"""The typical-label rules, which tasks need as well as metrics: they live with the data."""

from __future__ import annotations

from seesay.data.typical_labels import typical_labels, typical_size_labels, typical_space_labels

__all__ = ["typical_labels", "typical_size_labels", "typical_space_labels"]
