"""Training language models on captions: CapBERT, LSTMs and n-grams."""
