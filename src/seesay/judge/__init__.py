"""The web page that asks people, and people as a model.

A study (`study`) is what is asked; a database (`database`, `sqlite`, `postgres`) keeps who was asked what and what
they said; `handing_out` and `answering` change it; `app` serves the pages; `cleaning`, `tables`, `agreement` and
`people_run` turn it into results.
"""
