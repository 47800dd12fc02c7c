"""The CS388 notes: perplexity, precision and recall, and the evaluation of captions."""
