"""Logs that other programs wrote of an evaluation: one reader per format, and one way to runs.

A reader gives a `Log`: its items with their scores, and what the program itself reports.
`pairing.log_runs` finds the same items in several logs and makes runs of them, which are compared
and shown like any others.
"""
