"""Pictures with boxes and captions → knowledge: what colours, sizes and places they teach."""
