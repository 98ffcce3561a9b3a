"""Making and changing machines."""
