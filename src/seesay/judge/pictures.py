"""The pictures that a study shows."""

PICTURES = {
    ".png": ("image/png", b"\x89PNG"),
    ".jpg": ("image/jpeg", b"\xff\xd8"),
    ".jpeg": ("image/jpeg", b"\xff\xd8"),
    ".gif": ("image/gif", b"GIF8"),
    ".webp": ("image/webp", b"RIFF"),
    ".svg": ("image/svg+xml", b"<"),
}
"""Media type and first bytes of the pictures that are shown, by suffix."""
