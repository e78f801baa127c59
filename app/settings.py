"""Everything that can be set: read once at start, frozen, the only reader of the environment.

A value that does not parse, and a name that is not known, stop the start with one line each: a misspelt policy
must fail closed. Values never appear in those lines where they could be secret; here none can.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.errors import StartError
from policy import PROFILES, Policy, PolicyError

PREFIX = "PLINTH_FACTS_"
TOOLSETS = ("measure", "recall", "memory", "query")
LEAST_ROTATION = 1024 * 1024
METHOD = re.compile(r"[A-Z][A-Z0-9-]{0,31}")
NOT_YET = {
    "PLINTH_FACTS_ADMIN_LISTEN": "this version has no admin listener",
    "PLINTH_FACTS_DATABASE_URL": "this version keeps the registry in files only",
}


def _parts(value: Any) -> Any:
    return (
        tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value
    )


def _decimal(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"[0-9]{1,12}", value):
        raise ValueError("expected a plain decimal number")
    return value


def _toolsets(value: Any) -> Any:
    parts = TOOLSETS if value == "all" else _parts(value)
    unknown = [part for part in parts if part not in TOOLSETS]
    if unknown or not parts:
        raise ValueError(f"expected all, or some of {', '.join(TOOLSETS)}")
    return tuple(name for name in TOOLSETS if name in parts)


def _methods(value: Any) -> Any:
    parts = _parts(value)
    if not parts or not all(METHOD.fullmatch(part) for part in parts):
        raise ValueError("expected HTTP methods in capitals, such as GET,HEAD,OPTIONS")
    return frozenset(parts)


def _addresses(value: Any) -> Any:
    parts = _parts(value)
    for part in parts:
        try:
            ip_address(part)
        except ValueError:
            raise ValueError("expected IP addresses, separated by commas") from None
    return parts


def _rate(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    matched = re.fullmatch(r"([0-9]{1,9})/([1-9][0-9]{0,8})|0", value)
    if matched is None:
        raise ValueError("expected N/BURST, measurements a minute and at once, or 0 for no limit")
    return (int(matched[1]), int(matched[2])) if matched[1] and int(matched[1]) else None


def _data_dir(value: Any) -> Any:
    is_below_home = isinstance(value, str) and value.startswith("~")
    if is_below_home and not os.environ.get("HOME", "unset"):
        raise ValueError("HOME is empty; set an absolute path")
    path = os.path.expanduser(value) if isinstance(value, str) else value
    if not isinstance(path, str) or not os.path.isabs(path) or "\0" in path:
        raise ValueError("expected an absolute path (there may be no home directory to start from)")
    return os.path.normpath(path)


def _readable(value: Any) -> Any:
    if isinstance(value, str) and not (os.path.isabs(value) and os.access(value, os.R_OK)):
        raise ValueError("expected the absolute path of a file that can be read")
    return value


def _rotate(value: int) -> int:
    if 0 < value < LEAST_ROTATION:
        raise ValueError(f"expected 0, or at least {LEAST_ROTATION}")
    return value


def _signing_key(value: Any) -> Any:
    if isinstance(_readable(value), str):
        from app.store.keys import read_seed  # few set it

        try:
            read_seed(value)
        except OSError:
            raise ValueError("expected the absolute path of a file that can be read") from None
    return value


Rate = Annotated[tuple[int, int] | None, NoDecode, BeforeValidator(_rate)]


def _setting(name: str, default: Any, description: str, **bounds: Any) -> Any:
    return Field(
        default=default, validation_alias=name, description=description, validate_default=True, **bounds
    )


class Settings(BaseSettings):
    """The whole configuration of one process; each field is one environment variable."""

    model_config = SettingsConfigDict(frozen=True, case_sensitive=True, extra="ignore")

    data_dir: Annotated[str, BeforeValidator(_data_dir)] = _setting(
        "PLINTH_DATA_DIR", "~/.plinth", "The registry; several servers may share it. An absolute path."
    )
    net_profile: Literal["deny-all", "loopback", "private", "allowlist"] = _setting(
        PREFIX + "NET_PROFILE",
        "loopback",
        "What may be measured: `deny-all`, `loopback`, `private` or `allowlist`.",
    )
    allow_hosts: str = _setting(
        PREFIX + "ALLOW_HOSTS",
        "",
        "Exact `host:port` entries, separated by commas; required by `allowlist`, refused by the others.",
        max_length=65536,
    )
    nat64_prefixes: str = _setting(
        PREFIX + "NAT64_PREFIXES",
        "",
        "NAT64 prefixes, separated by commas, whose addresses pass when the IPv4 inside passes too.",
        max_length=4096,
    )
    max_redirects: Annotated[int, BeforeValidator(_decimal)] = _setting(
        PREFIX + "MAX_REDIRECTS",
        5,
        "Most redirects followed when a call asks to follow; 0 to 20.",
        ge=0,
        le=20,
    )
    http_methods: Annotated[frozenset[str], NoDecode, BeforeValidator(_methods)] = _setting(
        PREFIX + "HTTP_METHODS",
        "GET,HEAD,OPTIONS",
        "Methods that `facts.measure.http` may send; more than the default can change the target.",
    )
    resolvers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_addresses)] = _setting(
        PREFIX + "RESOLVERS", "", "DNS servers (addresses) to ask instead of those of resolv.conf."
    )
    ca_file: Annotated[str | None, BeforeValidator(_readable)] = _setting(
        PREFIX + "CA_FILE", None, "PEM file of trusted certificates instead of the store of the system."
    )
    max_in_flight: Annotated[int, BeforeValidator(_decimal)] = _setting(
        PREFIX + "MAX_IN_FLIGHT",
        8,
        "Measurements at once; a further one waits until its deadline. 0: no limit.",
        le=10_000,
    )
    rate_target: Rate = _setting(
        PREFIX + "RATE_TARGET",
        "60/20",
        "Connections to one `host:port` a minute, and at once, as `N/BURST`. 0: no limit.",
    )
    rate_total: Rate = _setting(
        PREFIX + "RATE_TOTAL",
        "600/60",
        "Connections to all targets a minute, and at once, as `N/BURST`. 0: no limit.",
    )
    data_mount: Literal["any", "require"] = _setting(
        PREFIX + "DATA_MOUNT",
        "any",
        "`require`: store nothing unless the data directory is a mount of its own.",
    )
    rotate_bytes: Annotated[int, BeforeValidator(_decimal), AfterValidator(_rotate)] = _setting(
        PREFIX + "ROTATE_BYTES",
        0,
        "Size from which a file of observations is sealed and another one begun; at least 1048576. 0: never.",
    )
    signing_key_file: Annotated[str | None, BeforeValidator(_signing_key)] = _setting(
        PREFIX + "SIGNING_KEY_FILE",
        None,
        "Ed25519 key that signs checkpoints, instead of `keys/signing` of the data directory: 32 bytes or PEM.",
    )
    toolsets: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_toolsets)] = _setting(
        PREFIX + "TOOLSETS", "measure,recall", "Groups of tools to serve; `all`, or some of the four."
    )
    tool_names: Literal["underscores", "dots"] = _setting(
        PREFIX + "TOOL_NAMES",
        "underscores",
        "How names are advertised: `facts_measure_http` or `facts.measure.http`.",
    )
    default_stale_seconds: Annotated[int, BeforeValidator(_decimal)] = _setting(
        PREFIX + "DEFAULT_STALE_SECONDS",
        3600,
        "Age in seconds from which recall calls a claim stale, unless the query says another one.",
    )
    text_index: Literal["words", "trigram"] = _setting(
        PREFIX + "TEXT_INDEX",
        "words",
        "How recall finds text: whole `words`, or any three characters (`trigram`), as Chinese and Japanese need.",
    )
    transport: Literal["stdio", "http"] = _setting(
        PREFIX + "TRANSPORT", "stdio", "How clients reach the server: `stdio`, or `http` (docs/http.md)."
    )
    listen: str = _setting(
        PREFIX + "LISTEN",
        "127.0.0.1:8765",
        "Where HTTP is served: `address:port` or `unix:/path`. Beyond loopback it needs tokens.",
    )
    token_file: Annotated[str | None, BeforeValidator(_readable)] = _setting(
        PREFIX + "TOKEN_FILE", None, "Bearer tokens of HTTP, one a line: `name scope[,scope] token`."
    )
    hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parts)] = _setting(
        PREFIX + "HOSTS",
        "",
        "Names, with or without a port, by which HTTP clients may address the server besides loopback ones.",
    )
    origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parts)] = _setting(
        PREFIX + "ORIGINS", "", "Origins of web pages that may ask, such as `https://name:port`."
    )
    tls_cert_file: Annotated[str | None, BeforeValidator(_readable)] = _setting(
        PREFIX + "TLS_CERT_FILE",
        None,
        "PEM file of the certificate, and those above it, to serve HTTPS with.",
    )
    tls_key_file: Annotated[str | None, BeforeValidator(_readable)] = _setting(
        PREFIX + "TLS_KEY_FILE", None, "PEM file of its key."
    )
    tls_client_ca_file: Annotated[str | None, BeforeValidator(_readable)] = _setting(
        PREFIX + "TLS_CLIENT_CA_FILE", None, "PEM file of those whose client certificates are asked for."
    )
    observed_by: Literal["any", "caller"] = _setting(
        PREFIX + "OBSERVED_BY",
        "any",
        "`caller`: who asserts or retracts over HTTP is the name of the token, whatever the call says.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        PREFIX + "LOG_LEVEL", "info", "Least level of the log on stderr; `info` has one line a call."
    )
    log_format: Literal["text", "json"] = _setting(
        PREFIX + "LOG_FORMAT", "text", "Form of the log on stderr: `text` or `json`."
    )


def read_settings() -> Settings:
    """The settings of this process, or `StartError` with one line for each variable that is wrong."""
    lines = [*_unknown(os.environ)]
    try:
        settings = Settings()
    except ValidationError as error:
        lines += [f"{_variable(part['loc'][0])}: {_reason(part)}" for part in error.errors(include_url=False)]
        lines += _policy_lines(os.environ)
        raise StartError(*lines) from None
    if lines:
        raise StartError(*lines)
    return settings


def configuration_page() -> str:
    """The text of `docs/configuration.md`, from the fields of the model."""
    rows = [
        f"| `{field.validation_alias}` | {_shown(field.default)} | {field.description} |"
        for field in Settings.model_fields.values()
    ]
    return _PAGE.format(rows="\n".join(rows))


def _unknown(names: Any) -> list[str]:
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    return [
        f"{name}: {NOT_YET.get(name, 'unknown setting; the names are listed in docs/configuration.md')}"
        for name in sorted(names)
        if name.upper().startswith(PREFIX) and name not in known
    ]


def _variable(place: int | str) -> str:
    """A default that does not hold is reported under the name of its field."""
    field = Settings.model_fields.get(str(place))
    return str(place if field is None else field.validation_alias)


def _policy_lines(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with the policy, said in the same round as everything else."""
    profile = environment.get(PREFIX + "NET_PROFILE", "loopback")
    if profile not in PROFILES:
        return ()
    try:
        Policy.parse(
            profile,
            environment.get(PREFIX + "ALLOW_HOSTS", ""),
            environment.get(PREFIX + "NAT64_PREFIXES", ""),
        )
    except PolicyError as error:
        return error.lines
    return ()


def _reason(part: Any) -> str:
    given = repr(part["input"])
    shown = given if len(given) <= 80 else given[:77] + "…"
    return f"{part['msg'].removeprefix('Value error, ')} (given: {shown})"


def _shown(default: Any) -> str:
    return "none" if default in (None, "") else f"`{default}`"


_PAGE = """# Configuration

Everything is set by environment variables, read once at start. A value that does not parse, and any other name that
begins with `PLINTH_FACTS_`, stop the start with exit status 2 and one line each on stderr. No variable carries a URL,
a route or a credential of an application.

| variable | default | meaning |
| --- | --- | --- |
{rows}

Proxies, `.netrc`, `SSLKEYLOGFILE`, `SSL_CERT_FILE`, `SSL_CERT_DIR`, `RES_OPTIONS` and `LOCALDOMAIN` of the environment
have no effect: what a measurement does depends on this table and on the call alone.

This page is generated; [contributing](contributing.md) says how.
"""
