"""What mkdocstrings does to docstrings before it reads them; mkdocs.yml names this file."""

from typing import Any

import griffe
from docstrings import as_markdown


class Markdown(griffe.Extension):
    """Rewrites every docstring."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Rewrite that of one object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
