"""What happens to the pages while mkdocs builds the site."""

from typing import Any

import catalogue
import docstrings  # noqa: F401 (found by reference.py, which does not know this folder)
import examples_page
import mathematics
import prompts
import readings
import session
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from the code."""
    files.append(File.generated(config, "measures.md", content=catalogue.page(readings.links())))
    files.append(File.generated(config, "examples.md", content=examples_page.page()))
    return files


def on_page_markdown(markdown: str, page: Any, **rest: Any) -> str:
    """Run what the page shows."""
    if page.file.src_uri == "readings.md":
        markdown = readings.without_measures(markdown)
    return session.run_blocks(markdown)


def on_page_content(html: str, **rest: Any) -> str:
    """Draw formulas, and mark output."""
    return prompts.marked(mathematics.draw(html))
