"""Results as people and other programs read them: tables, formats, charts, pages."""
