"""The course: sealed models for the project, and the server that seals them."""
