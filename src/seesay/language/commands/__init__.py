"""`seesay relations` and `seesay pretrain`."""
