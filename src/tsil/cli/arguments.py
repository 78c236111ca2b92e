"""Arguments are dataclasses; tyro reads them. What it refuses becomes one sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import tyro
from tyro import _errors as rejections
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from tsil.method.configuration import flatten

T = TypeVar("T")

UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}

NUMBERS = ConstructorRegistry()
"""Reads whole numbers as people write them: 500k, 3M, 1.5M, 20_480, 1e6."""


def whole_number(text: str) -> int:
    """The number that ``text`` stands for."""
    unit = UNITS.get(text[-1:], 1)
    digits = text[:-1] if unit > 1 else text
    try:
        value = float(digits) * unit
        if digits.lstrip("+-").replace("_", "").isdigit():
            return int(digits) * unit
        if value.is_integer():
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{text!r} is not a whole number such as 20480, 500k or 3M")


@NUMBERS.primitive_rule
def _read_whole_number(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[int] | None:
    if info.type is not int:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda words: whole_number(words[0]),
        is_instance=lambda value: isinstance(value, int) and not isinstance(value, bool),
        str_from_instance=lambda value: [str(value)],
    )


def at_least(name: str, value: int, least: int) -> None:
    """Refuse a whole number that is too small."""
    if value < least:
        raise ValueError(f"--{name} is {value}: it must be {least} or more")


def parse(kind: type[T], command: str, arguments: Sequence[str], default: T | None = None) -> T:
    """Arguments of ``tsil command`` as an instance of the dataclass ``kind``."""

    def refuse(event: rejections.ParseErrorEvent) -> None:
        sentence = _sentence(event, kind)
        if sentence is not None:
            raise ValueError(f"{sentence} (tsil {command} --help lists what is allowed)")

    # tyro's hook is private and its version therefore pinned; without it, its own message stands.
    with rejections.on_parse_error(refuse):
        return tyro.cli(
            kind,
            prog=f"tsil {command}",
            args=list(arguments),
            default=tyro.MISSING_NONPROP if default is None else default,
            registry=NUMBERS,
        )


def _sentence(event: rejections.ParseErrorEvent, kind: type) -> str | None:
    """What is wrong, in one sentence; None to leave it to tyro."""
    match event:
        case rejections.UnrecognizedArgs(tokens=tokens):
            return _unknown(tokens[0], kind)
        case rejections.MissingArgs(missing_arguments=missing):
            if event.unrecognized_tokens:
                return _unknown(event.unrecognized_tokens[0], kind)
            return f"{_name(missing[0].arg)} is missing"
        case rejections.InvalidChoice(argument=argument, value=value, choices=choices):
            near = get_close_matches(value, choices, n=1, cutoff=0.4)
            hint = f": did you mean {near[0]!r}?" if near else ""
            return f"{_name(argument)} is {value!r}: it must be {' or '.join(choices)}{hint}"
        case rejections.BadValue(argument=argument):
            return f"{_name(argument)} needs a value"
        case rejections.InstantiationFailure(message=message, argument=argument):
            return message if argument is None else f"{_name(argument)}: {message}"
    return None


def _name(argument: Any) -> str:
    if argument.is_positional():
        return str(argument.lowered.metavar)
    return str(argument.lowered.name_or_flags[-1])


def _unknown(token: str, kind: type) -> str:
    if not token.startswith("-"):
        return f"unexpected argument {token!r}"
    given = token.partition("=")[0]
    known = [f"--{name.replace('_', '-')}" for name in _options(kind)]
    near = get_close_matches(given.replace("_", "-"), known, n=1, cutoff=0.5)
    return f"unknown option {given!r}" + (f": did you mean {near[0]!r}?" if near else "")


def _options(kind: type) -> list[str]:
    """Names of all options; fields that are dataclasses by their fields' dotted names."""
    names = []
    for item in dataclasses.fields(kind):
        if item.default_factory is not dataclasses.MISSING and dataclasses.is_dataclass(
            value := item.default_factory()
        ):
            names += list(flatten(value))
        else:
            names.append(item.name)
    return names
