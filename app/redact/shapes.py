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

# What every token of a family has in it, and the family's shape; `{b}` is the alphabet of base64url.
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{8,}+"),  # AWS access key ids
    ("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{6,}+"),  # GitHub
    ("github_pat_", r"github_pat_\w{6,}+"),
    (
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-",  # GitLab
        r"gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-{b}{6,}+",
    ),
    ("xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9%-]{6,}+"),  # Slack
    ("xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{6,}+"),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{10,}+"),
    ("/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{8,}+/{b}{6,}+"),
    ("sk_live_ sk_test_ rk_live_ rk_test_", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{6,}+"),  # Stripe
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{10,}+"),
    # OpenAI, Anthropic and those who copy them
    ("sk-", r"sk-(?:proj|svcacct|admin|ant|or|lf)-{b}{6,}+|sk-(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}+"),
    ("gsk_ xai- pplx- r8_", r"(?:gsk_|xai-|pplx-|r8_)[A-Za-z0-9]{16,}+"),
    ("nvapi-", r"nvapi-{b}{16,}+"),
    ("AIza GOCSPX- ya29. 1//0", r"AIza{b}{10,}+|GOCSPX-{b}{6,}+|ya29\.{b}{10,}+|1//0{b}{20,}+"),  # Google
    ("hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{16,}+"),  # Hugging Face
    ("npm_ rubygems_", r"npm_[A-Za-z0-9]{16,}+|rubygems_[0-9a-f]{16,}+"),
    ("pypi-AgE dckr_pat_ dckr_oat_", r"pypi-AgE{b}{10,}+|dckr_(?:pat|oat)_{b}{6,}+"),
    ("oy2", r"oy2[a-z0-9]{43}"),
    (
        "SG. xkeysib- -us",
        r"SG\.{b}{16,}+\.{b}{6,}+|xkeysib-[0-9a-f]{16,}+|[0-9a-f]{32}-us[0-9]{1,2}\b",
    ),  # mail
    ("SK :AA", r"SK[0-9a-f]{32}|[0-9]{8,10}:AA{b}{20,}+"),  # Twilio, Telegram
    ("doo_v1_ dop_v1_ dor_v1_ dapi", r"do[opr]_v1_[0-9a-f]{6,}+|dapi[0-9a-f]{32}"),
    ("dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{16,}+"),
    ("shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{6,}+"),  # Shopify
    ("sq0atp- sq0csp-", r"sq0(?:atp|csp)-{b}{6,}+"),  # Square
    ("hvs. hvb. hvr. .atlasv1.", r"hv[sbr]\.{b}{16,}+|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{6,}+"),  # HashiCorp
    ("ATATT3 ATCTT3", r"AT[AC]TT3[\w=-]{16,}+"),
    ("lin_api_ PMAK- figd_", r"lin_api_[A-Za-z0-9]{16,}+|PMAK-[0-9a-f]{16,}+{b}*+|figd_{b}{16,}+"),
    ("NRAK- glsa_ glc_", r"NRAK-[A-Z0-9]{10,}+|glsa_\w{16,}+|glc_[A-Za-z0-9+/=]{16,}+"),
    ("sntrys_ sntryu_ sbp_", r"sntry[su]_[\w+/=]{16,}+|sbp_[0-9a-f]{16,}+"),
    ("pscale_ fm1 fm2", r"pscale_(?:tkn|pw|oauth)_{b}{16,}+|fm[12]r?_[\w+/=]{16,}+"),
    ("secret_ ntn_", r"secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{16,}+"),
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{6,}+"),  # age
    (
        "LS0tLS1CRUdJTiB",  # base64 of the first line of a PEM private key, as Kubernetes stores it
        r"LS0tLS1CRUdJTiB(?:QUklWQVRF|SU0EgUFJJ|FQyBQUklW|PUEVOU1NI|FTkNSWVBU|EU0EgUFJJ)[\w+/=-]*+",
    ),
)


@cache
def _hint() -> re.Pattern[str]:
    # Literals alone: the engine looks at first characters only, and most texts are settled by that.
    return re.compile("|".join(re.escape(hint) for hints, _ in _FAMILIES for hint in hints.split()))


@cache
def _provider() -> re.Pattern[str]:
    # Not inside a word, unless an escape ends there whose last letter belongs to the escape.
    boundary = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
    shapes = "|".join(shape.replace("{b}", r"[\w-]") for _, shape in _FAMILIES)
    return re.compile(f"{boundary}(?:{shapes})", re.ASCII)


def may_be_token(text: str) -> bool:
    """Whether a provider's token can stand in a text; False is certain."""
    return _hint().search(text) is not None


def provider_tokens(text: str) -> Iterator[Span]:
    """Tokens whose prefix or form their provider documents."""
    if not may_be_token(text):
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
