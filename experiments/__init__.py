"""Runs that take longer than a chapter may, and their results."""
