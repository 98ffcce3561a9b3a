"""Cubic machines: sums of cubes on S_Y."""
