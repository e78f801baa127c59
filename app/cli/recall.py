"""`facts-mcp recall …`: the recall tools by hand, through the same path as a client's call."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from app.cli.output import as_json, told
from app.cli.summary import printable
from app.errors import StoreError, ToolError

if TYPE_CHECKING:
    from app.main import Application

Build = Callable[[], "Application"]
Answer = Mapping[str, Any]


def add_commands(commands: Any) -> None:
    """Put the four commands into the parser."""
    recall = commands.add_parser("recall", help="what was concluded, with its evidence")
    actions = recall.add_subparsers(required=True, metavar="ACTION")
    _add_query(actions.add_parser("query", help="find claims"))
    history = actions.add_parser("history", help="the stored lines about one claim")
    history.add_argument("claim_id", metavar="CLAIM_ID")
    history.set_defaults(run=run_history)
    _add_assert(actions.add_parser("assert", help="store a claim"))
    retract = actions.add_parser("retract", help="take a claim back")
    retract.add_argument("claim_id", metavar="CLAIM_ID")
    retract.add_argument("--reason", required=True, help="why it does not hold")
    retract.add_argument("--by", dest="retracted_by", metavar="NAME", help="who takes it back")
    retract.set_defaults(run=run_retract)
    for each in actions.choices.values():
        each.add_argument("--project", default="default", help="whose claims these are (default: default)")
        each.add_argument("--json", action="store_true", help="print the answer of the tool")


def run_query(wanted: argparse.Namespace, build: Build) -> int:
    """`recall query [WORD…]`."""
    given: dict[str, Any] = {name: getattr(wanted, name) for name in _QUERY}
    given["text"] = " ".join(wanted.word) or None
    given["detail"] = "full" if wanted.full else "brief"
    if wanted.stale is not None:
        given["stale"] = wanted.stale == "yes"
    return _call(wanted, build, "query", given, _claims)


def run_history(wanted: argparse.Namespace, build: Build) -> int:
    """`recall history CLAIM_ID`."""
    return _call(wanted, build, "history", {"claim_id": wanted.claim_id}, _events)


def run_assert(wanted: argparse.Namespace, build: Build) -> int:
    """`recall assert STATEMENT`."""
    evidence = [
        {"type": "claim", "claim_id": each}
        if each.startswith("c_")
        else {"type": "observation", "observation_id": each}
        for each in wanted.evidence
    ]
    given = {
        "statement": wanted.statement,
        "observed_by": wanted.observed_by,
        "evidence": [*evidence, *({"type": "note", "text": note} for note in wanted.note)],
        "tags": wanted.tags,
        "source": wanted.source,
        "idempotency_key": wanted.idempotency_key,
    }
    return _call(wanted, build, "assert", given, _asserted)


def run_retract(wanted: argparse.Namespace, build: Build) -> int:
    """`recall retract CLAIM_ID --reason WHY`."""
    given = {name: getattr(wanted, name) for name in ("claim_id", "reason", "retracted_by")}
    return _call(wanted, build, "retract", given, _retracted)


_QUERY = (
    *("tags", "any_tags", "observed_by", "target", "asserted_after", "asserted_before"),
    *("stale_after_seconds", "retracted", "order", "limit", "cursor"),
)


def _add_query(query: argparse.ArgumentParser) -> None:
    query.set_defaults(run=run_query)
    query.add_argument(
        "word", nargs="*", metavar="WORD", help='words, "phrases", prefix*; put -- before -not'
    )
    query.add_argument("--tag", dest="tags", action="append", default=[], metavar="TAG", help="all of these")
    query.add_argument(
        "--any-tag", dest="any_tags", action="append", default=[], metavar="TAG", help="one of these"
    )
    query.add_argument("--observed-by", metavar="NAME", help="asserted by this one")
    query.add_argument("--target", metavar="HOST:PORT", help="a cited measurement was pointed at it")
    query.add_argument(
        "--after", dest="asserted_after", metavar="TIME", help="asserted then or later, RFC 3339"
    )
    query.add_argument("--before", dest="asserted_before", metavar="TIME", help="asserted before")
    query.add_argument("--stale", choices=("yes", "no"), help="by the age of the oldest cited measurement")
    query.add_argument(
        "--stale-after", dest="stale_after_seconds", type=float, metavar="SECONDS", help="that age"
    )
    query.add_argument("--retracted", choices=("exclude", "include", "only"), default="exclude")
    query.add_argument("--order", choices=("newest", "oldest", "match"), default="newest")
    query.add_argument("--limit", type=int, default=20, metavar="N", help="1 to 100")
    query.add_argument("--cursor", help="next_cursor of the page before")
    query.add_argument("--full", action="store_true", help="everything embedded")


def _add_assert(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=run_assert)
    parser.add_argument("statement", metavar="STATEMENT", help="one conclusion in a sentence")
    parser.add_argument("--observed-by", required=True, metavar="NAME", help="who concluded it")
    parser.add_argument(
        "--evidence", action="append", default=[], metavar="ID", help="o_… or c_…, repeatable"
    )
    parser.add_argument("--note", action="append", default=[], metavar="TEXT", help="repeatable")
    parser.add_argument("--tag", dest="tags", action="append", default=[], metavar="TAG", help="repeatable")
    parser.add_argument("--source", metavar="NAME", help="where it was learned")
    parser.add_argument("--idempotency-key", metavar="KEY", help="the same key never stores two claims")


def _call(
    wanted: argparse.Namespace,
    build: Build,
    action: str,
    given: Mapping[str, Any],
    render: Callable[[Answer], Iterator[str]],
) -> int:
    application = build()
    call = {
        "project": wanted.project,
        **{name: value for name, value in given.items() if value not in (None, [])},
    }
    try:
        answer = asyncio.run(application.call(f"facts.recall.{action}", call))
    except (ToolError, StoreError) as error:
        problem = error if isinstance(error, ToolError) else ToolError("storage_failed", error.message)
        return _failed(application, problem, call, is_json=wanted.json)
    finally:
        application.close()
    sys.stdout.write(
        as_json(answer) if wanted.json else "".join(f"{printable(line)}\n" for line in render(answer))
    )
    return 0


def _failed(application: Application, error: ToolError, call: dict[str, Any], *, is_json: bool) -> int:
    if is_json:
        sys.stdout.write(as_json(application.error_content(error, call)))
    else:
        content = application.error_content(error, call)
        sys.stderr.write(told(ToolError(error.code, content["message"])))
    return 2 if error.code == "invalid_arguments" else 1


def _claims(answer: Answer) -> Iterator[str]:
    for claim in answer["claims"]:
        yield from _claim(claim)
        yield ""
    about = "" if answer["matched_is_exact"] else "more than "
    building = "" if answer["index"]["state"] == "current" else "; the index is still being built"
    yield f"{len(answer['claims'])} of {about}{answer['matched']} claims in project {answer['project']}{building}"
    if answer["next_cursor"]:
        yield f"next page: --cursor {answer['next_cursor']}"


def _claim(claim: Answer) -> Iterator[str]:
    stale = ", stale" if claim["stale"] else ""
    yield f"{claim['claim_id']}  {claim['asserted_at']} ({_age(claim['age_seconds'])} ago{stale})"
    yield f"  {claim['statement']}"
    tags = f"; tags {', '.join(claim['tags'])}" if claim["tags"] else ""
    source = f"; source {claim['source']}" if "source" in claim else ""
    yield f"  by {claim['observed_by']}{source}{tags}"
    for item in claim["evidence"]:
        what = item.get("observation_id") or item.get("claim_id") or item.get("text")
        yield f"  {item['type']:<12}{what} ({_age(item['age_seconds'])} ago)"
    if claim["retraction"]:
        by = claim["retraction"]["retracted_by"] or "nobody named"
        yield f"  RETRACTED   {claim['retraction']['retracted_at']} by {by}: {claim['retraction']['reason']}"


def _events(answer: Answer) -> Iterator[str]:
    for event in answer["events"]:
        yield f"byte {event['position']}, sha256 {event['line_sha256']}"
        yield f"  {event['line']}"


def _asserted(answer: Answer) -> Iterator[str]:
    yield "stored" if answer["created"] else "there already"
    yield from _claim(answer)


def _retracted(answer: Answer) -> Iterator[str]:
    yield f"{answer['retraction_id']}  {answer['retracted_at']}: {answer['claim_id']} is taken back: {answer['reason']}"


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
