"""Libraries that some rankers need, and nothing else of RankSift does."""

from __future__ import annotations

from importlib import import_module

from ranksift.errors import InputError, missing_library

# What modules are called elsewhere, and the smallest extra that brings them.
_KNOWN = {
    "alembic": ("Alembic", "label"),
    "haystack": ("Haystack", "haystack"),
    "langchain_core": ("LangChain", "langchain"),
    "lightgbm": ("LightGBM", "trees"),
    "llama_index.core": ("LlamaIndex", "llamaindex"),
    "prometheus_client": ("prometheus-client", "serve"),
    "pyterrier": ("PyTerrier", "pyterrier"),
    "safetensors": ("safetensors", "trees"),
    "sqlalchemy": ("SQLAlchemy", "label"),
    "sklearn": ("scikit-learn", "learn"),
    "starlette": ("Starlette", "serve"),
    "tokenizers": ("tokenizers", "text"),
    "torch": ("PyTorch", "learn"),
    "uvicorn": ("Uvicorn", "serve"),
    "optuna": ("Optuna", "trees"),
}


def versions(*modules: str) -> dict[str, str]:
    """The versions of installed libraries.

    >>> versions("numpy") == {"numpy": import_module("numpy").__version__}
    True
    """
    return {module: str(import_module(module).__version__) for module in modules}


def require(asker: str, *modules: str) -> None:
    """Stop with an error of one line if a library is missing, before anything is started.

    >>> require("LambdaMART", "json")
    >>> require("LambdaMART", "light_gbm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ranksift.errors.InputError: LambdaMART needs light_gbm; pip install 'ranksift[learn]', or ...
    """
    brings_all = "text" if any(_KNOWN.get(module, ("", ""))[1] == "text" for module in modules) else None
    for module in modules:
        name, extra = _KNOWN.get(module, (module, "learn"))
        try:
            import_module(module)
        except ModuleNotFoundError:
            raise missing_library(f"{asker} needs", name, brings_all or extra) from None
        except (ImportError, OSError) as error:
            # As of LightGBM on a system without OpenMP: libgomp on Linux, libomp on macOS.
            raise InputError(f"{asker} needs {name}, which cannot be loaded", remedy=f"repair it: {error}") from None
