"""What a neural language model tells us about spatial relations (Ghanimifard & Dobnik 2019): its
tables and figures."""
