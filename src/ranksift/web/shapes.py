"""Shapes of JSON: they check what comes in, and the OpenAPI document shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


# What a database can hold.
_NO_NULL = "^[^\\u0000]*$"


def text(description: str = "", longest: int = 1_000, shortest: int = 0, **more: Any) -> Schema:
    """A string without null characters."""
    made = {"type": "string", "maxLength": longest, "minLength": shortest, "pattern": _NO_NULL}
    return {**made, **_described(description), **more}


def any_text(description: str = "", **more: Any) -> Schema:
    """A string of any length and characters."""
    return {"type": "string", **_described(description), **more}


def whole(description: str = "", least: int | None = None, most: int | None = None, **more: Any) -> Schema:
    """An integer."""
    limits = {name: value for name, value in (("minimum", least), ("maximum", most)) if value is not None}
    return {"type": "integer", **limits, **_described(description), **more}


def number(description: str = "", **more: Any) -> Schema:
    """A number."""
    return {"type": "number", **_described(description), **more}


def yes_or_no(description: str = "", **more: Any) -> Schema:
    """A boolean."""
    return {"type": "boolean", **_described(description), **more}


def one_of(*values: str, description: str = "", **more: Any) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(values), **_described(description), **more}


def array(items: Schema, description: str = "", **more: Any) -> Schema:
    """A list."""
    return {"type": "array", "items": items, **_described(description), **more}


def record(properties: Mapping[str, Schema], required: tuple[str, ...] = (), description: str = "") -> Schema:
    """An object with these keys and no others."""
    made = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**made, **({"required": list(required)} if required else {}), **_described(description)}


def either(*schemas: Schema, description: str = "", **more: Any) -> Schema:
    """One of several shapes, of different types."""
    return {"anyOf": [dict(schema) for schema in schemas], **_described(description), **more}


def nullable(schema: Schema) -> Schema:
    """That, or null."""
    return {
        **schema,
        "type": [schema["type"], "null"],
        **({"enum": [*schema["enum"], None]} if "enum" in schema else {}),
    }


def complaint(value: Any, schema: Schema, place: str = "") -> str:
    """What is wrong with a value, in words, or nothing.

    >>> complaint({"k": "ten"}, record({"k": whole()}))
    'k has to be an integer'
    """
    if "anyOf" in schema:
        return _about_either(value, schema["anyOf"], place or "the body")
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if value is None and "null" in kinds:
        return ""
    kind = kinds[0]
    name = place or "the body"
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"{name} has to be {_with_article(kind)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{name} has to be one of {', '.join(str(one) for one in schema['enum'] if one is not None)}"
    if isinstance(value, str):
        return _about_text(value, schema, name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):  # whole numbers of any size are finite
            return f"{name} has to be finite"
        least, most = schema.get("minimum", -(2**53)), schema.get("maximum", 2**53)
        return "" if least <= value <= most else f"{name} has to be from {least} to {most}"
    if isinstance(value, list):
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if len(value) < least or (most is not None and len(value) > most):
            if most is None:
                return f"{name} has to have {least} {'entry' if least == 1 else 'entries'} at least"
            return f"{name} has to have {least} to {most} entries"
        return next((c for i, one in enumerate(value) if (c := complaint(one, schema["items"], f"{name}[{i}]"))), "")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for key in schema.get("required", ()):
            if key not in value:
                return f"{place + '.' if place else ''}{key} is missing"
        for key, one in value.items():
            if key not in known:
                others = schema.get("additionalProperties", False)
                if isinstance(others, Mapping) and (found := complaint(one, others, f"{name}.{str(key)[:80]}")):
                    return found
                if others is not False:
                    continue
                return f"{place + '.' if place else ''}{str(key)[:80]} is not known here"
            if found := complaint(one, known[key], f"{place + '.' if place else ''}{key}"):
                return found
    return ""


def _about_either(value: Any, schemas: list[Schema], name: str) -> str:
    """What is wrong with a value that may have several shapes: as the one of its own type says it."""
    for schema in schemas:
        wrong = complaint(value, schema, name)
        if not wrong or not wrong.startswith(f"{name} has to be a"):
            return wrong
    *others, last = (_with_article(schema["type"]) for schema in schemas)
    return f"{name} has to be {', '.join(others)} or {last}"


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def _about_text(value: str, schema: Schema, name: str) -> str:
    if len(value) > schema.get("maxLength", len(value)):
        return f"{name} may have {schema['maxLength']:,} characters at most"
    if len(value.strip()) < schema.get("minLength", 0):
        return f"{name} must not be empty"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{name} has characters that are not Unicode"
    return f"{name} has a null character" if "\0" in value and schema.get("pattern") == _NO_NULL else ""


def _described(description: str) -> dict[str, str]:
    return {"description": description} if description else {}
