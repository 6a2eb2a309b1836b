"""``python -m ranksift`` is the command line."""

from ranksift.cli.main import main

main()
