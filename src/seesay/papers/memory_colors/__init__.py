"""Memory Colors and Visual Property Norms (Hagström & Johansson 2022): its tables and figures."""
