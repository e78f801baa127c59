"""A claim as it is indexed: what it says, what filters ask for, and the times that ages count from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from app.recall.instant import stored_us
from app.records.claims import Row
from app.records.codec import Record, tail
from app.records.events import Asserted
from policy.target import host_port_text

VERSION: Final = "1"
"""Changes with every change of what a row holds; an index of another version is built anew."""

_TOKEN_BYTES: Final = 12


@lru_cache(maxsize=10_000)
def token(kind: str, value: str) -> str:
    """The filter token of a value: one word to an index of words, and no part of another to one of trigrams."""
    from hashlib import blake2b  # OpenSSL comes with it

    return f"x{blake2b(f'{kind}:{value}'.encode(), digest_size=_TOKEN_BYTES).hexdigest()};"


def hash64(data: bytes) -> int:
    """64 bits, signed, as a database holds them; equality has still to be looked at."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


def row(record: Record, event: Asserted) -> Row:
    """What the index keeps of a stored claim."""
    asserted_us = stored_us(record.at)
    measured = [stored_us(item.get("observed_at")) for item in observations(event)]
    key = event.idempotency_key
    return Row(
        asserted_us,
        min(measured, default=asserted_us),
        event.statement,
        tuple(sorted(_tokens(event))),
        hash64(tail(record)),
        None if key is None else hash64(key.encode()),
    )


def observations(event: Asserted) -> list[Mapping[str, Any]]:
    """The measurements that a claim cites, as they are embedded."""
    return [item for item in event.evidence if item.get("type") == "observation"]


def targets(observation: Mapping[str, Any]) -> Iterator[str]:
    """`host:port` of everything that a measurement was pointed at, redirects included."""
    data = observation.get("data")
    if not isinstance(data, Mapping):
        return
    hops = data.get("hops")
    for place in [data, *(hops if isinstance(hops, list) else ())]:
        target = place.get("target") if isinstance(place, Mapping) else None
        if isinstance(target, Mapping) and isinstance(target.get("port"), int):
            yield host_port_text(str(target.get("host")), target["port"])


def _tokens(event: Asserted) -> Iterable[str]:
    found = {token("tag", tag) for tag in event.tags}
    found.add(token("observed_by", event.observed_by))
    found.update(token("target", target) for item in observations(event) for target in targets(item))
    return found
