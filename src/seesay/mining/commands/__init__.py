"""`seesay mine` and `seesay rooms`."""
