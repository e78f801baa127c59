"""Which names announce a secret: of headers, parameters, fields, variables and command-line options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from app.redact.spans import Kind, mask_pattern
from app.redact.views import plain

# The end of a name decides, written together and in lower case: accessToken, x-api-key, user[password].
_ENDINGS = (
    "token", "secret", "password", "passwd", "passphrase", "passcode", "credential", "credentials", "signature",
    "apikey", "privatekey", "secretkey", "accesskey", "signingkey", "encryptionkey", "accountkey", "sharedkey",
    "masterkey", "subscriptionkey", "functionskey", "applicationkey", "deploykey", "authkey", "sessionkey",
    "sessionid", "sessid", "authcode", "authorizationcode", "devicecode", "codeverifier", "connectionstring",
    "clientassertion",
)  # fmt: skip

# Too short or too common to be looked for at the end of a word: the whole last word, or the whole name.
_LAST_WORDS = frozenset(
    (
        "pwd", "sig", "jwt", "otp", "totp", "pat", "passwd", "secrets", "passwords", "pass", "sid", "ticket", "hmac",
        "assertion", "sas",
    )
)  # fmt: skip
_WHOLE = frozenset(
    {"auth", "xauth", "session", "bearer", "samlresponse", "apikeys", "accesstokens", "refreshtokens"}
)

# `tokens: 17` is a count, `"tokens": ["…"]` a list of secrets.
_COUNTABLE = frozenset({"tokens", "secrets", "passwords", "credentials", "apikeys", "cookies"})

# What may follow the end that decides: password2, token[0], secretValue, password_confirmation.
_SUFFIXES = ("confirmation", "confirm", "value")
_DIGITS = "0123456789"

# In the name of a header one such word is enough, unless the last one says that it is only told about a secret.
_TELLING_WORDS = frozenset({"secret", "token", "password", "passwd", "credential", "credentials"})
_ABOUT = frozenset(
    (
        "count", "type", "limit", "remaining", "used", "reset", "expires", "expiry", "expiration", "policy", "name",
        "length", "endpoint", "url", "uri", "status", "version", "binding",
    )
)  # fmt: skip

# Names that end like a secret and are none: positions in a list, special words of a language model, public keys.
_BEFORE_A_HARMLESS_TOKEN = frozenset(
    (
        "page", "pagination", "continuation", "next", "previous", "prev", "sync", "cancel", "cancellation", "eos",
        "bos", "pad", "unk", "first", "last", "max", "min", "per",
    )
)  # fmt: skip
_HARMLESS_ENDINGS = ("pagetoken", "continuationtoken", "publickeytoken", "accesscontrolallowcredentials")

_HEADERS: dict[str, Kind] = {
    "proxyauthorization": "proxy-authorization",
    "authorization": "authorization",
    "setcookie": "set-cookie",
    "setcookie2": "set-cookie",
    "cookie": "cookie",
    "cookie2": "cookie",
}

# Words that stand where a secret would stand and say that there is none, or of which sort it is.
PLAIN_WORDS = frozenset(
    (
        "none", "null", "nil", "true", "false", "undefined", "missing", "required", "optional", "present", "absent",
        "empty", "yes", "no", "on", "off", "enabled", "disabled", "invalid", "valid", "expired", "denied", "failed",
        "unknown", "ok", "string", "number", "boolean", "object", "basic", "bearer", "digest", "header", "query",
    )
)  # fmt: skip


class Name(NamedTuple):
    """What a name announces: a kind, whether a number under it is only a count, and whether it is an OAuth `code`."""

    kind: Kind
    countable: bool = False
    code: bool = False


@cache
def _endings() -> tuple[str, ...]:
    return (*_ENDINGS, *_LAST_WORDS, *_WHOLE, *_COUNTABLE, *_HEADERS, "code")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(r"[^A-Za-z0-9]+"), re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def announced(name: str) -> Name | None:
    """What this name announces, or None; case, separators and encoding do not matter."""
    bare = plain(name) if "%" in name else name
    if "[redacted:" in bare:
        # The words of a mask are no end of a name.
        bare = mask_pattern().sub("x", bare)
    separators, words = _patterns()
    joined = separators.sub("", bare).lower()
    if joined == "code":
        return Name("field", code=True)
    if joined in _WHOLE:
        return Name("field")
    joined = _without_suffixes(joined)
    if not joined.endswith(_endings()):
        return None
    for ending, kind in _HEADERS.items():
        if joined.endswith(ending):
            return Name(kind)
    return _secret(joined, _decisive([word.lower() for word in words.findall(bare)]))


def _without_suffixes(joined: str) -> str:
    for _ in range(3):
        joined = joined.rstrip(_DIGITS)
        for suffix in _SUFFIXES:
            joined = joined.removesuffix(suffix)
    return joined


def _decisive(words: list[str]) -> list[str]:
    while len(words) > 1 and (words[-1] in _SUFFIXES or words[-1].isdecimal()):
        words.pop()
    return words


def _secret(joined: str, words: list[str]) -> Name | None:
    if joined in _COUNTABLE or words[-1] == "pass":
        return Name("field", countable=True)
    if _is_harmless(joined, words):
        return None
    return Name("field") if joined.endswith(_ENDINGS) or words[-1] in _LAST_WORDS else None


def _is_harmless(joined: str, words: list[str]) -> bool:
    before = words[-2] if len(words) > 1 and words[-1] == "token" else ""
    return before in _BEFORE_A_HARMLESS_TOKEN or joined.endswith(_HARMLESS_ENDINGS)


def is_telling_header(name: str) -> bool:
    """Whether a header's name has a word such as `secret` anywhere, as in `X-Secret-Stuff`."""
    separators, pattern = _patterns()
    words = [word.lower() for word in pattern.findall(name)]
    if (
        set(separators.findall(name)) - {"-", "_"}
        or not words
        or words[-1] in _ABOUT
        or not _BEFORE_A_HARMLESS_TOKEN.isdisjoint(words)
    ):
        return False
    if separators.sub("", name).lower().endswith(_HARMLESS_ENDINGS):
        return False
    return not _TELLING_WORDS.isdisjoint(words) or "apikey" in "".join(words)


