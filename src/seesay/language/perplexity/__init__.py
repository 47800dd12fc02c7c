"""Perplexity of texts, and the surprisal of each word."""
