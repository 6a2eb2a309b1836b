"""``ranksift completion``: the lines that let a shell complete commands, options, choices and files."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import write

#: The variable by which a shell asks for completions.
ASKED = "_RANKSIFT_COMPLETE"


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"],
        typer.Argument(metavar="SHELL", help="The shell that you use: bash, zsh or fish.", show_default=False),
    ],
    out: options.OutFile = None,
) -> None:
    """Print the lines that make the Tab key complete what you type after ranksift.

    eval "$(ranksift completion bash)"
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    script = get_completion_script(prog_name="ranksift", complete_var=ASKED, shell=shell)
    write(script.strip() + "\n", out)
