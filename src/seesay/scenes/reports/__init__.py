"""Pages and charts about scenes and the networks that read them."""
