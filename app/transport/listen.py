"""Where the server listens, with which certificate, and which tokens it knows: files that may change while it runs."""

from __future__ import annotations

import os
import re
import socket
import ssl
import stat
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from app.errors import StartError
from app.transport.access import Tokens

_PORT: Final = re.compile(r"[0-9]{1,5}")


class Address(NamedTuple):
    """An address and a port, or the path of a socket in the file system."""

    host: str
    port: int
    path: str | None = None

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return self.path is not None or ip_address(self.host).is_loopback


def parse_address(text: str) -> Address:
    """`127.0.0.1:8765`, `[::1]:8765`, `localhost:8765` or `unix:/path`; StartError for anything else.

    Names are not resolved: what one stands for tomorrow is not what was judged today.
    """
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not os.path.isabs(path) or len(path.encode()) > 100:
            raise StartError(f"{text!r}: expected unix: and an absolute path of at most 100 bytes")
        return Address("", 0, path)
    host, _, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        ip_address(host)
    except ValueError:
        host = ""
    if not host or not _PORT.fullmatch(port) or int(port) > 65535:
        raise StartError(f"{text!r}: expected ADDRESS:PORT, [ADDRESS]:PORT, localhost:PORT or unix:/path")
    return Address(host, int(port))


def bind(address: Address) -> socket.socket:
    """A socket that listens there; StartError when it cannot. One in the file system is ours alone (0600)."""
    try:
        if address.path is not None:
            return _bind_path(address.path)
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        return socket.create_server((address.host, address.port), family=family, backlog=1024)
    except OSError as error:
        where = address.path or f"{address.host} port {address.port}"
        raise StartError(f"cannot listen on {where}: {error.strerror}") from error


def _bind_path(path: str) -> socket.socket:
    _remove_stale(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(path)
        listening.listen(1024)
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    return listening


def _remove_stale(path: str) -> None:
    """A socket that nobody listens on is left from a server that was killed."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return  # bind will say that it is in use
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)


class Watched:
    """What was made of some files, made again when one of them changes; a bad change is reported and not taken."""

    def __init__(
        self, paths: tuple[str, ...], make: Callable[[], Any], report: Callable[[str], None]
    ) -> None:
        """StartError, OSError or ssl.SSLError of `make` at the beginning."""
        self._paths = paths
        self._make = make
        self._report = report
        self._seen = self._look()
        self._value = make()

    def __call__(self) -> Any:
        """The newest good value."""
        seen = self._look()
        if seen != self._seen:
            self._seen = seen
            try:
                self._value = self._make()
            except (StartError, OSError, ValueError) as error:
                self._report(f"{', '.join(self._paths)}: {error}; what was read before still counts")
        return self._value

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [_identity(path) for path in self._paths]


def token_file(path: str | None, report: Callable[[str], None]) -> Watched | None:
    """The tokens of a file, as they are when they are asked for; StartError where it is none."""
    if path is None:
        return None
    try:
        return Watched((path,), lambda: read_tokens(path), report)
    except (StartError, OSError) as error:
        raise StartError(f"PLINTH_FACTS_TOKEN_FILE: {path}: {error}") from None


def tls_context(
    certificate: str | None, key: str | None, client_ca: str | None, report: Callable[[str], None]
) -> ssl.SSLContext | None:
    """The context to serve TLS with, or None for none; StartError where the files do not fit."""
    if certificate is None or key is None:
        if certificate or key or client_ca:
            raise StartError("PLINTH_FACTS_TLS_CERT_FILE and PLINTH_FACTS_TLS_KEY_FILE are set together")
        return None
    paths = tuple(path for path in (certificate, key, client_ca) if path)
    try:
        return reloading(Watched(paths, lambda: server_context(certificate, key, client_ca), report))
    except OSError as error:
        raise StartError(f"PLINTH_FACTS_TLS_CERT_FILE: {certificate}: {error}") from None


def read_tokens(path: str) -> Tokens:
    """The tokens of a file; StartError says which line is none."""
    try:
        with open(path, encoding="utf-8") as file:
            tokens = Tokens.parse(file.read())
    except UnicodeDecodeError:
        raise StartError("it is no UTF-8") from None
    if not len(tokens):
        raise StartError("there is no token in it")
    return tokens


def server_context(certificate: str, key: str, client_ca: str | None) -> ssl.SSLContext:
    """TLS 1.2 or newer; with `client_ca` only clients whose certificate it has signed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=client_ca)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def reloading(context: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """A context that hands each new connection to the newest one."""
    first = context()

    def newest(connection: Any, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = context()

    first.sni_callback = newest
    return first


def _identity(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
