"""What an index of claims is fed and asked: values that recall makes and the store understands."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class Row(msgspec.Struct, frozen=True):
    """One claim as it is indexed; times are microseconds since 1970 (UTC).

    `basis_us` is what `stale` counts from. `tokens` are what filters ask for, each one of `token`. `content` and
    `key` are hashes of 64 bits, signed: of the event as stored, and of its idempotency key.
    """

    asserted_us: int
    basis_us: int
    text: str
    tokens: tuple[str, ...]
    content: int
    key: int | None


class Term(msgspec.Struct, frozen=True):
    """A word or a phrase; with `is_prefix` its last word may go on."""

    text: str
    is_prefix: bool = False


Retracted = Literal["exclude", "include", "only"]
Order = Literal["newest", "oldest", "match"]


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """Which claims are asked for. Windows are half-open, [from, until), microseconds since 1970; None: open.

    `all_of` and `any_of` are filter tokens. `basis_from` and `basis_until` bound `Row.basis_us`.
    """

    wanted: tuple[Term, ...] = ()
    unwanted: tuple[Term, ...] = ()
    all_of: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    asserted_from: int | None = None
    asserted_until: int | None = None
    basis_from: int | None = None
    basis_until: int | None = None
    retracted: Retracted = "exclude"
    order: Order = "newest"


Number = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class Place(msgspec.Struct, frozen=True):
    """Where a page ended: the number of its last claim, or the window and offset of an order by match."""

    last: Number = 0
    lowest: Number = 0
    highest: Number = 0
    offset: Number = 0
