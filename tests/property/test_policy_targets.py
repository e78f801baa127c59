"""Laws of target parsing: one documented error, and the canonical text is its own reading."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.address import parse_address
from policy.errors import TargetError
from policy.target import Target, host_and_port, join_url, parse_host_port, parse_url

PIECES = [
    "http://",
    "https://",
    "ws://",
    "a",
    "b.test",
    "xn--",
    "é",
    "①",
    ".",
    "。",
    ":",
    "80",
    "0",
    "@",
    "/",
    "?",
    "#",
]
PIECES += [
    "[",
    "]",
    "::1",
    "%",
    "%25lo",
    "-",
    "_",
    "0x",
    "127.0.0.1",
    "1",
    "\u00ad",
    "\u200d",
    "क",
    "à",
    "İ",
    "ß",
    "א",
]
PIECES += ["\ud800", "\0", "\t", "\\", "..", "ﬀ", "::ffff:", " ", "localhost", "\u3000", "８"]

pieces = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
texts = st.one_of(
    st.text(), pieces, pieces.map("http://{}".format), st.text(max_size=20).map("http://{}/".format)
)
BASE = parse_url("https://a.test.:444/b/c?d")


def read(text: str) -> Target | None:
    try:
        return parse_url(text)
    except TargetError:
        return None


@given(texts)
@example("http://\ud800/")
@example("\0" * 1_048_576)
@example("http://" + "a." * 4000)
@settings(deadline=None)  # the first host that is not ASCII imports idna
def test_a_text_is_a_target_in_canonical_form_or_a_target_error(text: str) -> None:
    target = read(text)

    assert target is None or parse_url(target.url) == target
    assert target is None or (target.url.isascii() and target.url.isprintable() and " " not in target.url)


@given(texts)
@settings(deadline=None)  # the first host that is not ASCII imports idna
def test_a_location_is_a_target_or_a_target_error(text: str) -> None:
    try:
        target = join_url(BASE, text)
    except TargetError:
        return

    assert parse_url(target.url) == target


@given(texts, st.integers())
@settings(deadline=None)  # the first host that is not ASCII imports idna
def test_the_other_readers_know_one_error_too(text: str, port: int) -> None:
    messages = [""]
    for reader in (parse_url, parse_host_port, parse_address, lambda text: host_and_port(text, port)):
        try:
            reader(text)
        except TargetError as error:
            messages.append(error.message)

    assert max(map(len, messages)) < 200


@given(pieces)
@settings(deadline=None)  # the first host that is not ASCII imports idna
def test_user_information_is_never_part_of_a_target(text: str) -> None:
    target = read(f"http://user:secret@{text}/")

    assert target is None
