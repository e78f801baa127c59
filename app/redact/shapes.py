"""Secrets that give themselves away by their own shape: JWTs, bearer and basic credentials, tokens of providers.

The table follows what the providers document. Lengths are lower than the real ones: a token that a limit cut is masked
as long as enough of it is left to tell it from a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from app.redact.names import is_ordinary
from app.redact.spans import Span

# One line a provider family; `{b}` is the alphabet of base64url.
_SHAPES = tuple(
    shape.replace("{b}", r"[\w-]")
    for shape in (
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{8,}+",  # AWS access key ids
        r"gh[pousr]_[A-Za-z0-9]{6,}+|github_pat_\w{6,}+",  # GitHub
        r"gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-{b}{6,}+",  # GitLab
        r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9%-]{6,}+|xapp-[0-9]-[A-Za-z0-9-]{6,}+",  # Slack
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{10,}+",  # Slack web hooks
        r"discord(?:app)?\.com/api/webhooks/[0-9]{8,}+/{b}{6,}+",  # Discord web hooks
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{6,}+|whsec_[A-Za-z0-9+/=]{10,}+",  # Stripe
        r"sk-(?:proj|svcacct|admin|ant|or|lf)-{b}{6,}+|sk-(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}+",  # OpenAI, Anthropic, …
        r"gsk_[A-Za-z0-9]{16,}+|xai-[A-Za-z0-9]{16,}+|pplx-[A-Za-z0-9]{16,}+|nvapi-{b}{16,}+|r8_[A-Za-z0-9]{16,}+",
        r"AIza{b}{10,}+|GOCSPX-{b}{6,}+|ya29\.{b}{10,}+|1//0{b}{20,}+",  # Google
        r"hf_[A-Za-z0-9]{16,}+|api_org_[A-Za-z0-9]{16,}+",  # Hugging Face
        r"npm_[A-Za-z0-9]{16,}+|pypi-AgE{b}{10,}+|rubygems_[0-9a-f]{16,}+|dckr_(?:pat|oat)_{b}{6,}+|oy2[a-z0-9]{43}",
        r"SG\.{b}{16,}+\.{b}{6,}+|xkeysib-[0-9a-f]{16,}+|[0-9a-f]{32}-us[0-9]{1,2}\b",  # mail
        r"SK[0-9a-f]{32}|[0-9]{8,10}:AA{b}{20,}+",  # Twilio, Telegram
        r"do[opr]_v1_[0-9a-f]{6,}+|dapi[0-9a-f]{32}|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{16,}+",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{6,}+|sq0(?:atp|csp)-{b}{6,}+",  # Shopify, Square
        r"hv[sbr]\.{b}{16,}+|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{6,}+",  # HashiCorp
        r"ATATT3[\w=-]{16,}+|ATCTT3[\w=-]{16,}+|lin_api_[A-Za-z0-9]{16,}+|PMAK-[0-9a-f]{16,}+{b}*+|figd_{b}{16,}+",
        r"NRAK-[A-Z0-9]{10,}+|glsa_\w{16,}+|glc_[A-Za-z0-9+/=]{16,}+|sntry[su]_[\w+/=]{16,}+|sbp_[0-9a-f]{16,}+",
        r"pscale_(?:tkn|pw|oauth)_{b}{16,}+|fm[12]r?_[\w+/=]{16,}+|secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{16,}+",
        r"AGE-SECRET-KEY-1[A-Z0-9]{6,}+",  # age
        # Base64 of the first line of a PEM private key, as Kubernetes stores it.
        r"LS0tLS1CRUdJTiB(?:QUklWQVRF|SU0EgUFJJ|FQyBQUklW|PUEVOU1NI|FTkNSWVBU|EU0EgUFJJ)[\w+/=-]*+",
    )
)


@cache
def _provider() -> re.Pattern[str]:
    # Not inside a word, unless an escape ends there whose last letter belongs to the escape.
    boundary = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
    return re.compile(f"{boundary}(?:{'|'.join(_SHAPES)})", re.ASCII)


@cache
def _hint() -> re.Pattern[str]:
    # The same without the boundary, which keeps the engine from skipping: most texts hold nothing of the kind.
    return re.compile("|".join(_SHAPES), re.ASCII)


def provider_tokens(text: str) -> Iterator[Span]:
    """Tokens whose prefix or form their provider documents."""
    if not _hint().search(text):
        return
    for found in _provider().finditer(text):
        yield Span(found.start(), found.end(), "token")


# Base64url of `{"` and at least nine more characters: the shortest header there is, `{"alg":""}`.
_SHORTEST_HEADER = 12


@cache
def _dotted() -> re.Pattern[str]:
    return re.compile(r"(?<![\w.-])[\w.-]++", re.ASCII)


def web_tokens(text: str) -> Iterator[Span]:
    """JWTs (JWS and JWE, RFC 7515 and 7516), also cut ones: a header and the beginning of a payload are enough."""
    if "eyJ" not in text:
        return
    for run in _dotted().finditer(text):
        token = run[0].rstrip(".")
        start = _header_start(token)
        if start is not None:
            yield Span(run.start() + start, run.start() + len(token), "jwt")


def _header_start(run: str) -> int | None:
    start = run.find("eyJ")
    while start >= 0:
        dot = run.find(".", start)
        if dot < 0:
            return None
        if dot - start >= _SHORTEST_HEADER:
            return start
        start = run.find("eyJ", dot)
    return None


@cache
def _scheme() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w-])(?:(?P<bearer>bearer)|basic)[ \t]{1,8}"
        r"(?P<value>(?(bearer)(?![A-Za-z_-]{1,40}=[\"\\])[A-Za-z0-9._~+/-]{6,}+=*+|[A-Za-z0-9+/]{4,}+=*+))",
        re.ASCII | re.IGNORECASE,
    )


def scheme_credentials(text: str) -> Iterator[Span]:
    """`Bearer <token>` and `Basic <user:password in base64>` anywhere, prose about either left alone."""
    lowered = text.lower()
    if "bearer" not in lowered and "basic" not in lowered:
        return
    for found in _scheme().finditer(text):
        value = found["value"].rstrip(".")
        secret = not is_ordinary(value) if found["bearer"] else ":" in basic_pair(value)
        if secret:
            yield Span(found.start("value"), found.start("value") + len(value), "authorization")


def basic_pair(credentials: str) -> str:
    """The `user:password` behind Basic credentials (RFC 7617), as much as was left of it; else an empty text."""
    import base64
    import binascii

    bare = credentials.rstrip("=")
    whole = bare[: len(bare) // 4 * 4] if len(bare) % 4 == 1 else bare + "=" * (-len(bare) % 4)
    try:
        pair = base64.b64decode(whole, validate=True).decode("utf-8", "ignore")
    except binascii.Error:
        return ""
    return pair if pair.isprintable() else ""
