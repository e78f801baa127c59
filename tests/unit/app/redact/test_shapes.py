"""Secrets that their own shape gives away."""

from __future__ import annotations

import base64

import pytest

from app.redact.shapes import basic_pair, provider_tokens, scheme_credentials, web_tokens

TAIL = "Zq7CANARYx9Kd2Lmab"
HEX = "0123456789abcdef" * 2

TOKENS = {
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "GitHub": f"ghp_{TAIL}",
    "GitHub, fine-grained": f"github_pat_11{TAIL}",
    "GitLab": f"glpat-{TAIL}",
    "Slack": f"xoxb-12-{TAIL}",
    "Slack app": f"xapp-1-{TAIL}",
    "a Slack hook": f"hooks.slack.com/services/T0/B0/{TAIL}",
    "a Discord hook": f"discord.com/api/webhooks/12345678/{TAIL}",
    "Stripe": f"sk_live_{TAIL}",
    "a Stripe hook": f"whsec_{TAIL}",
    "OpenAI": f"sk-proj-{TAIL}",
    "OpenAI, old": f"sk-{TAIL}",
    "Anthropic": f"sk-ant-api03-{TAIL}",
    "Groq": f"gsk_{TAIL}",
    "xAI": f"xai-{TAIL}",
    "Perplexity": f"pplx-{TAIL}",
    "NVIDIA": f"nvapi-{TAIL}",
    "Replicate": f"r8_{TAIL}",
    "Google": f"AIza{TAIL}",
    "Google client": f"GOCSPX-{TAIL}",
    "Google access": f"ya29.{TAIL}",
    "Google refresh": f"1//0{TAIL}{TAIL}",
    "Hugging Face": f"hf_{TAIL}",
    "npm": f"npm_{TAIL}",
    "PyPI": f"pypi-AgE{TAIL}",
    "RubyGems": f"rubygems_{HEX}",
    "Docker": f"dckr_pat_{TAIL}",
    "SendGrid": f"SG.{TAIL}.{TAIL}",
    "Brevo": f"xkeysib-{HEX}",
    "Mailchimp": f"{HEX}-us12",
    "Twilio": f"SK{HEX}",
    "Telegram": f"123456789:AA{TAIL}{TAIL}",
    "DigitalOcean": f"dop_v1_{HEX}",
    "Databricks": f"dapi{HEX}",
    "Doppler": f"dp.pt.{TAIL}",
    "Shopify": f"shpat_{HEX}",
    "Square": f"sq0atp-{TAIL}",
    "Vault": f"hvs.{TAIL}",
    "Terraform": f"abcdefghijklmN.atlasv1.{TAIL}",
    "Atlassian": f"ATATT3{TAIL}",
    "Linear": f"lin_api_{TAIL}",
    "Postman": f"PMAK-{HEX}-{HEX}",
    "Figma": f"figd_{TAIL}",
    "New Relic": "NRAK-ABCDEFGHIJ12",
    "Grafana": f"glsa_{TAIL}",
    "Sentry": f"sntrys_{TAIL}",
    "Supabase": f"sbp_{HEX}",
    "PlanetScale": f"pscale_tkn_{TAIL}",
    "Fly": f"fm2_{TAIL}",
    "Notion": f"ntn_{TAIL}",
    "age": "AGE-SECRET-KEY-1QQPQYQSZ",
    "a PEM key in base64": f"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t{TAIL}",
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_a_provider_token_is_found_whole(token: str) -> None:
    text = f"x={token} y"

    assert [text[span.start : span.end] for span in provider_tokens(text)] == [token]


@pytest.mark.parametrize("before", ["%3D", "\\n", "_", "-", '"'])
def test_a_provider_token_is_found_after_an_escape_or_a_separator(before: str) -> None:
    text = f"a{before}ghp_{TAIL}"

    assert [text[span.start : span.end] for span in provider_tokens(text)] == [f"ghp_{TAIL}"]


@pytest.mark.parametrize(
    "text",
    [
        f"xghp_{TAIL}",
        "sk-learn-contrib",
        "ghp_",
        "AKIA",
        f"pk_live_{TAIL}",
        HEX,
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t",
    ],
)
def test_what_only_begins_alike_is_no_token(text: str) -> None:
    assert list(provider_tokens(text)) == []


WEB_TOKENS = {
    "a JWS": ("a eyJhbGciOiJIUzI1NiJ9.eyJz.sig_-x b", "eyJhbGciOiJIUzI1NiJ9.eyJz.sig_-x"),
    "a JWE without a key": ("eyJhbGciOiJkaXIifQ..aa.bb.cc", "eyJhbGciOiJkaXIifQ..aa.bb.cc"),
    "a cut one": ("eyJhbGciOiJIUzI1NiJ9.e", "eyJhbGciOiJIUzI1NiJ9.e"),
    "behind an escape": ("x%3DeyJhbGciOiJIUzI1NiJ9.eyJz.s", "eyJhbGciOiJIUzI1NiJ9.eyJz.s"),
    "without the front of its header": (
        "bGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3.sig",
        "eyJzdWIiOiIxMjM0NTY3.sig",
    ),
    "before the end of a sentence": ("is eyJhbGciOiJIUzI1NiJ9.eyJz.s.", "eyJhbGciOiJIUzI1NiJ9.eyJz.s"),
    "behind something alike": ("eyJa.eyJhbGciOiJIUzI1NiJ9.x", "eyJhbGciOiJIUzI1NiJ9.x"),
}


@pytest.mark.parametrize(("text", "token"), WEB_TOKENS.values(), ids=WEB_TOKENS)
def test_a_web_token_is_found(text: str, token: str) -> None:
    assert [(text[span.start : span.end], span.kind) for span in web_tokens(text)] == [(token, "jwt")]


@pytest.mark.parametrize(
    "text", ["eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.", "eyJ.a.b", "file.eyJ", "no token. At all."]
)
def test_a_header_alone_is_no_web_token(text: str) -> None:
    assert list(web_tokens(text)) == []


CREDENTIALS = {
    "a bearer token": ("got Bearer abc123def.", "abc123def"),
    "in lower case after a tab": ("bearer\tABCDEFGH==", "ABCDEFGH=="),
    "a pair": ("Basic dTpwYXNz", "dTpwYXNz"),
    "a cut pair": ("Basic dXNlcjpwYXNzd29yZ", "dXNlcjpwYXNzd29yZ"),
}


@pytest.mark.parametrize(("text", "secret"), CREDENTIALS.values(), ids=CREDENTIALS)
def test_credentials_after_a_scheme_are_found(text: str, secret: str) -> None:
    found = [(text[span.start : span.end], span.kind) for span in scheme_credentials(text)]

    assert found == [(secret, "authorization")]


@pytest.mark.parametrize(
    "text",
    [
        "Basic auth is enabled",
        "Bearer tokens",
        'Bearer realm="x1Y2z3"',
        "Bearer authentication-required",
        "forbearer a1B2c3D4",
        "Basic information",
        "bearer: none",
        "no scheme at all",
    ],
)
def test_prose_about_a_scheme_is_no_credential(text: str) -> None:
    assert list(scheme_credentials(text)) == []


PAIRS = {
    "dTpw": "u:p",
    "dTpwYXM": "u:pas",
    "dTpwYQ==": "u:pa",
    "dTpwY": "u:p",
    "QkM=": "BC",
    "!!!!": "",
    "AAAA": "",
}


@pytest.mark.parametrize(("credentials", "pair"), PAIRS.items(), ids=PAIRS)
def test_a_basic_pair_is_decoded_as_far_as_it_goes(credentials: str, pair: str) -> None:
    assert basic_pair(credentials) == pair


def test_a_basic_pair_of_any_user_comes_back() -> None:
    assert basic_pair(base64.b64encode("jürgen:pässword".encode()).decode()) == "jürgen:pässword"
