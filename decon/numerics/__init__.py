"""What is not about models: blocks of rows, and least squares."""
