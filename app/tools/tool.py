"""What a tool is: its name, its two schemas, its function; and how arguments become a typed value."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from app.errors import AGENT_ACTION, ToolError

S = TypeVar("S", bound=msgspec.Struct)
Schema = dict[str, Any]
AT = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
NAMED = re.compile(r"Object (?:missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Context:
    """What a running call may tell its caller: `progress(message)`, when a part of the work is done.

    `caller` is the name under which the caller is known, where that is all that counts.
    """

    progress: Callable[[str], None]
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool under its canonical dotted name; `run` gets validated parameters and returns the answer."""

    name: str
    title: str
    description: str
    params: type[msgspec.Struct]
    answer: Schema
    annotations: Mapping[str, bool]
    run: Callable[[Any, Mapping[str, Any], Context], Awaitable[dict[str, Any]]]

    def input_schema(self) -> Schema:
        """The JSON Schema (2020-12) of the arguments."""
        return inline(msgspec.json.schema(self.params))

    def output_schema(self) -> Schema:
        """The answer or the error; the root is an object because older revisions ask for that."""
        definitions = self.answer.get("$defs")
        answer = {name: part for name, part in self.answer.items() if name != "$defs"}
        root = {"type": "object", "anyOf": [answer, ERROR]}
        return {**root, "$defs": definitions} if definitions else root


def inline(schema: Schema) -> Schema:
    """The schema of a Struct with its own fields at the root; what they refer to stays in `$defs`."""
    definitions = {name: _with_tag(part) for name, part in schema.get("$defs", {}).items()}
    root = dict(definitions.pop(schema["$ref"].rpartition("/")[2]))
    root.pop("title", None)
    root.pop("description", None)
    return {**root, "$defs": definitions} if definitions else root


def _with_tag(definition: Schema) -> Schema:
    """With a description of the field that tells the members of a union apart: the library has none for it."""
    fields = definition.get("properties", {})
    tags = {
        name: {"description": "What it is.", **part} for name, part in fields.items() if set(part) == {"enum"}
    }
    return {**definition, "properties": {**fields, **tags}} if tags else definition


def validate(params: type[S], arguments: Mapping[str, Any]) -> S:
    """The typed parameters, or `ToolError("invalid_arguments")` that names the field and what is expected."""
    try:
        return msgspec.convert(arguments, params)
    except msgspec.ValidationError as error:
        whole = {name: _integral(value) for name, value in arguments.items()}
        if any(type(whole[name]) is not type(arguments[name]) for name in whole):
            return validate(params, whole)
        raise _invalid(str(error), params, arguments) from None


def _integral(value: Any) -> Any:
    """In JSON Schema 1000.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def wire_name(name: str, style: str) -> str:
    """The advertised name in the style of the setting (`underscores` or `dots`); the catalog refuses misfits."""
    return name if style == "dots" else name.replace(".", "_")


def _invalid(text: str, params: type[msgspec.Struct], arguments: Mapping[str, Any]) -> ToolError:
    matched = AT.fullmatch(text)
    what, path = (matched["what"], matched["path"] or "") if matched else (text, "")
    named = NAMED.fullmatch(what)
    top = named["name"] if named and not path else path.partition("[")[0]
    field = f"{top}.{_wrong_entry(arguments[top])}" if path.endswith("[...]") else top
    message = f"{field or 'arguments'}: {what}; {_expected(params, top)}"
    return ToolError("invalid_arguments", message[:1000], field=field[:200] or None)


def _wrong_entry(entries: Mapping[str, Any]) -> str:
    """The name of the first entry that is no text; the message of the library leaves it out."""
    return next((name for name, value in entries.items() if not isinstance(value, str)), "")


def _expected(params: type[msgspec.Struct], field: str) -> str:
    """What the published schema says of a field, or which fields there are."""
    schema = inline(msgspec.json.schema(params))["properties"].get(field)
    if schema is None:
        return f"the arguments are {', '.join(params.__struct_encode_fields__)}"
    told = {name: value for name, value in schema.items() if name not in ("default", "description")}
    return f"expected {msgspec.json.encode(told).decode()}: {schema.get('description', '')}"


ERROR: Schema = {
    "type": "object",
    "description": "Why the call could not be done; only with isError.",
    "properties": {
        "code": {"enum": list(AGENT_ACTION), "description": "What kind of obstacle it was."},
        "message": {"type": "string", "description": "One sentence for a person."},
        "field": {"type": "string", "description": "The argument that is wrong."},
        "http_status": {"type": "integer", "description": "The status the HTTP API gives the same error."},
        "retryable": {"type": "boolean", "description": "Whether the same call can succeed later."},
        "retry_after_seconds": {"type": "number", "description": "How long to wait before that."},
        "agent_action": {"type": "string", "description": "What to do next."},
        "reason_code": {"type": "string", "description": "A finer name of the reason."},
        "details": {
            "type": "object",
            "description": "Facts of the refusal, such as address, class and rule.",
        },
    },
    "required": ["code", "message", "http_status", "retryable", "agent_action"],
    "additionalProperties": False,
}
