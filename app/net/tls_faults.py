"""What the errors of OpenSSL mean to us: the one place where they become ours, the alert of the server with them."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Any, Final

from app.errors import Phase, ProbeErrorCode, ProbeFailed

VERIFY_CODES: Final[Mapping[int, ProbeErrorCode]] = {
    # The numbers are those of OpenSSL's x509_vfy.h (X509_V_ERR_…).
    2: "certificate_unknown_issuer",  # unable to get issuer certificate
    9: "certificate_not_yet_valid",
    10: "certificate_expired",
    18: "certificate_self_signed",
    19: "certificate_unknown_issuer",  # a self-signed certificate further up the chain
    20: "certificate_unknown_issuer",  # unable to get local issuer certificate
    21: "certificate_unknown_issuer",  # unable to verify the first certificate
    62: "certificate_wrong_name",
    64: "certificate_wrong_name",  # the IP address
}
"""Every other number is `certificate_invalid`."""

ALERTS: Final[Mapping[int, str]] = {
    0: "close_notify",
    10: "unexpected_message",
    20: "bad_record_mac",
    22: "record_overflow",
    40: "handshake_failure",
    42: "bad_certificate",
    43: "unsupported_certificate",
    44: "certificate_revoked",
    45: "certificate_expired",
    46: "certificate_unknown",
    47: "illegal_parameter",
    48: "unknown_ca",
    49: "access_denied",
    50: "decode_error",
    51: "decrypt_error",
    70: "protocol_version",
    71: "insufficient_security",
    80: "internal_error",
    86: "inappropriate_fallback",
    90: "user_canceled",
    109: "missing_extension",
    110: "unsupported_extension",
    112: "unrecognized_name",
    113: "bad_certificate_status_response",
    115: "unknown_psk_identity",
    116: "certificate_required",
    120: "no_application_protocol",
}
"""IANA's registry of TLS alerts."""

_NUMBERS: Final = {name: number for number, name in ALERTS.items()} | {"user_cancelled": 90}
# OpenSSL names the alert that it received after the version that brought it: SSLV3_ALERT_BAD_CERTIFICATE.
_RECEIVED: Final = re.compile(r"(?:SSLV3|TLSV1|TLSV13)_(?:ALERT_)?(.+)")


def tls_fault(phase: Phase, error: ssl.SSLError) -> ProbeFailed:
    """The error of ours for one of OpenSSL."""
    if isinstance(error, ssl.SSLCertVerificationError):
        code = VERIFY_CODES.get(error.verify_code, "certificate_invalid")
        return ProbeFailed(phase, code, error.verify_message)
    if isinstance(error, ssl.SSLEOFError):
        return ProbeFailed(phase, "truncated", "the connection was closed without the end that TLS asks for")
    alert = alert_of(error)
    facts = {} if alert is None else {"alert": alert["name"]}
    reason = (getattr(error, "reason", None) or "unknown error").replace("_", " ").lower()
    return ProbeFailed(phase, "tls_failed", f"TLS: {reason}", **facts)


def alert_of(error: BaseException | None) -> dict[str, Any] | None:
    """The alert of the server `{code, name}` that an error of OpenSSL tells of, None when it tells of none."""
    matched = _RECEIVED.fullmatch(getattr(error, "reason", None) or "")
    name = matched[1].lower() if matched else None
    number = _NUMBERS.get(name) if name is not None else None
    return None if number is None else {"code": number, "name": ALERTS[number]}
