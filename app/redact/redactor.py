"""Takes secrets out of texts, values, headers, URLs and bodies, and leaves everything else as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.redact.arguments import literal_secrets
from app.redact.containers import is_of_a_schema
from app.redact.headers import header_kind, value_secrets
from app.redact.known import Known
from app.redact.names import Name, announced, names_no_secret
from app.redact.pem import is_fragment, leaves_a_key_open
from app.redact.scan import may_hold, secrets_of
from app.redact.spans import Detector, Kind, Span, replaced
from app.redact.urls import bare_userinfo
from app.redact.views import plain

# What one round masks can uncover something (a token that stood against it) for the next; seen is one such round.
_ROUNDS = 4


class Redactor:
    """Deterministic under its key: equal secrets get equal masks, and redacting twice is redacting once."""

    def __init__(self, key: bytes) -> None:
        """`key` is 1 to 64 bytes; whoever has it can test guesses against masks."""
        if not 1 <= len(key) <= 64:
            raise ValueError("the key of the redactor has 1 to 64 bytes")
        self._key = key

    def mask(self, kind: Kind, secret: str) -> str:
        """`[redacted:<kind>:<8 hex of a keyed hash>]`; the hash depends on the secret alone."""
        from hashlib import blake2b  # OpenSSL comes with it; not every start has something to mask

        digest = blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=4, key=self._key)
        return f"[redacted:{kind}:{digest.hexdigest()}]"

    def text(self, text: str, known: Iterable[str] | Known = ()) -> str:
        """A free text (body, statement, error message, log line) without its secrets."""
        return self._redacted(text, (self.known(known).find,))

    def url(self, text: str, known: Iterable[str] | Known = ()) -> str:
        """A URL, or what was meant as one; scheme, host, path and the names of parameters stay."""
        return self._redacted(text, (self.known(known).find, bare_userinfo))

    def headers(self, pairs: Iterable[Sequence[str]], known: Iterable[str] | Known = ()) -> list[list[str]]:
        """Header fields `[[name, value], …]` in their order; schemes, names of cookies and their attributes stay."""
        find = self.known(known).find
        return [
            [self._redacted(name, (find,)), self._redacted(value, (find, _Whole(header_kind(name))))]
            for name, value in pairs
        ]

    def body(self, data: bytes, known: Iterable[str] | Known = ()) -> bytes:
        """Bytes of any kind; what is not masked stays byte for byte. UTF-16 is understood when its mark says so."""
        encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "latin-1")
        # A limit may have cut the last character of two or four bytes in half.
        even = len(data) // 2 * 2 if encoding != "latin-1" else len(data)
        text = data[:even].decode(encoding, "surrogatepass" if encoding != "latin-1" else "strict")
        prepared = self.known(known)
        redacted = self._redacted(text, (prepared.find, prepared.find_wide))
        return redacted.encode(encoding, "surrogatepass") + data[even:] if redacted != text else data

    def value(self, value: Any, known: Iterable[str] | Known = ()) -> Any:
        """A JSON-like value of the same shape: text is scanned, and whatever stands under a sensitive key is masked."""
        return _Walk(self, self.known(known)).value(value, None)

    def may_hold(self, text: str) -> bool:
        """Whether a text (also the `repr` of a value) could hold a secret; False is certain and cheap to say."""
        return may_hold(text)

    def secrets_in(self, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The literal secrets of one call, to be given as `known` to everything that the call brings forth."""
        return literal_secrets(arguments)

    def known(self, secrets: Iterable[str] | Known) -> Known:
        """Secrets prepared for search, once for all that a call brings forth."""
        return secrets if isinstance(secrets, Known) else Known(secrets)

    def _redacted(self, text: str, roles: Sequence[Detector]) -> str:
        for _ in range(_ROUNDS):
            spans = secrets_of(text, roles)
            if not spans:
                break
            current = text
            text = replaced(current, spans, lambda span: self._mask_of(current, span))  # noqa: B023  # called at once
        return text

    def _mask_of(self, text: str, span: Span) -> str:
        return self.mask(span.kind, span.secret or plain(text[span.start : span.end]))


class _Whole:
    """A detector for a text whose role is known: all of it is a value of this kind."""

    def __init__(self, kind: Kind | None) -> None:
        self._kind = kind

    def __call__(self, text: str) -> Iterator[Span]:
        if self._kind is not None:
            yield from value_secrets(self._kind, text)


class _Walk:
    """One walk through a value, in order, because a private key may be spread over several of its strings."""

    def __init__(self, redactor: Redactor, known: Known) -> None:
        self._redactor = redactor
        self._known = known
        self._in_key = False

    def value(self, value: Any, name: Name | None) -> Any:
        """The redacted value; `name` is what the keys above it announce."""
        if isinstance(value, str):
            return self._text(value, name.kind if name else None)
        if isinstance(value, Mapping):
            return {
                self._text(key, None): self._entry(key, inner, value, name) for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return type(value)(self.value(inner, name) for inner in value)
        if value is None or isinstance(value, bool):
            return value  # a flag or an absence is no secret; a number may be one
        return self._number(value, name)

    def _number(self, value: Any, name: Name | None) -> Any:
        if name is not None and not name.countable:
            return self._redactor.mask(name.kind, str(value))
        if isinstance(value, int | float) and str(value) in self._known:
            return self._redactor.mask("known", str(value))
        return value

    def _entry(self, key: Any, value: Any, siblings: Mapping[Any, Any], outer: Name | None) -> Any:
        if is_of_a_schema(key, siblings.get("type")):
            return self.value(value, None)  # what a schema says of a secret
        named = siblings.get("name") if key == "value" else None  # {"name": "Authorization", "value": "…"}
        name = outer or announced(str(key)) or (announced(named) if isinstance(named, str) else None)
        return self.value(value, None if name and name.code else name)

    def _text(self, text: Any, kind: Kind | None) -> Any:
        if not isinstance(text, str):
            return text
        if self._in_key and is_fragment(text):
            kind = "private-key"
        elif kind is not None and names_no_secret(text):
            return text
        if "PRIVATE KEY" in text:
            self._in_key = leaves_a_key_open(text)
        return self._redactor._redacted(text, (self._known.find, _Whole(kind)))
