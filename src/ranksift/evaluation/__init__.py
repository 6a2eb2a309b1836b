"""Evaluation: from collections and measures to scores, and what they mean."""
