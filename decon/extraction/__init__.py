"""The whole algorithm."""
