"""The order of the guard: policy by name, tokens, one lookup, policy by address, and only then a socket."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import PolicyRefused, ProbeFailed, ToolError
from app.net.dialer import Dialer
from app.net.network import Address
from app.net.phases import Phases
from app.net.scripted import ScriptedNetwork
from app.net.sockets import SocketNetwork
from app.net.stream import Stream, Trace
from app.net.trust import TrustStore
from app.net.visit import Visit
from policy import Budget, Policy, Rate, parse_url

CLOCK = SystemClock()


class Attempt:
    """One `open`, with everything that can be looked at afterwards."""

    def __init__(
        self,
        network: Any,
        policy: Policy,
        budget: Budget | None = None,
        own_listeners: frozenset[tuple[Address, int]] = frozenset(),
        trust_store: TrustStore | None = None,
    ) -> None:
        self.trace = Trace()
        self.phases = Phases(CLOCK)
        self.dialer = Dialer(
            policy, network, CLOCK,
            budget=budget, max_in_flight=1, own_listeners=own_listeners, trust_store=trust_store,
        )  # fmt: skip

    def open(self, url: str, **options: Any) -> Stream:
        """Open a stream and close it again, as the caller would."""
        self.trace, self.phases = Trace(), Phases(CLOCK)

        async def run() -> Stream:
            stream = await self.dialer.open(parse_url(url), self.trace, self.phases, **options)
            stream.close()
            return stream

        return asyncio.run(run())

    def refusal(self, url: str, **options: Any) -> dict[str, Any]:
        with pytest.raises(PolicyRefused) as caught:
            self.open(url, **options)
        assert caught.value.details is not None
        return dict(caught.value.details)

    def failure(self, url: str, **options: Any) -> ProbeFailed:
        with pytest.raises(ProbeFailed) as caught:
            self.open(url, **options)
        return caught.value


def scripted(names: Any = None, peers: Any = None, **more: Any) -> ScriptedNetwork:
    return ScriptedNetwork(names, peers, clock=CLOCK, **more)


def no_packet(network: ScriptedNetwork) -> bool:
    return network.asked == [] and network.dialled == []


PRIVATE = Policy.parse("private")
LOOPBACK = Policy.parse("loopback")


def test_a_literal_is_dialled_and_described() -> None:
    network = scripted(peers={("127.0.0.1", 80): ["eof"]})
    attempt = Attempt(network, LOOPBACK)

    attempt.open("http://127.0.0.1/")

    trace = attempt.trace
    connect_ms = trace.attempts[0].pop("connect_ms")
    assert connect_ms >= 0
    assert trace.attempts == [{"ip": "127.0.0.1", "port": 80, "error": None, "used": True}]
    assert trace.resolution == {
        "how": "literal",
        "resolver": None,
        "ms": None,
        "cname": [],
        "addresses": [{"ip": "127.0.0.1", "family": "ipv4", "class": "loopback", "ttl_s": None}],
    }
    assert trace.peer == {"address": "127.0.0.1", "port": 80, "family": "ipv4"}
    assert trace.local == {"address": "127.0.0.1", "port": 49152}
    assert trace.rule == "profile_loopback"
    assert trace.checks == [
        {"address": "127.0.0.1", "class": "loopback", "rule": "profile_loopback", "allowed": True}
    ]


def test_the_phases_of_a_literal_have_no_lookup() -> None:
    attempt = Attempt(scripted(peers={("127.0.0.1", 80): ["eof"]}), LOOPBACK)
    attempt.open("http://127.0.0.1/")
    timings = attempt.phases.timings()

    assert (timings["resolve_ms"], timings["tls_ms"], attempt.phases.current) == (None, None, None)
    assert timings["connect_ms"] is not None


def test_a_name_is_looked_up_once_and_its_address_is_dialled() -> None:
    network = scripted({"svc.test": [["10.1.2.3"], ["10.6.6.6"]]}, {("10.1.2.3", 80): ["eof"]})
    attempt = Attempt(network, PRIVATE)

    attempt.open("http://svc.test/")

    assert (network.asked, network.dialled) == (["svc.test"], [("10.1.2.3", 80)])
    resolution = attempt.trace.resolution
    assert resolution is not None
    assert resolution.pop("ms") >= 0
    assert resolution == {
        "how": "dns",
        "resolver": "scripted",
        "cname": [],
        "addresses": [{"ip": "10.1.2.3", "family": "ipv4", "class": "private", "ttl_s": 60}],
    }
    assert attempt.phases.timings()["resolve_ms"] is not None


def test_a_mapped_literal_is_dialled_as_the_ipv4_that_it_holds() -> None:
    network = scripted(peers={("127.0.0.1", 80): ["eof"]})
    attempt = Attempt(network, LOOPBACK)

    attempt.open("http://[::ffff:127.0.0.1]/")

    assert network.dialled == [("127.0.0.1", 80)]
    assert attempt.trace.resolution is not None
    assert attempt.trace.resolution["addresses"] == [
        {"ip": "::ffff:7f00:1", "family": "ipv4", "class": "loopback", "ttl_s": None}
    ]


def test_a_denied_literal_is_never_dialled() -> None:
    network = scripted()
    attempt = Attempt(network, LOOPBACK)

    details = attempt.refusal("http://10.0.0.1/", hop=2)

    assert no_packet(network)
    assert (details["hop"], details["host"], details["port"]) == (2, "10.0.0.1", 80)
    assert (details["class"], details["rule"]) == ("private", "outside_profile")
    assert details["configure"] == "PLINTH_FACTS_NET_PROFILE=private"
    assert attempt.trace.checks == [
        {"address": "10.0.0.1", "class": "private", "rule": "outside_profile", "allowed": False}
    ]


@pytest.mark.parametrize("profile", ["loopback", "deny-all"])
def test_a_name_that_is_not_known_here_is_not_looked_up(profile: str) -> None:
    network = scripted({"svc.test": [["127.0.0.1"]]})

    details = Attempt(network, Policy.parse(profile)).refusal("http://svc.test/")

    assert no_packet(network)
    assert details["rule"] == "no_lookup"


def test_a_name_of_the_hosts_file_is_reached_under_loopback() -> None:
    network = scripted(hosts={"svc.test": [["127.0.0.1"]]}, peers={("127.0.0.1", 80): ["eof"]})
    attempt = Attempt(network, LOOPBACK)

    attempt.open("http://svc.test/")

    assert (network.asked, network.dialled) == ([], [("127.0.0.1", 80)])
    assert attempt.trace.resolution is not None
    assert attempt.trace.resolution["how"] == "hosts"


@pytest.mark.parametrize(
    ("profile", "url", "rule"),
    [
        pytest.param(("allowlist", "other.test:80"), "http://svc.test/", "not_listed", id="another name"),
        pytest.param(("allowlist", "svc.test:80"), "http://svc.test:81/", "not_listed", id="another port"),
        pytest.param(
            ("private", ""), "http://metadata.google.internal/", "metadata_name", id="a metadata name"
        ),
    ],
)
def test_a_name_that_is_refused_as_a_name_is_not_looked_up(
    profile: tuple[str, str], url: str, rule: str
) -> None:
    network = scripted({"svc.test": [["93.184.216.34"]], "metadata.google.internal": [["10.0.0.1"]]})

    details = Attempt(network, Policy.parse(*profile)).refusal(url)

    assert no_packet(network)
    assert details["rule"] == rule


def test_one_forbidden_address_refuses_the_whole_answer() -> None:
    network = scripted({"svc.test": [["10.0.0.1", "169.254.169.254"]]})

    details = Attempt(network, PRIVATE).refusal("http://svc.test/")

    assert network.dialled == []
    assert (details["address"], details["class"], details["rule"]) == ("169.254.169.254", "metadata", "never")
    assert details["addresses"] == [
        {"ip": "10.0.0.1", "class": "private", "allowed": True},
        {"ip": "169.254.169.254", "class": "metadata", "allowed": False},
    ]


@pytest.mark.parametrize(("text", "name"), [("fe80::1%eth0", "zone-id"), ("garbage", "unclassifiable")])
def test_an_answer_that_cannot_be_read_is_refused_and_not_dropped(text: str, name: str) -> None:
    network = scripted({"svc.test": [["10.0.0.1", text]]})
    attempt = Attempt(network, PRIVATE)

    details = attempt.refusal("http://svc.test/")

    assert (network.dialled, details["class"]) == ([], name)
    assert attempt.trace.resolution is not None
    assert [one["family"] for one in attempt.trace.resolution["addresses"]] == ["ipv4", None]


def test_a_failed_lookup_keeps_how_long_it_took() -> None:
    attempt = Attempt(scripted({"svc.test": ["resolver_failed"]}), PRIVATE)

    error = attempt.failure("http://svc.test/")

    assert (error.phase, error.code, attempt.phases.current) == ("resolve", "resolver_failed", "resolve")
    assert attempt.trace.resolution is not None
    assert attempt.trace.resolution.pop("ms") >= 0
    assert attempt.trace.resolution == {"how": "dns", "resolver": None, "cname": [], "addresses": []}


def test_addresses_are_tried_in_order_until_one_connects_and_all_attempts_are_listed() -> None:
    network = scripted(
        {"svc.test": [["127.0.0.1", "10.0.0.2", "10.0.0.1", "::1"]]},
        {("10.0.0.2", 80): ["timeout"], ("127.0.0.1", 80): ["unreachable"], ("10.0.0.1", 80): ["eof"]},
    )
    attempt = Attempt(network, PRIVATE)

    attempt.open("http://svc.test/")

    assert [
        (one["ip"], one["error"] and one["error"]["code"], one["used"]) for one in attempt.trace.attempts
    ] == [
        ("::1", "refused", False),
        ("127.0.0.1", "unreachable", False),
        ("10.0.0.2", "timeout", False),
        ("10.0.0.1", None, True),
    ]


def test_the_last_failure_speaks_when_no_address_connects() -> None:
    network = scripted({"svc.test": [["10.0.0.1", "10.0.0.2"]]}, {("10.0.0.2", 80): ["unreachable"]})
    attempt = Attempt(network, PRIVATE)

    error = attempt.failure("http://svc.test/")

    assert (error.phase, error.code, attempt.phases.current) == ("connect", "unreachable", "connect")
    assert [one["used"] for one in attempt.trace.attempts] == [False, False]


def test_an_attempt_keeps_the_errno_of_the_kernel() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    attempt = Attempt(SocketNetwork(CLOCK), LOOPBACK)

    attempt.failure(f"http://127.0.0.1:{port}/")

    assert attempt.trace.attempts[0]["error"] == {
        "code": "refused",
        "message": "ECONNREFUSED: Connection refused",
        "errno": 111,
    }


class Stuck(ScriptedNetwork):
    """A network whose connections never come about."""

    async def connect(self, *_: Any) -> Any:
        await asyncio.Event().wait()


def test_the_connect_timeout_bounds_each_attempt() -> None:
    attempt = Attempt(Stuck({"svc.test": [["10.0.0.1", "10.0.0.2"]]}, clock=CLOCK), PRIVATE)

    error = attempt.failure("http://svc.test/", visit=Visit(connect_timeout_s=0.01))

    assert (error.phase, error.code, error.message) == ("connect", "timeout", "not connected within 0.01 s")
    assert [one["error"]["code"] for one in attempt.trace.attempts] == ["timeout", "timeout"]


def test_a_generous_connect_timeout_changes_nothing() -> None:
    network = scripted(peers={("127.0.0.1", 80): ["eof"]})

    Attempt(network, LOOPBACK).open("http://127.0.0.1/", visit=Visit(connect_timeout_s=5))

    assert network.dialled == [("127.0.0.1", 80)]


def test_a_deadline_during_an_attempt_leaves_it_listed_and_the_phase_running() -> None:
    attempt = Attempt(Stuck(clock=CLOCK), LOOPBACK)

    async def run() -> None:
        async with asyncio.timeout(0.01):
            await attempt.dialer.open(parse_url("http://127.0.0.1/"), attempt.trace, attempt.phases)

    with pytest.raises(TimeoutError):
        asyncio.run(run())

    assert (attempt.trace.attempts[0]["error"]["code"], attempt.phases.current) == ("cancelled", "connect")
    assert attempt.trace.attempts[0]["connect_ms"] > 0


def budget(burst: int) -> Budget:
    return Budget(Rate(60, burst), None)


def test_a_literal_takes_one_token_and_the_next_call_is_refused_before_any_packet() -> None:
    network = scripted(peers={("127.0.0.1", 80): ["eof"]})
    attempt = Attempt(network, LOOPBACK, budget(1))
    attempt.open("http://127.0.0.1/")

    with pytest.raises(ToolError) as caught:
        attempt.open("http://127.0.0.1/")

    assert caught.value.code == "rate_limited"
    assert caught.value.retry_after_seconds == pytest.approx(1, abs=0.9)
    assert network.dialled == [("127.0.0.1", 80)]


def test_a_refused_target_takes_no_token() -> None:
    attempt = Attempt(scripted(peers={("127.0.0.1", 80): ["eof"]}), LOOPBACK, budget(1))
    attempt.refusal("http://10.0.0.1/")

    attempt.open("http://127.0.0.1/")


def test_a_lookup_and_its_connection_are_reserved_as_a_whole() -> None:
    network = scripted({"svc.test": [["10.0.0.1"]]}, {("10.0.0.1", 80): ["eof"]})
    attempt = Attempt(network, PRIVATE, budget(5))
    attempt.open("http://svc.test/")

    with pytest.raises(ToolError):
        attempt.open("http://svc.test/")

    assert (network.asked, network.dialled) == (["svc.test"], [("10.0.0.1", 80)])


def test_a_further_attempt_without_a_token_ends_the_measurement() -> None:
    network = scripted({"svc.test": [["10.0.0.1", "10.0.0.2"]]}, {("10.0.0.2", 80): ["eof"]})
    attempt = Attempt(network, PRIVATE, budget(3))

    error = attempt.failure("http://svc.test/")

    assert (error.phase, error.code) == ("limit", "rate_limited")
    assert (network.dialled, len(attempt.trace.attempts)) == ([("10.0.0.1", 80)], 1)


def test_a_later_hop_without_a_token_is_an_observation() -> None:
    attempt = Attempt(scripted(peers={("127.0.0.1", 80): ["eof"]}), LOOPBACK, budget(1))
    attempt.open("http://127.0.0.1/")

    error = attempt.failure("http://127.0.0.1/", hop=1)

    assert (error.phase, error.code) == ("limit", "rate_limited")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8765/", "http://localhost:8765/", "http://[::1]:8765/"])
def test_our_own_listener_is_never_measured(url: str) -> None:
    network = scripted()
    listeners = frozenset({(ip_address("0.0.0.0"), 8765), (ip_address("::"), 8765)})

    details = Attempt(network, PRIVATE, own_listeners=listeners).refusal(url)

    assert (network.dialled, details["rule"]) == ([], "own_listener")


class Moving(ScriptedNetwork):
    """A machine that gets the address 10.1.2.3 after its first answer."""

    asked_for = 0

    def is_own_address(self, address: Address) -> bool:
        self.asked_for += 1
        return str(address) == "10.1.2.3" and self.asked_for > 2


def test_an_address_that_became_ours_is_judged_anew_for_our_listeners() -> None:
    network = Moving(peers={("10.1.2.3", 8765): ["eof"]}, clock=CLOCK)
    attempt = Attempt(network, PRIVATE, own_listeners=frozenset({(ip_address("0.0.0.0"), 8765)}))
    attempt.open("http://10.1.2.3:8765/")
    network.asked_for = 2

    details = attempt.refusal("http://10.1.2.3:8765/")

    assert (len(network.dialled), details["rule"]) == (1, "own_listener")


def test_an_address_of_our_own_is_not_reached_by_an_unmarked_name() -> None:
    network = scripted({"svc.test": [["93.184.216.34"]]}, own={"93.184.216.34"})

    details = Attempt(network, Policy.parse("allowlist", "svc.test:80")).refusal("http://svc.test/")

    assert (network.dialled, details["rule"]) == ([], "own_address")


def test_an_address_of_our_own_is_marked_as_such() -> None:
    network = scripted(peers={("10.1.2.3", 80): ["eof"]}, own={"10.1.2.3"})
    attempt = Attempt(network, PRIVATE)

    attempt.open("http://10.1.2.3/")

    assert attempt.trace.resolution is not None
    assert attempt.trace.resolution["addresses"] == [
        {"ip": "10.1.2.3", "family": "ipv4", "class": "private", "ttl_s": None, "self": True}
    ]


def test_the_same_literal_gets_the_same_verdict_again_and_no_other_port_does() -> None:
    network = scripted(peers={("127.0.0.1", 80): ["eof"]})
    attempt = Attempt(network, Policy.parse("allowlist", "127.0.0.1:80"))
    for _ in range(2):
        attempt.open("http://127.0.0.1/")

    details = [attempt.refusal("http://127.0.0.1:81/") for _ in range(2)]

    assert [one["rule"] for one in details] == ["not_listed", "not_listed"]
    assert len(network.dialled) == 2


def test_remembered_verdicts_are_bounded() -> None:
    attempt = Attempt(scripted(), LOOPBACK)

    for number in range(1100):
        attempt.dialer.check(parse_url(f"http://127.0.{number // 256}.{number % 256}/"))

    assert len(attempt.dialer._literals) <= 1024


def test_room_is_limited_to_the_setting() -> None:
    attempt = Attempt(scripted(), LOOPBACK)

    async def run() -> None:
        async with (
            attempt.dialer.slot(CLOCK.monotonic_ns() + 10**10),
            attempt.dialer.slot(CLOCK.monotonic_ns()),
        ):
            raise AssertionError("there is no room for a second one")

    with pytest.raises(ToolError) as caught:
        asyncio.run(run())

    assert caught.value.code == "busy"


class TlsNetwork(ScriptedNetwork):
    """A scripted network whose connections end at a TLS server in memory."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        super().__init__(clock=CLOCK)
        self._make = connect

    async def connect(self, *_: Any) -> Any:
        return self._make()


