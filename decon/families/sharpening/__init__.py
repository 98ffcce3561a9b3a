"""A machine that is nearly known, fitted to every bracket, with more brackets where it is not."""
