"""Internal: from bytes to columns of ids and numbers, and rows brought together by query."""
