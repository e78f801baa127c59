"""Puts the parts together; the only module that knows them all."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app import VERSION
from app.clock import SystemClock, utc_text
from app.dispatch import Dispatcher
from app.errors import ProbeFailed, StartError, StoreError, ToolError
from app.mcp.catalog import Catalog, Identity, ToolFace
from app.mcp.events import Send
from app.mcp.peer import Peer
from app.mcp.revisions import load
from app.measure import kinds
from app.measure.kind import Limits
from app.recall.age import Witness
from app.redact import Redactor
from app.settings import Settings
from app.telemetry import Journal
from app.tools.measure import Laboratory, measuring_tools
from app.tools.observation import error_content
from app.tools.recall import Archive, recall_tools
from app.tools.tool import Context, Tool, validate, wire_name
from app.transport.stdio import Wire, serve, signalled
from policy import Policy, PolicyError
from policy.budget import Budget, Rate

if TYPE_CHECKING:
    from app.net.dialer import Dialer
    from app.net.sockets import SocketNetwork
    from app.proofs.note import SigningKey
    from app.store.file import FileLog
    from app.store.log import Damage
    from app.store.registry import Registry
    from app.store.signer import Signer
    from app.transport.access import Caller
    from app.transport.connections import Limits as HttpLimits
    from app.transport.exchange import Converse
    from app.transport.http import Server

CLOSE_SECONDS = 1.0
INSTRUCTIONS = {
    "measure": (
        "Measures network services and stores each observation with its time, failures included. It reports what was "
        "seen and never judges it: ok says only that the observation could be taken. {policy} What lies outside is "
        "refused with policy_denied before any packet; only the operator can change that."
    ),
    "recall": (
        "Recall keeps what you conclude, with its evidence, for good. It answers from memory, each claim with its age: "
        "what may have changed since, measure again as remeasure_with says."
    ),
}
"""What a client is told at first, of each group of tools that is served."""


class Application:
    """One process: settings and policy are judged at once, everything heavy is built at the first call."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = SystemClock()
        self.journal = Journal(self._now, self._without_secrets, settings.log_level, settings.log_format)
        self.policy = _policy(settings)
        self.policy_sentence = self.policy.summary
        tools = self._toolbox()
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.names = {tool.name: wire_name(tool.name, settings.tool_names) for tool in tools}

    def serve(self, wire: Wire) -> int:
        """Serve MCP over stdio until the end of input or a signal; the exit status."""
        settings = self.settings
        self.journal.adopt_logging()
        self.journal.note(
            "info", "start", version=VERSION, data=settings.data_dir, policy=self.policy_sentence
        )
        for warning in self.policy.warnings:
            self.journal.note("warning", "warning", policy=warning)
        gc.freeze()
        gc.enable()
        try:
            if settings.transport == "http":
                wire.close()
                return asyncio.run(self._serve_http())
            peer = Peer(self._identity(), self._faces(self.tools))
            return asyncio.run(serve(lambda send: self._dispatcher(peer, lambda said: send(said.line)), wire))
        finally:
            self.close()
            self.journal.drain()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One call of a tool, as a client would make it; raises `ToolError`."""
        tool = self.tools.get(name)
        if tool is None:
            raise StartError(f"PLINTH_FACTS_TOOLSETS leaves out {name}")
        return await tool.run(validate(tool.params, arguments), arguments, Context(lambda _message: None))

    def error_content(self, error: ToolError, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The content of an error without the secrets of the arguments."""
        return error_content(self.redactor, error, arguments)

    async def explain(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """The decision on each URL, after resolving names as a measurement would."""
        from policy.explain import explain

        return [explain(self.policy, text, await self._addresses(text)) for text in texts]

    def close(self) -> None:
        """Make durable what waits and let go of the files; a lock that is held or a stalled disk ends that."""
        if "log" in self.__dict__:
            self.log.close(CLOSE_SECONDS)
        if "registry" in self.__dict__:
            self.registry.close()

    @cached_property
    def laboratory(self) -> Laboratory:
        """What measurements are taken and kept with."""
        limits = Limits(self.settings.max_redirects, self.settings.http_methods)
        return Laboratory(self.dialer, self.clock, self.redactor, self.log, limits, self.witness)

    @cached_property
    def archive(self) -> Archive:
        """What claims are kept with and found again."""
        settings = self.settings
        return Archive(
            self.registry,
            self.clock,
            self.redactor,
            self.witness,
            settings.default_stale_seconds,
            settings.text_index,
            self._advertised,
        )

    @cached_property
    def registry(self) -> Registry:
        """The logs with the indexes of their claims."""
        from app.recall.projection import VERSION as PROJECTION
        from app.recall.projection import row
        from app.store.directory import DataDirectory
        from app.store.files import Files
        from app.store.index import Recipe
        from app.store.registry import Registry

        settings, files = self.settings, Files()
        root = DataDirectory(settings.data_dir, files, settings.data_mount)
        recipe = Recipe(settings.text_index, PROJECTION, row)
        return Registry(self.log, root, files, recipe, self._report, self._progress)

    @cached_property
    def witness(self) -> Witness:
        """What this process saw itself, and when."""
        return Witness()

    @cached_property
    def dialer(self) -> Dialer:
        """The only way to a socket."""
        from app.net.dialer import Dialer
        from app.net.trust import TrustStore

        settings = self.settings
        budget = Budget(_rate(settings.rate_target), _rate(settings.rate_total))
        return Dialer(
            self.policy,
            self.network,
            self.clock,
            budget=budget,
            max_in_flight=settings.max_in_flight,
            trust_store=TrustStore(settings.ca_file),
        )

    @cached_property
    def network(self) -> SocketNetwork:
        """The sockets of this machine and its resolvers."""
        from app.net.sockets import SocketNetwork

        return SocketNetwork(self.clock, resolvers=self.settings.resolvers)

    @cached_property
    def redactor(self) -> Redactor:
        """Masks with the key of the data directory, or with one of this process where that cannot be had."""
        from app.store.keys import load_or_create_key

        try:
            return Redactor(load_or_create_key(self.settings.data_dir, mount=self.settings.data_mount))
        except StoreError as error:
            from secrets import token_bytes

            # Free text would need the very redactor that is being made.
            self.journal.note("warning", "masks_not_kept", data=self.settings.data_dir, reason=error.reason)
            return Redactor(token_bytes(32))

    @cached_property
    def log(self) -> FileLog:
        """The logs of the data directory."""
        from app.store.file import FileLog

        settings = self.settings
        return FileLog(
            settings.data_dir,
            self.clock,
            mount=settings.data_mount,
            report=self._report,
            key=self.signing_key,
            rotate_bytes=settings.rotate_bytes,
        )

    def signing_key(self) -> SigningKey:
        """The key of checkpoints: the operator's, or the one of the data directory, made with the first checkpoint."""
        from app.proofs.note import SigningKey
        from app.store.keys import load_or_create_key, read_seed

        settings = self.settings
        if settings.signing_key_file is not None:
            return SigningKey(read_seed(settings.signing_key_file))
        return SigningKey(load_or_create_key(settings.data_dir, name="signing", mount=settings.data_mount))

    def signer(self) -> Signer:
        """Signs checkpoints by hand."""
        from app.store.directory import DataDirectory
        from app.store.files import Files
        from app.store.signer import Signer

        root = DataDirectory(self.settings.data_dir, Files(), self.settings.data_mount)
        return Signer(root, Files(), self.clock, self.signing_key, self._report)

    def _report(self, damage: Damage) -> None:
        place = (
            f"{damage.file} at byte {damage.offset}, {damage.length} bytes" if damage.length else damage.file
        )
        ending = "; kept as it is, and served around" if damage.length else ""
        detail = f": {damage.detail}" if damage.detail else ""
        self.journal.note("warning", "damage", message=f"{place}: {damage.reason}{detail}{ending}")

    def _progress(self, project: str, position: int, of: int) -> None:
        self.journal.note("info", "index", project=project, position=position, of=of)

    def _advertised(self, name: str) -> str:
        return wire_name(name, self.settings.tool_names)

    def _toolbox(self) -> tuple[Tool, ...]:
        measuring, recall = (name in self.settings.toolsets for name in ("measure", "recall"))
        return (
            *(measuring_tools(kinds(), lambda: self.laboratory, self.policy_sentence) if measuring else ()),
            *(recall_tools(lambda: self.archive) if recall else ()),
        )

    def http_server(self, limits: HttpLimits | None = None) -> Server:
        """The endpoint over HTTP, listening nowhere yet; StartError where its settings do not fit."""
        from app.transport.access import Gate
        from app.transport.connections import LIMITS
        from app.transport.http import Server
        from app.transport.listen import parse_address, token_file

        settings = self.settings
        tokens = token_file(settings.token_file, self._changed)
        if tokens is None and not parse_address(settings.listen).is_private:
            raise StartError(
                f"PLINTH_FACTS_LISTEN: {settings.listen} is not loopback: set PLINTH_FACTS_TOKEN_FILE"
            )
        gate = Gate.of(settings.hosts, settings.origins)
        return Server(self._converse(), load(), gate, tokens or (lambda: None), limits or LIMITS)

    async def _serve_http(self) -> int:
        """Serve MCP over HTTP until a signal; the exit status."""
        from app.transport.listen import bind, parse_address, tls_context

        settings = self.settings
        address, server = parse_address(settings.listen), self.http_server()
        files = (settings.tls_cert_file, settings.tls_key_file, settings.tls_client_ca_file)
        context = tls_context(*files, self._changed)
        await server.listen([bind(address)], context)
        self.journal.note("info", "listening", address=settings.listen)
        await signalled()
        await server.close()
        if address.path is not None:
            os.unlink(address.path)
        return 0

    def _changed(self, text: str) -> None:
        self.journal.note("warning", "warning", message=text)

    def _identity(self) -> Identity:
        told = [INSTRUCTIONS[name] for name in self.settings.toolsets if name in INSTRUCTIONS]
        return Identity("facts-mcp", VERSION, " ".join(told).format(policy=self.policy_sentence))

    def _converse(self) -> Converse:
        """Conversations over HTTP: each caller is offered what its token admits."""
        revisions, identity = load(), self._identity()
        offers: dict[frozenset[str] | None, tuple[Catalog, Mapping[str, Tool]]] = {}
        pins = self.settings.observed_by == "caller"

        def converse(
            negotiated: str | None, caller: Caller | None, send: Callable[[Send], None]
        ) -> Dispatcher:
            scopes = caller.scopes if caller else None
            if scopes not in offers:
                admitted = {name: tool for name, tool in self.tools.items() if _admits(scopes, tool)}
                offers[scopes] = Catalog(identity, self._faces(admitted), revisions), admitted
            catalog, tools = offers[scopes]
            peer = Peer.offering(catalog, negotiated)
            return self._dispatcher(peer, send, tools, caller.name if caller and pins else None)

        return converse

    def _faces(self, tools: Mapping[str, Tool]) -> list[ToolFace]:
        return [
            ToolFace(
                name=tool.name,
                wire_name=self.names[tool.name],
                title=tool.title,
                description=tool.description,
                input_schema=tool.input_schema(),
                output_schema=tool.output_schema(),
                annotations=tool.annotations,
            )
            for tool in tools.values()
        ]

    def _now(self) -> str:
        return utc_text(self.clock.wall_ns())

    def _without_secrets(self, text: str) -> str:
        return self.redactor.text(text)

    def _dispatcher(
        self,
        peer: Peer,
        send: Callable[[Send], None],
        tools: Mapping[str, Tool] | None = None,
        caller: str | None = None,
    ) -> Dispatcher:
        served = self.tools if tools is None else tools
        return Dispatcher(peer, served, lambda: self.redactor, self.clock, self.journal, send, caller)

    async def _addresses(self, text: str) -> list[str] | None:
        """What a name resolves to, nothing included; None where the policy has nothing looked up."""
        from policy import TargetError, parse_url

        try:
            target = parse_url(text)
        except TargetError:
            return None
        if target.address is not None or not self.policy.decide_target(target).allowed:
            return None
        how = self.policy.lookup(target.host)
        if how == "none":
            return None
        try:
            answer = await self.network.lookup(target.host, how, lambda: None)
        except ProbeFailed:
            return []
        return [address for address, _ttl in answer.addresses]


def _admits(scopes: frozenset[str] | None, tool: Tool) -> bool:
    """Whether a token with these scopes may call a tool; without tokens everybody may."""
    group = tool.name.split(".")[1]
    return scopes is None or group in scopes or ("read" in scopes and tool.annotations["readOnlyHint"])


def _policy(settings: Settings) -> Policy:
    try:
        return Policy.parse(settings.net_profile, settings.allow_hosts, settings.nat64_prefixes)
    except PolicyError as error:
        raise StartError(*error.lines) from None


def _rate(rate: tuple[int, int] | None) -> Rate | None:
    return None if rate is None else Rate(*rate)
