"""One measurement as text for a person: what was answered, by whom, and where the time went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PHASES = ("resolve", "connect", "tls", "send", "first_byte", "head", "body", "other")
BODY_LINES = 12
Facts = Mapping[str, Any]


def summary(answer: Facts, *, bar: str, width: int = 40) -> str:
    """The answer of a measurement of kind http; `bar` is the character that the waterfall is drawn with."""
    data = answer["data"]
    lines = [_headline(answer, data), *_around(answer, data)]
    for number, hop in enumerate(data.get("hops") or [data], 1):
        title = f"hop {number}: {hop['target']['input']}" if data.get("hops") else ""
        lines += ["", *([title] if title else []), *waterfall(hop["timings"], bar, width)]
    return "".join(f"{printable(line)}\n" for line in [*lines, *_body(data)])


def printable(text: str) -> str:
    """The text with everything escaped that could steer a terminal or turn the direction of writing."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def waterfall(timings: Facts, bar: str, width: int) -> list[str]:
    """One line a phase: its duration, and a bar that starts where the phase before it ended."""
    total = timings["total_ms"] or 1.0
    lines, before = [], 0.0
    for phase in PHASES:
        spent = timings.get(f"{phase}_ms")
        if spent is None:
            lines.append(f"  {phase:<10} {'-':>12}")
            continue
        start = round(before / total * width)
        length = max(1 if spent else 0, round(spent / total * width))
        lines.append(f"  {phase:<10} {spent:>9.3f} ms  {' ' * start}{bar * length}".rstrip())
        before += spent
    return [*lines, f"  {'total':<10} {timings['total_ms']:>9.3f} ms"]


def _headline(answer: Facts, data: Facts) -> str:
    asked = f"{data['method']} {data['target']['input']}"
    if data.get("http_status") is None:
        return f"{asked}: no answer: {_error(answer['error'])}"
    status = f"HTTP/{data['http_version']} {data['http_status']} {data.get('reason') or ''}".rstrip()
    ended = f", then {_error(answer['error'])}" if answer["error"] else ""
    return f"{asked}: {status}{ended}"


def _error(error: Facts) -> str:
    return f"{error['code']} in phase {error['phase']}: {error['message']}"


def _around(answer: Facts, data: Facts) -> Iterator[str]:
    stored = answer["observation_id"] or f"not stored: {answer['not_stored']['reason']}"
    yield f"  observed   {answer['observed_at']}, project {answer['project']}, {stored}"
    if peer := data.get("peer"):
        addresses = (data.get("resolution") or {}).get("addresses", [])
        kind = next((entry["class"] for entry in addresses if entry["ip"] == peer["address"]), None)
        yield f"  peer       {peer['address']} port {peer['port']}" + (f" ({kind})" if kind else "")
    if tls := data.get("tls"):
        yield from _tls(tls)
    if redirect := data.get("redirect"):
        refused = redirect.get("refused_by")
        ending = f" (refused: {refused['class']}, {refused['rule']})" if refused else ""
        yield f"  redirect   {redirect['location']}{ending}"


def _tls(tls: Facts) -> Iterator[str]:
    yield f"  tls        {tls.get('version') or '-'} {tls.get('cipher') or '-'}, {tls['verify']['text']}"
    for certificate in tls.get("chain", [])[:1]:
        yield f"  certified  {certificate.get('subject')} until {certificate.get('not_after')}"


def _body(data: Facts) -> Iterator[str]:
    sizes = data.get("body_bytes")
    if not sizes or data.get("http_status") is None:
        return
    cut = ", cut" if data.get("truncated") else ""
    whole = "complete" if data.get("complete") else "incomplete"
    yield ""
    yield f"  body       {sizes['encoded']} bytes, {whole}, shown as {data.get('body_encoding') or 'nothing'}{cut}"
    if data.get("body_encoding") == "text":
        lines = data["body"].splitlines()
        yield from (f"  | {line[:160]}" for line in lines[:BODY_LINES])
        if len(lines) > BODY_LINES:
            yield f"  | … {len(lines) - BODY_LINES} more lines; --json has them"
