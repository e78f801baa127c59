"""DNS queries over our own sockets: A and AAAA at once over UDP, TCP where an answer was cut.

The rules of this file:
- A reply counts when it comes from the server that was asked (the socket is connected to it), with the random id and
  the question of the query; anything else is passed over until the time of the try is up.
- One try sends each open question to one server; a server that fails, refuses or keeps silent hands on to the next.
- No EDNS: an answer of addresses that does not fit 512 bytes comes over TCP.
- This module imports dnspython and is imported only when a query is to be sent.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from app.errors import ProbeFailed
from app.net.channel import open_socket
from app.net.nameservers import Nameserver, Nameservers
from app.net.network import Answer, Spend

_LARGEST = 65535
_FINAL = (dns.rcode.NOERROR, dns.rcode.NXDOMAIN)


class _Question:
    """One question and what came of it: the final reply with its server, or why there is none yet."""

    def __init__(self, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> None:
        self._name = name
        self._kind = kind
        self.query = dns.message.make_query(name, kind)
        self.reply: dns.message.QueryMessage | None = None
        self.server: Nameserver | None = None
        self.failure = "timeout"
        self.settled = False

    def again(self) -> bytes:
        """A query with a new id, for a new try."""
        self.query = dns.message.make_query(self._name, self._kind)
        self.settled = False
        return self.query.to_wire()

    def settle(self, server: Nameserver, reply: dns.message.QueryMessage) -> None:
        """Keep a reply that matched; any rcode but the final ones leaves the question to the next server."""
        self.settled = True
        if reply.rcode() in _FINAL:
            self.reply, self.server = reply, server
        else:
            self.failure = dns.rcode.to_text(reply.rcode())

    def fail(self, failure: str) -> None:
        """Note why this try brought nothing."""
        self.settled = True
        self.failure = failure


async def ask(name: str, nameservers: Nameservers, spend: Spend) -> Answer:
    """The addresses of a name from the first servers that answer; see `Network.lookup` for the failures."""
    absolute = dns.name.from_text(name)
    questions = [_Question(absolute, dns.rdatatype.A), _Question(absolute, dns.rdatatype.AAAA)]
    for server in nameservers.servers * nameservers.attempts:
        left = [question for question in questions if question.reply is None]
        if not left:
            break
        await _try(server, left, nameservers.try_seconds, spend)
    return _answer(questions)


async def _try(server: Nameserver, questions: Sequence[_Question], seconds: float, spend: Spend) -> None:
    """Send the questions to one server and take its replies, for so many seconds."""
    wires = [question.again() for question in questions]
    for _ in wires:
        spend()
    cut: list[_Question] = []
    try:
        with open_socket(server.address, socket.SOCK_DGRAM) as udp:
            udp.connect(server.sockaddr)
            for wire in wires:
                udp.send(wire)
            async with asyncio.timeout(seconds):
                await _take_replies(udp, server, questions, cut)
    except (TimeoutError, OSError, ProbeFailed) as error:
        _fail(questions, error)
    for question in cut:
        spend()
        await _ask_by_stream(server, question, seconds)


async def _take_replies(
    udp: socket.socket, server: Nameserver, questions: Sequence[_Question], cut: list[_Question]
) -> None:
    """Read datagrams until every question is settled; those whose reply was cut go to `cut`."""
    loop = asyncio.get_running_loop()
    while not all(question.settled for question in questions):
        reply = _parsed(await loop.sock_recv(udp, _LARGEST))
        for question in questions:
            if reply is None or question.settled or not question.query.is_response(reply):
                continue
            if reply.flags & dns.flags.TC:
                question.fail("truncated")
                cut.append(question)
            else:
                question.settle(server, reply)


async def _ask_by_stream(server: Nameserver, question: _Question, seconds: float) -> None:
    """The same query over TCP (RFC 7766), to the same server."""
    wire = question.query.to_wire()
    loop = asyncio.get_running_loop()
    try:
        with open_socket(server.address, socket.SOCK_STREAM) as tcp:
            async with asyncio.timeout(seconds):
                await loop.sock_connect(tcp, server.sockaddr)
                await loop.sock_sendall(tcp, len(wire).to_bytes(2, "big") + wire)
                size = int.from_bytes(await _exactly(tcp, 2), "big")
                reply = _parsed(await _exactly(tcp, size))
    except (TimeoutError, OSError, ProbeFailed) as error:
        question.settled = False
        _fail([question], error)
        return
    if reply is None or not question.query.is_response(reply):
        question.fail("an answer that does not match the question")
    else:
        question.settle(server, reply)


async def _exactly(tcp: socket.socket, size: int) -> bytes:
    loop = asyncio.get_running_loop()
    received = bytearray()
    while len(received) < size:
        piece = await loop.sock_recv(tcp, size - len(received))
        if not piece:
            raise ConnectionResetError("the server closed the connection in the middle of its answer")
        received += piece
    return bytes(received)


def _fail(questions: Sequence[_Question], error: Exception) -> None:
    failure = "timeout" if isinstance(error, TimeoutError) else str(error)
    for question in questions:
        if not question.settled:
            question.fail(failure)


def _parsed(wire: bytes) -> dns.message.QueryMessage | None:
    """The message of a datagram, or None: the one place where errors of dnspython are met while parsing."""
    try:
        message = dns.message.from_wire(wire, ignore_trailing=True)
    except (dns.exception.DNSException, ValueError):
        return None  # whoever sent it, it is no reply; the true one may still come
    return message if isinstance(message, dns.message.QueryMessage) else None


def _answer(questions: Sequence[_Question]) -> Answer:
    cname: tuple[str, ...] = ()
    addresses: list[tuple[str, int | None]] = []
    resolver: str | None = None
    for question in questions:
        found = _addresses(question)
        if found:
            resolver = resolver or str(question.server)
            cname = cname or _aliases(question)
            addresses += [one for one in found if one not in addresses]
    if not addresses:
        raise _nothing(questions)
    return Answer("dns", resolver, cname, tuple(addresses))


def _chain(question: _Question) -> dns.message.ChainingResult | None:
    """The answer behind the CNAMEs; a chain that loops, or is no answer to a question, is a failed resolver."""
    if question.reply is None or question.reply.rcode() != dns.rcode.NOERROR:
        return None
    try:
        return question.reply.resolve_chaining()
    except dns.exception.DNSException as error:
        raise ProbeFailed("resolve", "resolver_failed", f"the answer cannot be followed: {error}") from error


def _addresses(question: _Question) -> list[tuple[str, int | None]]:
    chain = _chain(question)
    if chain is None or chain.answer is None:
        return []
    return [(record.to_text(), chain.answer.ttl) for record in chain.answer]


def _aliases(question: _Question) -> tuple[str, ...]:
    chain = _chain(question)
    names = [] if chain is None else [cname[0].target for cname in chain.cnames]
    return tuple(name.to_text(omit_final_dot=True).lower() for name in names)


def _nothing(questions: Sequence[_Question]) -> ProbeFailed:
    """Why there is no address: the name does not exist, has none, or nobody could say."""
    replies = [question.reply for question in questions if question.reply is not None]
    if any(reply.rcode() == dns.rcode.NXDOMAIN for reply in replies):
        return ProbeFailed("resolve", "name_not_found", "NXDOMAIN: the name does not exist")
    if len(replies) == len(questions):
        return ProbeFailed("resolve", "name_not_found", "the name exists, but has no address")
    failures = sorted({question.failure for question in questions if question.reply is None})
    if failures == ["timeout"]:
        return ProbeFailed("resolve", "timeout", "no nameserver answered in time")
    return ProbeFailed("resolve", "resolver_failed", f"no nameserver gave an answer: {', '.join(failures)}")
