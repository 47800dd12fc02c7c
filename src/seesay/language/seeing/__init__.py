"""Language models that see: a picture as a few embeddings before the text."""
