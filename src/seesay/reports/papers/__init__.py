"""Tables and charts of published papers, ours beside the published."""
