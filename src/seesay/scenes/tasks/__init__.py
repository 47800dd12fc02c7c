"""The built-in tasks about scenes of shapes."""
