"""The parser of the command line and the commands behind it; each returns an exit status."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from app import VERSION
from app.cli import export, recall, verify
from app.cli.output import as_json
from app.cli.summary import printable, summary
from app.errors import StartError, ToolError
from policy.explain import exit_code, render

if TYPE_CHECKING:
    from app.main import Application

Build = Callable[[], "Application"]

HELP = """\
Measures network services under a strict egress policy and remembers what was observed.

Without a command it serves MCP over stdio, as an MCP client starts it. By hand:

  facts-mcp measure http http://127.0.0.1:8000/     one measurement, readable
  facts-mcp policy explain http://10.0.0.5/         may this be measured, and by which rule
  facts-mcp doctor                                  settings, profile, registry, clock, kernel
"""

EPILOG = """\
{policy}

What may be measured is set by whoever starts it:
  PLINTH_FACTS_NET_PROFILE   deny-all, loopback (default), private, allowlist
  PLINTH_FACTS_ALLOW_HOSTS   host:port entries of the profile allowlist
  PLINTH_DATA_DIR            where observations are kept (default ~/.plinth)
All settings: docs/configuration.md.

Exit status: 0 done; 1 refused, not observed, or found wrong; 2 bad input or settings.
"""


def command(arguments: Sequence[str], build: Build) -> int:
    """Parse the command line and run what it names."""
    wanted = _parser(_epilog(build) if _asks_for_help(arguments) else "").parse_args(arguments)
    status: int = wanted.run(wanted, build)
    return status


def measure_http(wanted: argparse.Namespace, build: Build) -> int:
    """`measure http URL`: the same call as the tool, by the same path."""
    application = build()
    call: dict[str, Any] = {
        "project": wanted.project,
        "url": wanted.url,
        "method": wanted.method,
        "follow_redirects": wanted.follow,
        "timeout_ms": wanted.timeout_ms,
        "detail": "brief" if wanted.json and not wanted.full else "full",
    }
    call |= {"headers": _headers(wanted.header)} if wanted.header else {}
    call |= {"body": wanted.body} if wanted.body is not None else {}
    try:
        answer = asyncio.run(_until_a_signal(application.call("facts.measure.http", call)))
    except ToolError as error:
        return _refused(application, error, call, is_json=wanted.json)
    finally:
        application.close()
    sys.stdout.write(as_json(answer) if wanted.json else summary(answer, bar=_bar()))
    return 0 if answer["ok"] else 1


def policy_explain(wanted: argparse.Namespace, build: Build) -> int:
    """`policy explain URL…`: the decision on each, after resolving as a measurement would; opens no connection."""
    application = build()
    answers = asyncio.run(application.explain(wanted.url))
    text = as_json(answers) if wanted.json else "".join(f"{render(answer)}\n" for answer in answers)
    sys.stdout.write(text)
    return max(exit_code(answer) for answer in answers)


def doctor(wanted: argparse.Namespace, build: Build) -> int:
    """`doctor`: what this installation is and can do, one line a check."""
    from app.doctor import examine, render

    checks = examine(build())
    sys.stdout.write(as_json([check.as_dict() for check in checks]) if wanted.json else render(checks))
    return 0 if all(check.ok is not False for check in checks) else 1


def _parser(epilog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="facts-mcp",
        description=HELP,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"facts-mcp {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_measure(commands.add_parser("measure", help="take one measurement and store it"))
    policy = commands.add_parser("policy", help="ask the policy").add_subparsers(
        required=True, metavar="ACTION"
    )
    explain = policy.add_parser("explain", help="may this be measured, and by which rule")
    explain.add_argument("url", nargs="+", metavar="URL")
    explain.set_defaults(run=policy_explain)
    recall.add_commands(commands)
    export.add_commands(commands)
    verify.add_commands(commands)
    examine = commands.add_parser("doctor", help="look at settings, registry, clock and kernel")
    examine.set_defaults(run=doctor)
    for each in (explain, examine):
        each.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_measure(measure: argparse.ArgumentParser) -> None:
    http = measure.add_subparsers(required=True, metavar="KIND").add_parser("http", help="one HTTP request")
    http.set_defaults(run=measure_http)
    http.add_argument("url", metavar="URL", help="http:// or https://, within the profile")
    http.add_argument("--project", default="default", help="whose data this is (default: default)")
    http.add_argument("--full", action="store_true", help="everything that was seen, not the brief answer")
    http.add_argument("--json", action="store_true", help="print the answer of the tool")
    http.add_argument("--method", default="GET", help="GET, HEAD, OPTIONS, or what the operator admits")
    http.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="repeatable")
    http.add_argument("--body", help="text to send")
    http.add_argument("--follow", action="store_true", help="follow redirects, each judged anew")
    http.add_argument(
        "--timeout-ms", type=int, default=10_000, metavar="MS", help="deadline of the whole call"
    )


async def _until_a_signal(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """The answer; a signal cancels the measurement, which is stored as that."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


def _asks_for_help(arguments: Sequence[str]) -> bool:
    return any(word in ("-h", "--help") for word in arguments)


def _epilog(build: Build) -> str:
    try:
        policy = build().policy_sentence
    except StartError as error:
        policy = f"none, for the settings are wrong: {'; '.join(error.lines)}"
    return EPILOG.format(policy=f"Active policy: {policy}")


def _headers(given: Sequence[str]) -> dict[str, str]:
    pairs = [line.partition(":") for line in given]
    if not all(colon for _, colon, _ in pairs):
        raise StartError("--header: expected NAME:VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _refused(application: Application, error: ToolError, call: dict[str, Any], *, is_json: bool) -> int:
    content = application.error_content(error, call)
    if is_json:
        sys.stdout.write(as_json(content))
    else:
        configure = (content.get("details") or {}).get("configure")
        hint = f"facts-mcp: what would allow it: {configure}\n" if configure else ""
        sys.stderr.write(f"facts-mcp: {content['code']}: {printable(content['message'])}\n{hint}")
    return 2 if error.code == "invalid_arguments" else 1


def _bar() -> str:
    encoding = (sys.stdout.encoding or "").lower()
    return "█" if encoding.replace("-", "") == "utf8" else "#"
