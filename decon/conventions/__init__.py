"""What scikit-learn asks of its estimators."""
