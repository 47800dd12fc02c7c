"""seesay: how much of the visible world does a model know?"""

__version__ = "0.1.0"
