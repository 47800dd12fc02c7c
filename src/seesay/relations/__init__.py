"""Spatial relations in a corpus: contexts, P-vectors, and what they are tested on."""
