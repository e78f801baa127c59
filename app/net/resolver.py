"""Name to addresses by ourselves: localhost, then the hosts file, then the nameservers; never `getaddrinfo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from app.errors import ProbeFailed
from app.net.hosts import LOCALHOST, HostsFile, is_localhost
from app.net.nameservers import Nameserver, configured
from app.net.network import Answer, Spend


class Resolver:
    """Reads its files when a name is asked for, so that a change counts from the next measurement on."""

    def __init__(
        self,
        resolvers: Sequence[str | Nameserver] = (),
        *,
        hosts_path: str = "/etc/hosts",
        resolv_conf_path: str = "/etc/resolv.conf",
    ) -> None:
        self._resolvers = tuple(resolvers)
        self._hosts = HostsFile(hosts_path)
        self._resolv_conf_path = resolv_conf_path

    def prepare(self) -> None:
        """Import the DNS library, a quarter of a second that belongs neither to the start nor to a measurement."""
        import app.net.queries  # noqa: F401  (imported for its effect, see above)

    async def lookup(self, name: str, how: Literal["local", "dns"], spend: Spend) -> Answer:
        """See `Network.lookup`."""
        return local_answer(name, self._hosts) if how == "local" else await self._ask(name, spend)

    async def _ask(self, name: str, spend: Spend) -> Answer:
        from app.net.queries import ask  # heavy, see `prepare`

        try:
            nameservers = configured(self._resolvers, self._resolv_conf_path)
        except OSError as error:
            message = f"resolv.conf cannot be read: {error.strerror}"
            raise ProbeFailed("resolve", "resolver_failed", message, errno=error.errno) from error
        if not nameservers.servers:
            raise ProbeFailed("resolve", "resolver_failed", "no nameserver is configured")
        return await ask(name, nameservers, spend)


def local_answer(name: str, hosts: HostsFile) -> Answer:
    """What this machine knows of a name by itself, or `name_not_found`."""
    addresses = LOCALHOST if is_localhost(name) else hosts.addresses(name)
    if not addresses:
        raise ProbeFailed("resolve", "name_not_found", "neither localhost nor a name of the hosts file")
    return Answer("hosts", None, (), tuple((address, None) for address in addresses))
