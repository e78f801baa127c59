"""Where the server listens, and files that change while it runs."""

from __future__ import annotations

import os
import socket
import ssl
import stat
from pathlib import Path

import pytest
import trustme

from app.errors import StartError
from app.transport.listen import (
    Address,
    Watched,
    bind,
    parse_address,
    read_tokens,
    reloading,
    server_context,
)


@pytest.mark.parametrize(
    ("text", "address", "private"),
    [
        ("127.0.0.1:8765", Address("127.0.0.1", 8765), True),
        ("localhost:0", Address("127.0.0.1", 0), True),
        ("[::1]:65535", Address("::1", 65535), True),
        ("0.0.0.0:1", Address("0.0.0.0", 1), False),
        ("[::]:1", Address("::", 1), False),
        ("unix:/run/facts.sock", Address("", 0, "/run/facts.sock"), True),
    ],
)
def test_an_address_says_whether_only_this_machine_reaches_it(
    text: str,
    address: Address,
    private: bool,  # noqa: FBT001 - a column
) -> None:
    assert (parse_address(text), address.is_private) == (address, private)


@pytest.mark.parametrize(
    "text",
    ["", "8765", "facts.example:1", "127.0.0.1:", "127.0.0.1:65536", "unix:run/x", f"unix:/{'x' * 100}"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(StartError, match="expected "):
        parse_address(text)


def test_a_socket_in_the_file_system_is_ours_alone_and_a_stale_one_makes_room(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    bind(Address("", 0, path)).close()  # killed: the name stays
    with bind(Address("", 0, path)):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        with pytest.raises(StartError, match="cannot listen on "):
            bind(Address("", 0, path))

    assert mode == 0o600


def test_a_port_that_is_taken_and_a_file_in_the_way_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for address in (Address("127.0.0.1", taken.getsockname()[1]), Address("", 0, str(tmp_path / "file"))):
            with pytest.raises(StartError, match="cannot listen on "):
                bind(address)

    assert (tmp_path / "file").read_text() == "kept"


def test_a_file_that_changes_is_read_again_and_a_bad_change_is_not_taken(tmp_path: Path) -> None:
    path, told = tmp_path / "tokens", list[str]()
    path.write_text("anna read anna-has-this-token\n")
    tokens = Watched((str(path),), lambda: read_tokens(str(path)), told.append)
    first = tokens()
    path.write_text("anna read anna-has-another-token\n")
    second = tokens()
    path.write_text("nonsense with secret-secret-secret\n")
    third, fourth = tokens(), tokens()
    path.unlink()

    assert first is not second
    assert (second is third is fourth is tokens(), len(told)) == (True, 2)
    assert "line 1: expected NAME" in told[0]
    assert "secret" not in "".join(told)


@pytest.mark.parametrize("content", [b"", b"# nobody\n", b"\xff"])
def test_a_file_without_a_token_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokens").write_bytes(content)

    with pytest.raises(StartError):
        read_tokens(str(tmp_path / "tokens"))


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> bytes:
    """The certificate that a client sees; over memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    there = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(8):
        for each in (here, there):
            try:
                each.do_handshake()
            except ssl.SSLWantReadError:
                continue
    there.write(b"x")
    assert here.read(1) == b"x"
    return here.getpeercert(binary_form=True) or b""


def test_a_new_certificate_serves_new_connections(tmp_path: Path) -> None:
    authority = trustme.CA()
    paths = (str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"))

    def issue() -> None:
        issued = authority.issue_cert("localhost")
        issued.cert_chain_pems[0].write_to_path(paths[0])
        issued.private_key_pem.write_to_path(paths[1])

    issue()
    told: list[str] = []
    server = reloading(Watched(paths, lambda: server_context(*paths, None), told.append))
    client = ssl.create_default_context()
    authority.configure_trust(client)
    first = handshake(server, client)
    again = handshake(server, client)
    issue()
    second = handshake(server, client)
    Path(paths[0]).write_text("nonsense")

    assert (first == again, first != second, handshake(server, client) == second, len(told)) == (
        True,
        True,
        True,
        1,
    )


def test_a_client_without_a_certificate_is_refused_where_one_is_asked_for(tmp_path: Path) -> None:
    authority = trustme.CA()
    issued, mine = authority.issue_cert("localhost"), authority.issue_cert("client")
    issued.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    issued.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    server = server_context(*(str(tmp_path / name) for name in ("cert.pem", "key.pem", "ca.pem")))
    client = ssl.create_default_context()
    authority.configure_trust(client)

    with pytest.raises(ssl.SSLError):
        handshake(server, client)
    mine.configure_cert(client)
    assert handshake(server, client)
