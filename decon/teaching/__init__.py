"""What the book needs: figures, source code, data."""
