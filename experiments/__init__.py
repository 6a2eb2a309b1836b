"""The numbers that the documentation shows, made from real collections: ``python -m experiments``."""
