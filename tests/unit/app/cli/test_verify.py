"""What `verify` and `prove` print, and what they refuse; what they find is in the cases."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import run
from app.proofs.note import SigningKey, verifier_key

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`command("verify", …)`: the exit status, what was printed, and what was said on stderr."""
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path / "data"))

    def call(*arguments: str) -> tuple[int, str, str]:
        return run(list(arguments)), *capsys.readouterr()

    return call


@pytest.fixture
def claim_id(command: Command) -> str:
    """A claim in a registry with one checkpoint."""
    return str(json.loads(command("recall", "assert", "a", "--observed-by", "me", "--json")[1])["claim_id"])


def public(tmp_path: Path) -> bytes:
    return SigningKey((tmp_path / "data/keys/signing").read_bytes()).public


def test_what_is_proven_is_one_line_a_log(command: Command, claim_id: str) -> None:
    status, out, err = command("verify")
    lines = out.splitlines()

    assert (status, err, len(lines)) == (0, "", 2)
    assert lines[0].startswith("default/claims: 1 lines, ")
    assert "; 1 proven by the checkpoint of 2" in lines[0]
    assert lines[0].endswith(", 0 after it")
    assert lines[1] == "nothing was altered, as far as this can be proven (docs/tamper-evidence.md)"


def test_a_registry_that_is_not_there_is_no_good_news(command: Command) -> None:
    status, out, err = command("verify")

    assert (status, out) == (2, "")
    assert "there is no project: nothing to verify" in err


def test_a_fault_is_a_line_with_its_place(command: Command, claim_id: str, tmp_path: Path) -> None:
    path = tmp_path / "data/projects/default/logs/claims.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"statement":"a"', b'"statement":"b"') + b"rubbish\n")
    status, out, _err = command("verify", "default")

    assert status == 1
    assert "  note   1 lines are damaged; facts-mcp doctor lists them" in out
    fault = next(line for line in out.splitlines() if "FAULT" in line)
    assert fault == (
        "  FAULT  default/claims: altered line 1, byte 0: 1 signed lines are not here, 1 others are"
    )


def test_only_the_projects_that_are_named_are_walked(command: Command, claim_id: str) -> None:
    command("recall", "assert", "b", "--observed-by", "me", "--project", "My Shop")
    found = [json.loads(command("verify", *names, "--json")[1]) for names in (["my shop"], [])]

    assert [{each["project"] for each in one} for one in found] == [{"my-shop"}, {"default", "my-shop"}]


def test_a_project_that_is_not_there_is_no_good_news(command: Command, claim_id: str) -> None:
    status, out, err = command("verify", "default", "nobody")

    assert (status, out) == (2, "")
    assert "there is no project nobody" in err


def test_a_checkpoint_kept_elsewhere_is_never_passed_over(
    command: Command, claim_id: str, tmp_path: Path
) -> None:
    command("recall", "assert", "b", "--observed-by", "me", "--project", "q")
    kept = tmp_path / "kept"
    kept.write_bytes((tmp_path / "data/projects/q/logs/checkpoints.jsonl").read_bytes())
    status, out, err = command("verify", "default", "--against", str(kept))

    assert (status, out) == (2, "")
    assert "--against: facts-mcp/q/claims is no log of what is verified" in err
    assert command("verify", "q", "--against", str(kept))[0] == 0


def test_a_piece_that_a_crash_left_among_the_checkpoints_is_no_fault(
    command: Command, claim_id: str, tmp_path: Path
) -> None:
    with (tmp_path / "data/projects/default/logs/checkpoints.jsonl").open("ab") as file:
        file.write(b'{"v":1,"seq":2,"id":"k_01')
    status, out, _err = command("verify")
    command("recall", "assert", "b", "--observed-by", "me")

    assert (status, command("verify")[0]) == (0, 0)
    assert "1 lines are damaged" in out


def test_the_line_of_a_proof_does_nothing_to_a_terminal(command: Command, tmp_path: Path) -> None:
    said = command("recall", "assert", "red \x9b31m \u202e", "--observed-by", "me", "--json")[1]
    proof = tmp_path / "proof"
    proof.write_text(command("prove", json.loads(said)["claim_id"])[1])
    status, out, _err = command("prove", "--check", str(proof))

    assert status == 0
    assert "\x9b" not in out
    assert "\u202e" not in out


def test_a_public_key_of_another_installation_believes_nothing(command: Command, claim_id: str) -> None:
    other = b64encode(SigningKey(b"\x08" * 32).public).decode()
    status, out, _err = command("verify", "--public-key", other)

    assert status == 1
    assert "checkpoint_altered line 1, byte 0: the signature is not one of this key" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "ü"], "'ü' is not the name of a project"),
        (["verify", "--public-key", "abc"], "--public-key: expected "),
        (["verify", "--against", "nowhere"], "nowhere cannot be read: "),
        (["prove"], "prove: expected an ID, or --check FILE"),
    ],
)
def test_bad_input_is_one_line_and_status_two(
    command: Command, claim_id: str, arguments: list[str], said: str
) -> None:
    status, out, err = command(*arguments)

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"facts-mcp: {said}")


def test_what_is_kept_elsewhere_has_to_be_signed_by_the_key(
    command: Command, claim_id: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("no note\n")
    status, _out, err = command("verify", "--against", str(kept))

    assert (status, err) == (2, f"facts-mcp: --against {kept}: this is no signed note\n")


def test_without_any_key_nothing_can_be_compared(command: Command, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    status, _out, err = command("verify", "--against", str(tmp_path / "kept"))

    assert (status, err) == (2, "facts-mcp: --public-key: this installation has no key of its own yet\n")


def test_a_proof_goes_out_and_is_checked(command: Command, claim_id: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    proof.write_text(command("prove", claim_id)[1])
    key = verifier_key("facts-mcp/default/claims", public(tmp_path))
    status, out, _err = command("prove", "--check", str(proof), "--public-key", key)

    first, line = out.splitlines()
    assert status == 0
    assert first.startswith("line 1 of facts-mcp/default/claims, signed 2")
    assert json.loads(line)["id"] == claim_id


def test_a_proof_that_does_not_hold_is_status_one(command: Command, claim_id: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    proof.write_text(command("prove", claim_id)[1].replace("index 0", "index 1"))
    status, out, err = command("prove", "--check", str(proof))

    assert (status, out, err) == (
        1,
        "",
        f"facts-mcp: {proof}: the line is not in the tree of the checkpoint\n",
    )


def test_a_line_that_is_not_there_is_status_one(command: Command, claim_id: str) -> None:
    status, _out, err = command("prove", "c_01K5Z9K2QX7T4BVWRM3P8QJHYD")

    assert (status, err) == (1, "facts-mcp: not_found: Project default has no line with this id.\n")


def test_the_key_may_live_elsewhere_and_is_never_shown(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = bytes(range(32))
    (tmp_path / "key").write_bytes(seed)
    monkeypatch.setenv("PLINTH_FACTS_SIGNING_KEY_FILE", str(tmp_path / "key"))
    claim_id = json.loads(command("recall", "assert", "a", "--observed-by", "me", "--json")[1])["claim_id"]
    outcomes = [command("verify"), command("prove", claim_id, "--json"), command("doctor")]

    assert outcomes[0][0] == outcomes[1][0] == 0
    assert b64encode(SigningKey(seed).public).decode() in outcomes[2][1]
    assert not (tmp_path / "data/keys/signing").exists()
    shown = "".join(out + err for _status, out, err in outcomes)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert (b64encode(seed).decode() in shown, seed.hex() in shown, seed in stored) == (False, False, False)
