"""Arguments of Python calls: a value of another type than a function takes is a user's mistake, and
is named before anything is done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from seesay.errors import UserError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_TYPES: dict[object, tuple[Any, str]] = {
    bool: (bool, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a text"),
    Path: (PathLike, "a path"),
    Sequence: (Sequence, "a list"),
    tuple: (Sequence, "a list"),
    Iterable: (Iterable, "a list"),
    Callable: (Callable, "a function"),
    NoneType: (NoneType, "None"),
}
"""Of what class a value of each type is, and what it is called. Arguments of any other type, such
as a model or a choice, are validated by what takes them."""


def refuse_other_types(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function refuse arguments of other types than its signature has.

    Numbers of NumPy are taken as Python's.
    """

    @wraps(function)
    def with_validated_arguments(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        bound = signature(function).bind(*args, **kwargs)
        types = get_type_hints(function)
        # a method's object has no type
        typed = {name: value for name, value in bound.arguments.items() if name in types}
        validate_types(typed, types)
        bound.arguments.update({name: plain_number(value) for name, value in typed.items()})
        return function(*bound.args, **bound.kwargs)

    return with_validated_arguments


def validate_types(arguments: Mapping[str, object], types: Mapping[str, object]) -> None:
    """Raise a UserError that names the first argument of another type.

    >>> validate_types({"seed": 1.5}, {"seed": int})
    Traceback (most recent call last):
    seesay.errors.UserError: seed is 1.5: give a whole number.
    """
    for name, value in arguments.items():
        type_ = types[name]
        members = get_args(type_) if isinstance(type_, UnionType) else (type_,)
        kinds = [get_origin(member) or member for member in members]
        if any(kind not in _TYPES for kind in kinds):
            continue
        if any(_is_of(value, kind) for kind in kinds):
            continue
        # a path may be given as a text
        words = [_TYPES[kind][1] for kind in kinds if kind is not str or Path not in kinds]
        raise UserError(f"{name} is {value!r}: give {' or '.join(words)}.")


def plain_number(value: object) -> object:
    """Return a number of NumPy as Python's, which files and random generators take, too."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return value


def _is_of(value: object, kind: object) -> bool:
    """Return whether a value is of a type; True and False are no numbers."""
    if isinstance(value, bool) and kind is not bool:
        return False
    return isinstance(value, _TYPES[kind][0])
