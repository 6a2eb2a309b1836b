"""What mkdocstrings does to docstrings before it reads them; mkdocs.yml names this file."""

import inspect
from importlib import import_module
from typing import Any

import griffe
from docstrings import as_markdown


class Markdown(griffe.Extension):
    """Rewrites every docstring."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Rewrite that of one object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(_with_parameters(obj))


def _with_parameters(obj: griffe.Object) -> str:
    """The docstring; that of a class that declares its parameters has a section of them, which its source has not."""
    if not obj.is_class:
        return obj.docstring.value
    found = getattr(import_module(obj.module.path), obj.name, None)
    return inspect.getdoc(found) or obj.docstring.value
