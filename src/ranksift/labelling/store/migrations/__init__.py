"""How the tables evolved, step by step; Alembic runs the steps that a project still lacks."""
