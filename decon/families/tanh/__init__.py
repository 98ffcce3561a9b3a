"""Tanh machines: sums of tanh units on S_Y."""
