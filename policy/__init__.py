"""Which targets may be measured, and why: pure, and knows nothing of the product around it."""

from __future__ import annotations

from policy.address import Place, address_text, classify, classify_text, parse_address
from policy.budget import Budget, Rate
from policy.decision import Check, Decision, Rule, Verdict
from policy.egress import FORBIDDEN_HEADERS, HasHost, Lookup, Policy, decide_header
from policy.errors import PolicyError, ReasonCode, TargetError
from policy.explain import exit_code, explain, render
from policy.names import is_local_name
from policy.rules import PROFILES, Profile
from policy.table import IPAddress
from policy.target import (
    HTTP_SCHEMES,
    HostPort,
    Target,
    host_and_port,
    join_url,
    parse_host_port,
    parse_url,
)

__all__ = [
    "FORBIDDEN_HEADERS",
    "HTTP_SCHEMES",
    "PROFILES",
    "Budget",
    "Check",
    "Decision",
    "HasHost",
    "HostPort",
    "IPAddress",
    "Lookup",
    "Place",
    "Policy",
    "PolicyError",
    "Profile",
    "Rate",
    "ReasonCode",
    "Rule",
    "Target",
    "TargetError",
    "Verdict",
    "address_text",
    "classify",
    "classify_text",
    "decide_header",
    "exit_code",
    "explain",
    "host_and_port",
    "is_local_name",
    "join_url",
    "parse_address",
    "parse_host_port",
    "parse_url",
    "render",
]