@cache
def _looks() -> re.Pattern[str]:
    return re.compile(r"[A-Z]?[a-z]+(?:['_./-][A-Za-z]?[a-z]*)*|[A-Z]?[a-z]*['’][a-z]+|[0-9]{1,5}")


def names_no_secret(value: str) -> bool:
    """Whether a value says that there is no secret, of which sort it is, or by which algorithm it was made."""
    return value.lower() in PLAIN_WORDS or is_algorithm(value)


def is_ordinary(value: str) -> bool:
    """Whether a value reads as a word of prose, a short number or nothing, where only the context could say more."""
    bare = value.strip(".,;:!?()[]{}\"'`")
    return (
        len(bare) < 3 or bare.lower() in PLAIN_WORDS or (len(bare) <= 24 and bool(_looks().fullmatch(bare)))
    )


@cache
def _algorithm() -> re.Pattern[str]:
    kinds = r"rsa|ecdsa|ed25519|eddsa|hmac|sha|md5|aws4"
    return re.compile(
        rf"(?:{kinds})(?:[-_./]?(?:{kinds}|with|v1_5|pss|[0-9]{{1,4}}))*|[rhep]s[0-9]{{3}}",
        re.ASCII | re.IGNORECASE,
    )


def is_algorithm(value: str) -> bool:
    """Whether a value names how something is signed or hashed, such as `RSA-SHA256` or `RS256`."""
    return len(value) <= 24 and bool(_algorithm().fullmatch(value))


def is_code_word(value: str) -> bool:
    """Whether the value of `code` is a status: up to five digits, or words such as `not_found`; else OAuth's."""
    word = r"[0-9]{0,5}|(?:[a-z]+|[A-Z]+)(?:[_-](?:[a-z]+|[A-Z]+))*|[A-Z][a-z]+"
    return len(value) <= 32 and bool(re.fullmatch(word, value))


@cache
def _stems() -> re.Pattern[str]:
    endings = _endings()
    shortest = [one for one in endings if not any(other in one for other in endings if other != one)]
    return re.compile("|".join([*shortest, "basic", "curl", "proxyuser"]))


# What stands between the words of a name; deleting it from a text of ASCII is a single pass.
_BETWEEN = {code: None for code in range(128) if not chr(code).isalnum()}


def may_announce(text: str) -> bool:
    """Whether a sensitive name or scheme can stand in a text; False is certain, True says: look closer."""
    if not text.isascii():
        return True
    return _stems().search(text.translate(_BETWEEN).lower()) is not None


def is_only_a_name(text: str) -> bool:
    """Whether a text is nothing but one of the names: a password `password` is in every second document."""
    separators, _ = _patterns()
    return separators.sub("", text).lower() in _endings()


def sensitive_names() -> Iterator[str]:
    """One spelling of every name that is looked for; documentation and tests go through them."""
    yield from sorted(_endings())
