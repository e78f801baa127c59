"""Tokens among the subprotocols of a WebSocket."""

from __future__ import annotations

import pytest

from app.redact import secrets_in_subprotocols


@pytest.mark.parametrize(
    ("subprotocols", "secrets"),
    [
        (["base64url.bearer.authorization.k8s.io.c4nary"], {"c4nary"}),
        (["access_token", "c4nary99"], {"c4nary99"}),
        (["graphql-transport-ws", "v4.channel.k8s.io", "wamp.2.json"], set()),
        (["bearer", "token"], set()),
        (["auth.x"], set()),
        ([], set()),
    ],
)
def test_what_stands_behind_a_telling_word_is_a_secret(subprotocols: list[str], secrets: set[str]) -> None:
    assert secrets_in_subprotocols(subprotocols) == secrets
