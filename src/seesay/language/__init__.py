"""Language models of our own, and spatial meaning read out of perplexities."""
