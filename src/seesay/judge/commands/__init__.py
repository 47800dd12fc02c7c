"""`seesay judge`."""
