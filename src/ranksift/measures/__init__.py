"""Measures, one file a family. Every module here is imported, so a new file is all that a new measure needs."""

from importlib import import_module
from pkgutil import iter_modules

for _module in sorted(m.name for m in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")
