"""Blocks with prompts, so that the button beside them copies what one types, and neither prompts nor output."""

import re

_CODE = re.compile(r"(?P<start><code>)(?P<body>(?:(?!</code>).)*?class=\"gp\".*?)(?P<end></code>)", re.S)


def marked(html: str) -> str:
    """A page in which every line of output is marked as such, its end included: ``style.css`` hides it from the button.

    >>> marked('<code><span class="gp">$ </span>ls\\na\\n</code>')
    '<code><span class="gp">$ </span>ls\\n<span class="go">a\\n</span></code>'
    """
    return _CODE.sub(lambda block: block["start"] + _lines(block["body"]) + block["end"], html)


def _lines(body: str) -> str:
    lines = body.splitlines(keepends=True)
    return "".join(line if 'class="gp"' in line else f'<span class="go">{line}</span>' for line in lines)
