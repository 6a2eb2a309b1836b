"""Collections to work on: made up ones, and loaders of public ones."""
