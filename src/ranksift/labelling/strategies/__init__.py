"""Which question to ask next: strategies as functions of the log of a task."""
