"""Training small networks: one loop that can be stopped and resumed, and what is trained with
it."""
