"""Errors of OpenSSL as ours, and the alerts that they tell of."""

from __future__ import annotations

import ssl

import pytest

from app.net.tls_faults import alert_of, tls_fault


def error_of(reason: str) -> ssl.SSLError:
    error = ssl.SSLError()
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("reason", "alert"),
    [
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", {"code": 116, "name": "certificate_required"}),
        ("TLSV1_ALERT_PROTOCOL_VERSION", {"code": 70, "name": "protocol_version"}),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", {"code": 40, "name": "handshake_failure"}),
        ("TLSV1_UNRECOGNIZED_NAME", {"code": 112, "name": "unrecognized_name"}),
        ("TLSV1_ALERT_USER_CANCELLED", {"code": 90, "name": "user_canceled"}),
        ("WRONG_VERSION_NUMBER", None),
        ("TLSV1_ALERT_NOBODY_KNOWS", None),
    ],
)
def test_the_reason_of_openssl_names_the_alert_of_the_server(
    reason: str, alert: dict[str, object] | None
) -> None:
    assert alert_of(error_of(reason)) == alert


def test_an_alert_is_a_fact_of_the_error() -> None:
    failed = tls_fault("tls", error_of("SSLV3_ALERT_HANDSHAKE_FAILURE"))

    assert (failed.phase, failed.code, failed.facts) == ("tls", "tls_failed", {"alert": "handshake_failure"})


def test_what_is_no_error_of_openssl_tells_of_no_alert() -> None:
    assert (alert_of(None), alert_of(ValueError())) == (None, None)
