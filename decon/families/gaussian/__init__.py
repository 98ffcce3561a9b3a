"""Gaussian machines, measured by a probe that leads out of S_Y."""
