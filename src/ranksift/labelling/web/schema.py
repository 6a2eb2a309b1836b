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


def text(description: str = "", longest: int = 1_000, shortest: int = 0, **more: Any) -> Schema:
    """A string."""
    return {"type": "string", "maxLength": longest, "minLength": shortest, **_described(description), **more}


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
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if value is None and "null" in kinds:
        return ""
    kind = kinds[0]
    name = place or "the body"
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"{name} has to be {'an' if kind[0] in 'aio' else 'a'} {kind}"
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
        if len(value) > schema.get("maxItems", len(value)) or len(value) < schema.get("minItems", 0):
            return (
                f"{name} has to have {schema.get('minItems', 0)} to {schema.get('maxItems', 'any number of')} entries"
            )
        return next((c for i, one in enumerate(value) if (c := complaint(one, schema["items"], f"{name}[{i}]"))), "")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for key in schema.get("required", ()):
            if key not in value:
                return f"{place + '.' if place else ''}{key} is missing"
        for key, one in value.items():
            if key not in known:
                return f"{place + '.' if place else ''}{str(key)[:80]} is not known here"
            if found := complaint(one, known[key], f"{place + '.' if place else ''}{key}"):
                return found
    return ""


def _about_text(value: str, schema: Schema, name: str) -> str:
    if len(value) > schema.get("maxLength", len(value)):
        return f"{name} may have {schema['maxLength']:,} characters at most"
    if len(value.strip()) < schema.get("minLength", 0):
        return f"{name} must not be empty"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{name} has characters that are not Unicode"
    return f"{name} has a null character" if "\0" in value else ""


def _described(description: str) -> dict[str, str]:
    return {"description": description} if description else {}
