"""`facts-mcp verify` and `facts-mcp prove`: what is proven about the registry, and a proof of one line for others."""

from __future__ import annotations

import argparse
import os
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from app.cli.arguments import project_named
from app.cli.output import as_json, told
from app.cli.summary import printable
from app.errors import StartError, StoreError, ToolError
from app.records.names import is_project
from app.store.directory import projects_of

if TYPE_CHECKING:
    from app.main import Application
    from app.proofs.note import Checkpoint
    from app.records.events import SignedLog
    from app.store.signer import Signed
    from app.store.verify import Findings

Build = Callable[[], "Application"]


def add_commands(commands: Any) -> None:
    """Put both commands into the parser."""
    verify = commands.add_parser("verify", help="prove that nothing stored was altered")
    verify.add_argument("project", nargs="*", metavar="PROJECT", help="default: all of them")
    verify.add_argument(
        "--against", action="append", default=[], metavar="FILE", help="a checkpoint kept elsewhere"
    )
    verify.add_argument("--public-key", metavar="KEY", help="default: the key of this installation")
    verify.set_defaults(run=run_verify)
    prove = commands.add_parser("prove", help="a proof of one line, for somebody else to check")
    prove.add_argument("id", metavar="ID", nargs="?", help="c_…, r_…, o_… or d_…")
    prove.add_argument("--project", default="default", help="whose line this is (default: default)")
    prove.add_argument("--check", metavar="FILE", help="check such a proof instead, with --public-key")
    prove.add_argument("--public-key", metavar="KEY", help="default: the key of this installation")
    prove.set_defaults(run=run_prove)
    for each in (verify, prove):
        each.add_argument("--json", action="store_true", help="print JSON")


def run_verify(wanted: argparse.Namespace, build: Build) -> int:
    """`verify [PROJECT…]`: 0 nothing found, 1 something found, 2 bad input."""
    from app.cli.progress import Progress
    from app.store.directory import DataDirectory
    from app.store.files import Files
    from app.store.verify import verify_project

    application = build()
    public = _public(application, wanted.public_key, must_be=bool(wanted.against))
    against = [_kept(path, public) for path in wanted.against]
    root, files = DataDirectory(application.settings.data_dir, Files()), Files()
    projects = _chosen(wanted.project, _projects(application.settings.data_dir, against), against)
    found: list[Findings] = []
    with Progress("verified", _bytes_of(application.settings.data_dir, projects)) as progress:
        for project in projects:
            try:
                found += verify_project(root, files, project, public, against, progress.add)
            except (StoreError, OSError) as error:
                raise StartError(f"{project}: {error}") from error
    sys.stdout.write(
        as_json([_findings(each) for each in found]) if wanted.json else "".join(_lines(found, public))
    )
    return 1 if any(each.faults for each in found) else 0


def run_prove(wanted: argparse.Namespace, build: Build) -> int:
    """`prove ID`, or `prove --check FILE`."""
    application = build()
    if wanted.check is not None:
        return _check(wanted, application)
    if wanted.id is None:
        raise StartError("prove: expected an ID, or --check FILE")
    from app.store.directory import DataDirectory
    from app.store.files import Files
    from app.store.prove import prove

    signer, project = application.signer(), project_named(wanted.project)
    root = DataDirectory(application.settings.data_dir, Files())

    def sign(log: SignedLog) -> Signed | None:
        signer.sign(project, log, application.log)
        return signer.newest(project, log)

    try:
        proof = prove(
            root,
            Files(),
            project,
            wanted.id,
            lambda log: signer.newest(project, log),
            sign,
        )
    except ToolError as error:
        sys.stderr.write(told(error))
        return 1
    except (StoreError, OSError) as error:
        raise StartError(f"{project}: {error}") from error
    finally:
        application.close()
    sys.stdout.write(as_json(_proof(proof, application)) if wanted.json else proof.text)
    return 0


def _check(wanted: argparse.Namespace, application: Application) -> int:
    from app.proofs.note import BadNote
    from app.proofs.proof import check, parse_proof

    public = _public(application, wanted.public_key, must_be=True)
    try:
        proof = parse_proof(_text(wanted.check))
        checkpoint = check(proof, public or b"")
    except BadNote as error:
        sys.stderr.write(f"facts-mcp: {wanted.check}: {error}\n")
        return 1
    line = proof.line.decode("utf-8", "backslashreplace")
    if wanted.json:
        told_of = {"origin": checkpoint.origin, "size": checkpoint.size, "signed_at": checkpoint.time}
        sys.stdout.write(as_json({**told_of, "leaf": proof.leaf, "line": line}))
    else:
        where = f"line {proof.leaf + 1} of {checkpoint.origin}"
        sys.stdout.write(
            f"{where}, signed {checkpoint.time} over {checkpoint.size} lines:\n{printable(line)}\n"
        )
    return 0


