"""Tasks that are files: loading, checking, starting and exporting them."""