def test_https_shakes_hands_after_connecting(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context)
    attempt = Attempt(TlsNetwork(lambda: peer), LOOPBACK, trust_store=TrustStore(ca_file))

    attempt.open("https://127.0.0.1/")

    timings = attempt.phases.timings()
    assert attempt.trace.tls is not None
    assert attempt.trace.tls["version"] == "TLSv1.3"
    assert (timings["tls_ms"] is not None, timings["connect_ms"] is not None) == (True, True)
    assert (peer.closed, attempt.phases.current) == (True, None)


def test_a_failed_handshake_leaves_the_phase_running_and_the_channel_closed(
    tls_peer: Any, server_context: ssl.SSLContext
) -> None:
    peer = tls_peer(server_context)
    attempt = Attempt(TlsNetwork(lambda: peer), LOOPBACK)

    error = attempt.failure("https://127.0.0.1/")

    assert (error.phase, error.code) == ("tls", "certificate_unknown_issuer")
    assert (peer.closed, attempt.phases.current) == (True, "tls")


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://metadata.google.internal/"])
def test_what_needs_no_lookup_is_refused_by_a_check_that_waits_for_nothing(url: str) -> None:
    network = scripted()
    attempt = Attempt(network, LOOPBACK)

    with pytest.raises(PolicyRefused):
        attempt.dialer.check(parse_url(url))

    assert no_packet(network)


def test_a_check_lets_pass_what_only_a_lookup_can_judge() -> None:
    Attempt(scripted(), LOOPBACK).dialer.check(parse_url("http://nobody.invalid/"))
    Attempt(scripted(), LOOPBACK).dialer.check(parse_url("http://127.0.0.1/"))
