"""The chain of a ledger: canonical lines, each of which holds the hash of the line before.

    hash of a line  =  SHA-256 of its UTF-8 text
    line            =  canonical JSON: sorted keys, no spaces, ASCII, with "previous": that hash

An exported ledger is these lines and nothing else, so anybody can check it with `sha256sum`.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from perrecord.errors import InputError

START = "0" * 64
"""What stands as the hash before the first line."""


def line(fields: Mapping[str, Any]) -> str:
    """Return the canonical JSON of an entry.

    >>> line({"number": 1, "kind": "charge"})
    '{"kind":"charge","number":1}'
    """
    try:
        written = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the entry cannot be written as JSON ({error}); give text, whole numbers, truth "
            "values, None, and lists and dictionaries of them."
        ) from None
    if json.loads(written) != _plain(fields):
        raise InputError(
            "the entry is changed by writing it as JSON; name its fields with text, and give "
            "text, whole numbers, truth values, None, and lists and dictionaries of them."
        )
    return written


def digest(written: str) -> str:
    """Return the hash of a line: everything in the entry, and through `previous` all before it."""
    return hashlib.sha256(written.encode()).hexdigest()


def secret_digest(secret: bytes) -> str:
    """Return what the first entry says about the ledger's secret, which it does not reveal."""
    return hashlib.sha256(b"perrecord ledger secret\0" + secret).hexdigest()


def _plain(value: Any) -> Any:
    """Return the value with tuples as the lists that JSON makes of them."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