def _public(application: Application, given: str | None, *, must_be: bool) -> bytes | None:
    """The public key that was given, or that of this installation if it has one; nothing is made for it."""
    from app.proofs.note import BadNote, public_key

    if given is not None:
        try:
            return public_key(given)
        except BadNote as error:
            raise StartError(f"--public-key: {error}") from None
    settings = application.settings
    if settings.signing_key_file is None and not os.path.exists(
        os.path.join(settings.data_dir, "keys", "signing")
    ):
        if must_be:
            raise StartError("--public-key: this installation has no key of its own yet")
        return None
    try:
        return application.signing_key().public
    except StoreError as error:
        raise StartError(error.message) from error


def _kept(path: str, public: bytes | None) -> Checkpoint:
    """A checkpoint kept elsewhere: a signed note, or a line of checkpoints.jsonl."""
    from app.proofs.note import BadNote, open_note
    from app.records.codec import Record, decode
    from app.records.events import Checkpointed

    text = _text(path)
    record = decode(text.strip().encode())
    note = (
        record.event.note if isinstance(record, Record) and isinstance(record.event, Checkpointed) else text
    )
    try:
        return open_note(note, public or b"")
    except BadNote as error:
        raise StartError(f"--against {path}: {error}") from None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise StartError(f"{path} cannot be read: {error}") from error


def _chosen(named: Sequence[str], there: list[str], against: Sequence[Checkpoint]) -> list[str]:
    """The projects to verify; StartError where that would be none, or leave out what somebody asked about."""
    from app.store.checkpoints import origin
    from app.store.signer import SIGNED

    chosen = [project_named(each) for each in named] or there
    for each in chosen:
        if each not in there:
            raise StartError(f"there is no project {each}")
    for checkpoint in against:
        if not any(checkpoint.origin in {origin(each, log) for log in SIGNED} for each in chosen):
            raise StartError(f"--against: {checkpoint.origin} is no log of what is verified")
    if not chosen:
        raise StartError("there is no project: nothing to verify")
    return chosen


def _projects(data_dir: str, against: Sequence[Checkpoint]) -> list[str]:
    named = {each.origin.split("/")[1] for each in against if each.origin.count("/") == 2}
    return sorted(name for name in {*projects_of(data_dir), *named} if is_project(name))


def _bytes_of(data_dir: str, projects: Sequence[str]) -> int:
    total = 0
    for project in projects:
        for directory, _names, files in os.walk(os.path.join(data_dir, "projects", project, "logs")):
            total += sum(
                os.stat(os.path.join(directory, name), follow_symlinks=False).st_size for name in files
            )
    return total


def _findings(found: Findings) -> dict[str, Any]:
    return {**found._asdict(), "faults": [fault._asdict() for fault in found.faults]}


def _lines(found: Sequence[Findings], public: bytes | None) -> Iterator[str]:
    if public is None:
        yield "no key: nothing is signed yet, so nothing is proven\n"
    for each in found:
        if each.log != "checkpoints":
            yield f"{each.project}/{each.log}: {each.lines} lines, {each.bytes} bytes; {_proven(each)}\n"
        if each.damaged:
            yield f"  note   {each.damaged} lines are damaged; facts-mcp doctor lists them\n"
        for fault in each.faults:
            yield f"  FAULT  {each.project}/{each.log}: {fault.kind}{_place(fault)}: {fault.message}\n"
    if not any(each.faults for each in found):
        yield "nothing was altered, as far as this can be proven (docs/tamper-evidence.md)\n"


def _proven(found: Findings) -> str:
    if not found.proven:
        return "no checkpoint covers them"
    return f"{found.proven} proven by the checkpoint of {found.proven_at}, {found.unproven} after it"


def _place(fault: Any) -> str:
    lines = "" if fault.first is None else f" line {fault.first}"
    lines += "" if fault.last is None or fault.last == fault.first else f" to {fault.last}"
    return lines + ("" if fault.begin is None else f", byte {fault.begin}")


def _proof(proof: Any, application: Application) -> dict[str, Any]:
    from app.proofs.note import open_note, verifier_key

    public = application.signing_key().public
    checkpoint = open_note(proof.note, public)
    return {
        "line": proof.line.decode("utf-8", "backslashreplace"),
        "leaf": proof.leaf,
        "size": checkpoint.size,
        "hashes": [b64encode(each).decode() for each in proof.hashes],
        "checkpoint": proof.note,
        "public_key": b64encode(public).decode(),
        "verifier_key": verifier_key(checkpoint.origin, public),
        "proof": proof.text,
    }
