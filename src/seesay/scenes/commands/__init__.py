"""`seesay scenes` and `seesay reasoner`."""
