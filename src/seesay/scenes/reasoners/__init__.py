"""Reasoners: small networks that look at a picture, read a sentence, and answer."""
