"""Events to lines and lines to events: one JSON object a line, valid UTF-8, nothing in it that ends a line early.

A line is `{"v":1,"seq":…,"id":"o_…","at":"…",` followed by the event's own members. Rules: what was written is
never rewritten; a line of a later version or of an unknown type is kept raw; anything else is damage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

import msgspec

from app.errors import FactsError
from app.records.events import Event
from app.records.ulid import ulid_value

VERSION: Final = 1
MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""A longer line is neither written nor buffered when read: memory stays bounded whatever a file holds."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

DamageReason = Literal[
    "torn", "blank", "nul", "byte_order_mark", "not_utf8", "not_json", "not_a_record", "too_long"
]

_PREFIX_BYTES: Final = 200
_START: Final = b'{"type":"'
_LF, _CR = b"\n\r"  # as numbers: looking for a number is several times faster than for a byte string
_TYPES: Final = frozenset(str(each.__struct_config__.tag) for each in get_args(Event))


class Unstorable(FactsError, ValueError):
    """A value or body that cannot become one line: too deep, too long, not UTF-8, or not one JSON object."""


class Record(msgspec.Struct, frozen=True):
    """A line of a version and type that is understood; `raw` is the line as stored, without its LF."""

    seq: int
    id: str
    at: str
    event: Event
    raw: bytes


class Future(msgspec.Struct, frozen=True):
    """A line of a later version or of an unknown type: kept and served raw; `seq` and `id` if they are readable."""

    v: int
    type: str | None
    seq: int | None
    id: str | None
    raw: bytes


class Damaged(msgspec.Struct, frozen=True):
    """A line that is no record."""

    reason: DamageReason


class Place(msgspec.Struct, frozen=True):
    """Where a line stands in its log: what the next line continues from."""

    seq: int
    ulid: int


class _Head(msgspec.Struct):
    v: int
    seq: Any = None
    id: Any = None
    at: Any = None
    type: Any = None


_HEADS: Final = msgspec.json.Decoder(_Head)
_EVENTS: Final = msgspec.json.Decoder(Event)


def body(event: Event) -> bytes:
    """The event as a JSON object that begins with its type.

    NaN and infinity become null, since JSON has no word for them. A lone surrogate, which UTF-8 cannot carry,
    becomes visible text (`\\ud800` as six characters). Raises `Unstorable` for what is nested too deeply.
    """
    try:
        try:
            return msgspec.json.encode(event)
        except UnicodeEncodeError:
            return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(event)))
    except RecursionError as error:
        raise Unstorable("the event is nested too deeply to be stored") from error


def storable(body: bytes) -> bytes:
    """What follows the head of a line: `body` without its `{`, U+2028 and U+2029 escaped, and the LF.

    Raises `Unstorable` for a body that would not be exactly one line of at most `MAX_LINE_BYTES`.
    """
    if not body.startswith(_START) or not body.endswith(b"}"):
        raise Unstorable('a body is a JSON object that begins with {"type":"')
    if _LF in body or _CR in body:
        raise Unstorable("a body has no line break in it")
    if not body.isascii():
        body = _escaped(body)
    if len(body) > MAX_LINE_BYTES - _PREFIX_BYTES:
        raise Unstorable(f"a line has at most {MAX_LINE_BYTES} bytes")
    return body[1:] + b"\n"


def _escaped(body: bytes) -> bytes:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise Unstorable("a body is UTF-8") from error
    return body.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")


def head(seq: int, record_id: str, at: str) -> bytes:
    """The beginning of a line, up to and with the comma before the body's members."""
    return f'{{"v":{VERSION},"seq":{seq},"id":"{record_id}","at":"{at}",'.encode()


def tail(record: Record) -> bytes:
    """What follows the head of a stored line: the same bytes for the same event, whenever and as what it was stored."""
    own = head(record.seq, record.id, record.at)
    if record.raw.startswith(own):
        return record.raw[len(own) :]
    return storable(body(record.event))[:-1]  # written by another hand


def line(seq: int, record_id: str, at: str, body: bytes) -> bytes:
    """The whole line with its LF; `body` as `body(event)` makes it, otherwise `Unstorable`."""
    return head(seq, record_id, at) + storable(body)


def decode(line: bytes) -> Record | Future | Damaged:
    """What a line (without its LF) says; never raises.

    White space around the object, a CR before the LF among it, is JSON's and does no harm.
    """
    found = _head(line)
    if isinstance(found, Damaged):
        return found
    place = _place(found)
    if found.v > VERSION or found.type not in _TYPES:
        return _future(found, line)
    if place is None or not isinstance(found.at, str):
        return Damaged("not_a_record")
    try:
        event = _EVENTS.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return Damaged("not_a_record")
    return Record(place.seq, found.id, found.at, event, line)


def place_of(line: bytes) -> Place | Damaged | None:
    """The `seq` and id of any line that carries them, whatever its version and type; None: sound, but without."""
    found = _head(line.removeprefix(BYTE_ORDER_MARK))
    return found if isinstance(found, Damaged) else _place(found)


def _head(line: bytes) -> _Head | Damaged:
    beginning = line.lstrip()
    if not beginning.startswith(b"{"):
        return Damaged(_rubbish(beginning))
    try:
        if not line.isascii():
            line.decode()  # the decoder does not look into the strings that it skips
        found = _HEADS.decode(line)
    except UnicodeDecodeError:
        return Damaged("not_utf8")
    except msgspec.ValidationError:
        return Damaged("not_a_record")
    except (msgspec.DecodeError, RecursionError):
        return Damaged("not_json")
    return found if found.v >= 1 and isinstance(found.type, str | None) else Damaged("not_a_record")


def _rubbish(beginning: bytes) -> DamageReason:
    """What does not begin like an object; found without the decoder's exception, for it comes in large amounts."""
    if not beginning:
        return "blank"
    if beginning.startswith(b"\0"):
        return "nul"
    return "byte_order_mark" if beginning.startswith(BYTE_ORDER_MARK) else "not_json"


def _place(found: _Head) -> Place | None:
    seq, id_ = found.seq, found.id
    if not isinstance(seq, int) or isinstance(seq, bool) or seq < 1:
        return None
    if not isinstance(id_, str) or len(id_) < 2 or id_[1] != "_" or not "a" <= id_[0] <= "z":
        return None
    ulid = ulid_value(id_[2:])
    return None if ulid is None else Place(seq, ulid)


def _future(found: _Head, line: bytes) -> Future | Damaged:
    if found.v == VERSION and found.type is None:
        return Damaged("not_a_record")
    place = _place(found)
    if place is None:
        return Future(found.v, found.type, None, None, line)
    return Future(found.v, found.type, place.seq, found.id, line)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(inner) for inner in value]
    return value
