"""Arguments of operations as they are sent. What UTF-8, a number or JSON cannot hold is refused, by the name of its argument, before
anything is sent: the client would make something else of it, a script, or who reads.
"""

import json
import math
import operator
import re

_ZERO = {"text": "", "bytes": b"", "integer": 0, "number": 0, "big": 0, "flag": False, "repeated": ()}
_WHOLE = re.compile(r"-?[0-9]+")
# Numbers of Lua and of JavaScript are whole, and apart, up to here.
_MOST = 2**53 - 1
_MOST_DIGITS = 4000
# What codecs make; in a group a `value` is a line of a log. Where JSON may have a number that a reader would change: the rest need not be parsed.
_MADE, _MADE_ALONE = frozenset({"body", "payload", "result"}), frozenset({"body", "payload", "result", "value"})
_ODD_NUMBER = re.compile(r"NaN|Infinity|[0-9]{16}|[eE]\+?[0-9]{3}")


def encode_arguments(declared, given):
    """The arguments in the order of ARGV. Raises TypeError for one that is not declared, and for a value of the wrong kind;
    ValueError for a missing codec, and for a value that UTF-8, a number or JSON cannot hold: the scripts, or readers, would
    misread it."""
    if "codec" not in given and any(one["name"] == "codec" for one in declared):
        raise ValueError("codec must name the encoding of bodies, such as 'json'")
    in_json = given.get("codec") in ("json", b"json")
    return _encode_all(declared, given, _MADE_ALONE if in_json else frozenset(), _MADE if in_json else frozenset())


def _encode_all(declared, given, made, made_in_groups):
    unknown = set(given) - {one["name"] for one in declared}
    if unknown:
        raise TypeError(f"there is no argument {', '.join(sorted(unknown))}")
    encoded = []
    for one in declared:
        value = given.get(one["name"], one.get("default", _ZERO[one["type"]]))
        is_group = one["type"] == "repeated"
        encoded += _encode_groups(one["fields"], value, made_in_groups) if is_group else [_encode(one, value, made)]
    return encoded


def _encode_groups(fields, groups, made):
    if len(fields) == 1:
        return [_encode(fields[0], value, made) for value in groups]
    return [value for group in groups for value in _encode_all(fields, group, made, made)]


def _encode(one, value, made):
    name, kind = one["name"], one["type"]
    if kind == "flag":
        return _flag(name, value)
    if kind == "integer":
        return _whole(name, value)
    encoded = _bytes(name, value)
    if kind == "text":
        _check_utf_8(name, encoded)
    elif name in made:
        _check_json(name, encoded.decode("utf-8", "replace"))
    return encoded


def _flag(name, value):
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    if value not in (0, 1):
        raise ValueError(f"{name} must be True or False, or 1 or 0")
    return int(value)


def _whole(name, value):
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a whole number, not {value}")
    # A script that meets a fraction may have written before it fails: then a unit is held without an owner.
    is_text = isinstance(value, str) and _WHOLE.fullmatch(value)
    if is_text and len(value) > _MOST_DIGITS:
        raise _too_large(name)
    try:
        whole = int(value) if is_text or isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if abs(whole) > _MOST:
        raise _too_large(name)
    return whole


def _too_large(name):
    return ValueError(f"{name} must be a whole number between -{_MOST} and {_MOST}")


def _bytes(name, value):
    if isinstance(value, str):
        return utf_8(name, value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be text, bytes or a number, not {value!r}")
    return number_text(name, value).encode()


def number_text(name, value):
    """As text: a whole number to the last digit, for many are of 64 bits."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a number, not {value}")
    try:
        return repr(value)
    except ValueError:
        raise ValueError(f"{name} must be a number of at most {_MOST_DIGITS} digits") from None


def utf_8(name, text):
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be valid Unicode: it holds half a surrogate pair") from None


def _check_utf_8(name, encoded):
    try:
        encoded.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{name} must be valid UTF-8") from None


def _check_json(name, text):
    """What is no JSON at all a reader sees by itself."""
    if not _ODD_NUMBER.search(text):
        return
    odd = []

    def whole(digits):
        if len(digits) > _MOST_DIGITS or abs(int(digits)) > _MOST:
            odd.append(digits)

    def fraction(digits):
        if not math.isfinite(float(digits)):
            odd.append(digits)

    try:
        json.loads(text, parse_constant=odd.append, parse_int=whole, parse_float=fraction)
    except (ValueError, RecursionError):
        return
    if odd:
        raise ValueError(f"{name} must not have {odd[0][:30]} in its JSON: who reads it would get another number, or none")
