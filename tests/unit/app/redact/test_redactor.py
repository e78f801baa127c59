"""The redactor as others use it."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from app.redact import Redactor

REDACTOR = Redactor(b"a key of the tests")
LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


def test_a_mask_is_the_keyed_hash_of_the_secret() -> None:
    assert Redactor(b"k").mask("jwt", "secret") == "[redacted:jwt:4132820c]"


def test_one_secret_has_one_hash_whatever_it_is_and_however_it_is_written() -> None:
    redacted = REDACTOR.text('?token=a%2Fb\n"secret": "a\\/b"\nAuthorization: Bearer a/b')

    assert redacted.count(REDACTOR.mask("field", "a/b")[-10:]) == 3


def test_another_key_gives_another_mask() -> None:
    assert Redactor(b"one").mask("jwt", "secret") != Redactor(b"two").mask("jwt", "secret")


@pytest.mark.parametrize("key", [b"", b"k" * 65], ids=["no key", "too long a key"])
def test_a_key_of_another_length_is_refused(key: bytes) -> None:
    with pytest.raises(ValueError, match="1 to 64 bytes"):
        Redactor(key)


def test_a_secret_that_another_mask_uncovers_is_masked_too() -> None:
    redacted = REDACTOR.text("known-secretghp_abcdefgh12", {"known-secret"})

    assert redacted == REDACTOR.mask("known", "known-secret") + REDACTOR.mask("token", "ghp_abcdefgh12")


def test_a_url_keeps_all_but_its_secrets() -> None:
    mask = REDACTOR.mask

    assert REDACTOR.url("u:p w@h.test:80/a?b=1&sig=x9#token=y9") == (
        f"{mask('userinfo', 'u:p w')}@h.test:80/a?b=1&sig={mask('parameter', 'x9')}#token={mask('parameter', 'y9')}"
    )


def test_headers_keep_their_order_names_schemes_and_attributes() -> None:
    headers = [
        ["Authorization", "Bearer s3"],
        ("Set-Cookie", "a=b; Path=/"),
        ["X-S3cret-Name", "v"],
        ["Location", "/"],
    ]

    assert REDACTOR.headers(headers, {"X-S3cret-Name"}) == [
        ["Authorization", f"Bearer {REDACTOR.mask('authorization', 's3')}"],
        ["Set-Cookie", f"a={REDACTOR.mask('set-cookie', 'b')}; Path=/"],
        [REDACTOR.mask("known", "X-S3cret-Name"), "v"],
        ["Location", "/"],
    ]


BODIES = {
    "bytes that are no text": (b"\xff\x00token=s3&\x80", b"\xff\x00token=[m]&\x80"),
    "text in UTF-16": ("\ufefftoken=s3&é".encode("utf-16-le"), "\ufefftoken=[m]&é".encode("utf-16-le")),
    "text in big-endian UTF-16": (
        "\ufefftoken=s3&é".encode("utf-16-be"),
        "\ufefftoken=[m]&é".encode("utf-16-be"),
    ),
    "text in cut UTF-16": (
        "\ufefftoken=s3&".encode("utf-16-le") + b"\x00",
        "\ufefftoken=[m]&".encode("utf-16-le") + b"\x00",
    ),
    "half a surrogate pair": (b"\xff\xfe\x3d\xd8", b"\xff\xfe\x3d\xd8"),
    "nothing": (b"", b""),
}


@pytest.mark.parametrize(("data", "pattern"), BODIES.values(), ids=BODIES)
def test_a_body_keeps_every_other_byte(data: bytes, pattern: bytes) -> None:
    mask = REDACTOR.mask("parameter", "s3")
    encoding = (
        "utf-16-le" if data[:2] == b"\xff\xfe" else "utf-16-be" if data[:2] == b"\xfe\xff" else "latin-1"
    )

    assert REDACTOR.body(data) == pattern.replace("[m]".encode(encoding), mask.encode(encoding))


def test_a_known_secret_is_found_in_a_body_of_utf_8() -> None:
    assert (
        REDACTOR.body("é pässword é".encode(), {"pässword"})
        == f"é {REDACTOR.mask('known', 'pässword')} é".encode()
    )


def field(secret: str) -> str:
    """The mask of a secret field."""
    return REDACTOR.mask("field", secret)


VALUES: dict[str, tuple[Any, Any]] = {
    "a field": ({"password": "x", "a": "y"}, {"password": field("x"), "a": "y"}),
    "a number": ({"password": 12, "token": 1.5}, {"password": field("12"), "token": field("1.5")}),
    "flags and absences": (dict.fromkeys("ab", None) | {"token": None, "auth": True, "secret": ""}, None),
    "everything below": ({"auth": {"a": ["x", {"b": 7}]}}, {"auth": {"a": [field("x"), {"b": field("7")}]}}),
    "a count": ({"tokens": 17, "a": {"tokens": ["x", 1]}}, {"tokens": 17, "a": {"tokens": [field("x"), 1]}}),
    "a status": ({"code": "a1B2", "error": {"code": 7}}, None),
    "an authorization": (
        {"Authorization": "Bearer x"},
        {"Authorization": f"Bearer {REDACTOR.mask('authorization', 'x')}"},
    ),
    "a named pair": ({"name": "X-Api-Key", "value": "x"}, {"name": "X-Api-Key", "value": field("x")}),
    "a pair without a name": ({"name": 1, "value": "x"}, None),
    "a text": (["see ?token=x"], [f"see ?token={REDACTOR.mask('parameter', 'x')}"]),
    "a key that holds a secret": ({"?token=x": 1}, {f"?token={REDACTOR.mask('parameter', 'x')}": 1}),
    "a list of pairs is not guessed": ([["Authorization", "x"]], None),
    "a schema": (
        {"password": {"type": "string", "description": "of x1", "minLength": 8, "example": "s3"}},
        {"password": {"type": "string", "description": "of x1", "minLength": 8, "example": field("s3")}},
    ),
    "a word that says there is none": ({"auth": "basic", "signature": "RS256"}, None),
    "a tuple": (("?sig=x", 1), (f"?sig={REDACTOR.mask('parameter', 'x')}", 1)),
    "a key that is no text": ({1: "x"}, None),
    "other things": ([1, 1.5, True, None, "x", {}, []], None),
    "masks": ({"password": field("x")}, None),
    "fragments of a key": (
        [
            "-----BEGIN PRIVATE KEY-----\n",
            {"delta": LINE, "id": "x"},
            f"{LINE}\n-----END PRIVATE KEY-----",
            LINE,
        ],
        [
            "-----BEGIN PRIVATE KEY-----\n",
            {"delta": REDACTOR.mask("private-key", LINE), "id": "x"},
            REDACTOR.mask("private-key", f"{LINE}\n-----END PRIVATE KEY-----"),
            LINE,
        ],
    ),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_a_value_keeps_its_shape_and_loses_its_secrets(value: Any, expected: Any) -> None:
    assert REDACTOR.value(value) == (value if expected is None else expected)


def test_a_known_secret_is_masked_in_a_value() -> None:
    assert REDACTOR.value({"a": ["x my-secret y"]}, {"my-secret"}) == {
        "a": [f"x {REDACTOR.mask('known', 'my-secret')} y"]
    }


def test_a_known_secret_is_masked_where_it_is_a_number() -> None:
    assert REDACTOR.value({"a": [1234567, 7654321], "tokens": 1234567}, {"1234567"}) == {
        "a": [REDACTOR.mask("known", "1234567"), 7654321],
        "tokens": REDACTOR.mask("known", "1234567"),
    }


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_known_secret_is_masked_in_utf_16_without_a_mark(encoding: str) -> None:
    mask = REDACTOR.mask("known", "my-secret")

    assert REDACTOR.body("a my-secret b".encode(encoding), {"my-secret"}) == (
        "a ".encode(encoding) + mask.encode() + " b".encode(encoding)
    )


def test_prepared_secrets_serve_every_text_of_a_call() -> None:
    known = REDACTOR.known({"my-secret"})
    mask = REDACTOR.mask("known", "my-secret")

    assert (
        REDACTOR.known(known),
        REDACTOR.text("my-secret", known),
        REDACTOR.value(["my-secret"], known),
    ) == (
        known,
        mask,
        [mask],
    )


def test_very_many_secrets_cost_each_text_little() -> None:
    secrets = [f"{number:04d}-secret-{number * 7919:012x}" for number in range(1500)]
    texts = [f"a short line of an answer, number {number}, as there are many" for number in range(100)]

    began = time.process_time()
    known = REDACTOR.known(secrets)
    redacted = [REDACTOR.text(text, known) for text in texts]

    assert (redacted, time.process_time() - began < 2) == (texts, True)


def test_it_is_cheap_to_know_that_short_arguments_hold_no_secret() -> None:
    innocent, telling = {"url": "http://127.0.0.1:80/"}, {"headers": [["Authorization", "x"]]}

    assert (REDACTOR.may_hold(repr(innocent)), REDACTOR.may_hold(repr(telling))) == (False, True)


def test_the_secrets_of_a_call_are_told() -> None:
    assert REDACTOR.secrets_in({"headers": [["X-Api-Key", "abc-123"]]}) == {"abc-123"}


MEBIBYTE = 1 << 20
ADVERSARIAL = {
    "pairs": ("a=", MEBIBYTE),
    "headers of JWTs": ("eyJ", MEBIBYTE),
    "beginnings of PEM": ("-----BEGIN ", MEBIBYTE),
    "at signs": ("@", MEBIBYTE),
    "pieces of JWTs": ("eyJ.", MEBIBYTE),
    "names of forms": ("form-data; name=", MEBIBYTE),
    "broken authorities": ("a://b:c/", MEBIBYTE // 16),
    "percent signs": ("%25", MEBIBYTE // 16),
    "backslashes": ("\\", MEBIBYTE // 16),
    "nested containers": ('"secret":{', MEBIBYTE // 16),
    "open keys": ("-----BEGIN PRIVATE KEY-----", MEBIBYTE // 16),
    "passwords": ("a://b:c@", MEBIBYTE // 16),
    "cookies": ("cookie: a|b ", MEBIBYTE // 16),
    "commands": ("curl ", MEBIBYTE // 16),
    "values of inputs": (' value="', MEBIBYTE // 16),
    "values of pairs": ('"value":"', MEBIBYTE // 16),
    "blocks": ("token: |\n a\n", MEBIBYTE // 16),
    "folded headers": ("authorization: bearer\n ", MEBIBYTE // 16),
    "backslashes of URLs": ("a:\\\\b:c@", MEBIBYTE // 16),
    "quotations": ("token='", MEBIBYTE // 16),
}


@pytest.mark.parametrize(("piece", "length"), ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_a_text_made_to_be_slow_is_redacted_in_linear_time(piece: str, length: int) -> None:
    text = (piece * length)[:length]

    began = time.process_time()
    REDACTOR.text(text)

    assert time.process_time() - began < 5


def test_importing_the_redactor_loads_nothing_heavy() -> None:
    heavy = {"base64", "hashlib", "ssl", "urllib.parse"}
    program = f"import sys; before = set(sys.modules); import app.redact; print({heavy} & (set(sys.modules) - before))"

    outcome = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); {program}"], capture_output=True
    )

    assert (outcome.stdout, outcome.stderr) == (b"set()\n", b"")
