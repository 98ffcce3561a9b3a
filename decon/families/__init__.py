"""One family of models a file or folder."""
