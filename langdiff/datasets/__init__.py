"""Published figures as frames."""
