"""The task file: a YAML file that declares a task. Its grammar (`schema`), its reader, its rows and
their rules.

Everything here is other people's: nothing in a task file executes, paths stay inside its folder,
sizes are bounded.
"""
