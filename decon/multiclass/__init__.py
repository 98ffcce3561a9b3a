"""Models of several classes, pair by pair."""
