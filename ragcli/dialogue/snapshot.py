"""A conversation as JSON and back, versioned; older versions are brought up to date on reading."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from ragcli.datatypes import Json
from ragcli.dialogue.state import DialogueState
from ragcli.errors import Damaged

VERSION = 1


def to_json(state: DialogueState) -> Json:
    """Return the state as plain JSON values with its version."""
    return {"version": VERSION, "state": _plain(state)}


def from_json(data: Json) -> DialogueState:
    """Return the state that `to_json` wrote.

    Raises `Damaged` `session_from_the_future` for a newer version and `session_damaged` for anything else
    that isn't such a state.
    """
    version = data.get("version")
    if isinstance(version, int) and version > VERSION:
        raise Damaged("session_from_the_future", version=version, known=VERSION)
    try:
        for step in range(int(version or 0), VERSION):
            data = _MIGRATIONS[step](data)
        state: DialogueState = _typed(DialogueState, data["state"])
    except (KeyError, TypeError, ValueError) as err:
        raise Damaged("session_damaged", reason=str(err)) from err
    return state


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def _typed(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _typed(hints[name], item) for name, item in value.items()})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return tuple(_typed(inner[0], item) for item in value)
    if origin in (Union, types.UnionType):
        return None if value is None else _typed(next(one for one in inner if one is not type(None)), value)
    if origin is not None and isinstance(value, Mapping):
        return dict(value)
    if kind in (int, str) and not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


# The step at place n brings version n to version n + 1.
_MIGRATIONS: Mapping[int, Any] = {}
