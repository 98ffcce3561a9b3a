"""Seeing a model through its labels only."""
