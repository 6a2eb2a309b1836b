"""Collections: judgments, rankings, and the two joined."""
