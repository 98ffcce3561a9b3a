"""The kernel subspace S_Y, the span of the support vectors."""
