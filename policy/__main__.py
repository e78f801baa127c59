"""`python -m policy URL…`: explains the decision about addresses and names; opens and looks up nothing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from policy.egress import Policy
from policy.errors import PolicyError
from policy.explain import EXIT_BAD_INPUT, exit_code, explain, render
from policy.rules import PROFILES


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 allowed, 1 refused, 2 bad input; of several URLs the worst."""
    options = _parser().parse_args(arguments)
    profile = options.profile or ("allowlist" if options.allow else "loopback")
    try:
        policy = Policy.parse(profile, options.allow, options.nat64)
    except PolicyError as error:
        sys.stderr.write("".join(f"{line}\n" for line in error.lines))
        return EXIT_BAD_INPUT
    sys.stderr.write("".join(f"warning: {line}\n" for line in policy.warnings))
    explained = [explain(policy, text) for text in options.url]
    shown = json.dumps(explained, indent=2) if options.json else "\n".join(map(render, explained))
    sys.stdout.write(f"{shown}\n")
    return max(map(exit_code, explained))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m policy", description="Explain what the egress policy says."
    )
    parser.add_argument(
        "url", nargs="+", help="an http, https, ws or wss URL; a name is judged by its name only"
    )
    parser.add_argument("--profile", choices=PROFILES, help="default: allowlist with --allow, else loopback")
    parser.add_argument(
        "--allow", default="", metavar="ENTRIES", help="host:port[@mark], separated by commas"
    )
    parser.add_argument("--nat64", default="", metavar="PREFIXES", help="NAT64 prefixes, separated by commas")
    parser.add_argument("--json", action="store_true", help="one JSON array instead of lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
