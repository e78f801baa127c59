"""Names that announce a secret, and names that only look so."""

from __future__ import annotations

import pytest

from app.redact.names import Name, announced, is_algorithm, is_code_word, is_ordinary, sensitive_names

FIELD = Name("field")

SENSITIVE = {
    "token", "access_token", "refresh_token", "id_token", "accessToken", "API_KEY", "api-key", "apikey", "api%5Fkey",
    "secret", "client_secret", "clientSecret", "password", "passwd", "pwd", "user[password]", "db.password", "sig",
    "signature", "auth", "session", "sessionid", "session_id", "JSESSIONID", "PHPSESSID", "private_key", "credential",
    "x-amz-security-token", "X-Amz-Signature", "X-Amz-Credential", "x-goog-api-key", "X-Auth-Token", "x-csrf-token",
    "private-token", "AccountKey", "SharedAccessKey", "aws_secret_access_key", "_authToken", "api key", "adminToken",
    "mintoken", "code_verifier", "reset_token", "DB_PWD", "access.jwt", "SAMLResponse", "%70assword", "MyPAT",
    "sid", "connect.sid", "ticket", "X-Hmac", "assertion", "blobSas", "password2", "token1", "apiKey1", "x-api-key-2",
    "password_confirmation", "passwordConfirm", "api_key[0]", "secretValue", "accessTokenValue", "token_value_2",
}  # fmt: skip

INNOCENT = {
    "key", "token_count", "max_tokens", "tokenizer", "token_type", "token_endpoint", "author", "authority",
    "nonce", "authorization_endpoint", "state", "signature_algorithm", "public_key", "secret_name",
    "secretName", "passwords_max", "password_policy", "code_challenge", "status_code", "reason_code",
    "session_state", "authenticated", "keyId", "page_token", "nextPageToken", "next_token",
    "continuationToken", "publicKeyToken", "eos_token", "compat", "design", "setDefaultModelAndProvider",
    "AccessKeyId", "etag", "compass", "bypass", "passed", "passport", "inside", "side", "auth0", "code2", "session1",
    "sha256", "value",
    "[redacted:api-key:01234567]", "token [redacted:private-key:01234567]", "max_tokens_2",
    "page_token_2", "tickets", "1", "Access-Control-Allow-Credentials", "Sec-WebSocket-Key", "", "x", "%", "---",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SENSITIVE))
def test_a_sensitive_name_announces_a_secret(name: str) -> None:
    assert announced(name) == FIELD


@pytest.mark.parametrize("name", sorted(INNOCENT))
def test_an_innocent_name_announces_nothing(name: str) -> None:
    assert announced(name) is None


HEADERS = {
    "Authorization": Name("authorization"),
    "X-Forwarded-Authorization": Name("authorization"),
    "proxy_authorization": Name("proxy-authorization"),
    "Cookie": Name("cookie"),
    "Set-Cookie": Name("set-cookie"),
    "set-cookie2": Name("set-cookie"),
    "code": Name("field", code=True),
    "tokens": Name("field", countable=True),
    "CREDENTIALS": Name("field", countable=True),
    "tokens[0]": Name("field", countable=True),
    "pass": Name("field", countable=True),
    "DB_PASS": Name("field", countable=True),
    "userPass": Name("field", countable=True),
    "cookie_value": Name("cookie"),
}


@pytest.mark.parametrize(("name", "expected"), HEADERS.items(), ids=HEADERS)
def test_a_name_announces_its_kind(name: str, expected: Name) -> None:
    assert announced(name) == expected


@pytest.mark.parametrize("name", list(sensitive_names()))
def test_every_listed_name_announces_something(name: str) -> None:
    assert announced(name) is not None


@pytest.mark.parametrize(
    "value",
    [
        "the",
        "Required",
        "it's",
        "not-needed",
        "see/below",
        "it",
        "404",
        "NONE",
        "(expired)",
        "e.g.",
        "12345",
        "",
    ],
)
def test_a_word_or_a_short_number_is_ordinary(value: str) -> None:
    assert is_ordinary(value)


@pytest.mark.parametrize(
    "value", ["hunter2", "aB3", "ABCDEF", "123456", "correcthorsebatterystaple", "s3cr3t", "camelCase"]
)
def test_a_mixture_or_a_very_long_word_is_not_ordinary(value: str) -> None:
    assert not is_ordinary(value)


@pytest.mark.parametrize(
    "value", ["404", "", "12345", "not_found", "NOT_FOUND", "access-denied", "Refused", "ok"]
)
def test_a_status_is_a_code_word(value: str) -> None:
    assert is_code_word(value)


@pytest.mark.parametrize("value", ["123456", "a1b2", "SplxlOBeZQQYbYS6WxSbIA", "4/0AX4XfW", "q" * 33, "aBc"])
def test_an_oauth_code_is_no_code_word(value: str) -> None:
    assert not is_code_word(value)


@pytest.mark.parametrize(
    "value", ["RSA-SHA256", "RS256", "hmac-sha1", "AWS4-HMAC-SHA256", "sha256", "ecdsa-with-SHA256"]
)
def test_the_name_of_an_algorithm_is_one(value: str) -> None:
    assert is_algorithm(value)


@pytest.mark.parametrize("value", ["", "RSA-a1B2", "shaft", "sha256" * 5, "RS2567", "md5:abc"])
def test_another_value_is_no_algorithm(value: str) -> None:
    assert not is_algorithm(value)
