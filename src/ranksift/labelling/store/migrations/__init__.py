"""How the tables came to be what they are, step by step; Alembic runs the steps that a project still lacks."""
