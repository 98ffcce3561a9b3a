"""What labels tell about the decision boundary near a point."""
