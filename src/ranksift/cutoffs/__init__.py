"""Which results should not be shown: rules on scores, fitted to what filtering does to the user."""
