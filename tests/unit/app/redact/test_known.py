"""Secrets of the call, found again in what the target sent."""

from __future__ import annotations

import base64

import pytest

from app.redact.known import MOST, Known

SECRET = "pass word/é"


def found(text: str, *secrets: str) -> list[str]:
    """What is found of these secrets, as it stands in the text."""
    return [text[span.start : span.end] for span in Known(secrets).find(text)]


SPELLINGS = {
    "raw": SECRET,
    "as the bytes of UTF-8": SECRET.encode().decode("latin-1"),
    "with plus signs": SECRET.replace(" ", "+"),
    "in hexadecimal": SECRET.encode().hex(),
    "in capital hexadecimal": SECRET.encode().hex().upper(),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_is_found_in_each_spelling(spelling: str) -> None:
    assert found(f"<{spelling}> <{spelling}>", SECRET) == [spelling, spelling]


@pytest.mark.parametrize("user", ["", "u", "us"], ids=["first", "after one byte", "after two bytes"])
def test_a_secret_is_found_inside_base64_with_its_border_characters(user: str) -> None:
    encoded = base64.b64encode(f"{user}secret?>secret?>{user}".encode()).decode()

    assert [encoded.find(place) for place in found(f"<{encoded}>", "secret?>secret?>")] in ([0], [1])


def test_a_secret_is_found_inside_url_safe_base64() -> None:
    encoded = base64.urlsafe_b64encode(b"??>>??secret").decode()

    assert found(f"<{encoded}>", "??>>??secret") == [encoded]


def test_a_short_secret_is_not_looked_for() -> None:
    assert found("abcde abcdef", "abcde") == []


def test_the_longest_secret_is_found_first() -> None:
    assert found("abcdefgh abcdef.", "abcdef", "abcdefgh")[:1] == ["abcdefgh"]


def test_the_end_of_a_secret_at_the_beginning_of_a_text_is_found() -> None:
    assert found("cdefghij and more", "abcdefghij") == ["cdefghij"]


def test_the_beginning_of_a_secret_at_the_end_of_a_text_is_found() -> None:
    assert found("it was abcdefgh", "abcdefghij") == ["abcdefgh"]


@pytest.mark.parametrize("text", ["fghij and", "it was abcde", "abc", "it was abcdefgh."])
def test_less_than_six_characters_or_a_piece_inside_is_not_found(text: str) -> None:
    assert found(text, "abcdefghij") == []


def test_a_repetitive_secret_is_cut_at_its_longest() -> None:
    assert found("aaaaaaab!", "aaaaaaaaaaaab") == ["aaaaaaab"]
    assert found("!baaaaaaa", "baaaaaaaaaaaa") == ["baaaaaaa"]
    assert found("x abcabcabcabc", "abcabcabcabcabcX") == ["abcabcabcabc"]


def test_a_cut_that_does_not_fit_is_no_cut() -> None:
    assert found("abcdef_xx and more xx_abcdef", "__abcdef__abcdef__") == []


CASES = {
    "in lower case": ("host q7canaryzx.test", "q7canaryzx"),
    "in upper case": ("Q7CANARYZX", "Q7CANARYZX"),
    "after a letter whose lower case is longer": ("\u0130\u0130 Q7canaryzx", "Q7canaryzx"),
    "after a letter whose lower case looks at its neighbours": ("A\u03a3 q7Canaryzx", "q7Canaryzx"),
}


@pytest.mark.parametrize(("text", "place"), CASES.values(), ids=CASES)
def test_a_secret_is_found_in_any_case(text: str, place: str) -> None:
    assert found(text, "q7CANARYzx") == [place]


def test_of_too_many_secrets_the_longest_are_looked_for() -> None:
    many = Known(f"{number:06d}" + "x" * (number > 0) for number in range(MOST + 1))

    assert [list(many.find("<000000>")), len(list(many.find("<000256x>")))] == [[], 1]


def test_many_secrets_are_found_like_few() -> None:
    many = [f"secret-{number}-{'z' * number}." for number in range(100)]

    assert found(f"it was {many[7]} and {many[3].upper()}!", *many) == [many[7], many[3].upper()]
    assert found("nothing of it", *many) == []
    assert found("hort", *many) == []


def test_a_whole_secret_is_known() -> None:
    assert ["1234567" in Known(["1234567"]), "123456" in Known(["1234567"])] == [True, False]


WIDE = {
    "little-endian": "<secret1>".encode("utf-16-le"),
    "big-endian": "<secret1>".encode("utf-16-be"),
    "little-endian after one byte": b"." + "secret1".encode("utf-16-le"),
}


@pytest.mark.parametrize("data", WIDE.values(), ids=WIDE)
def test_a_secret_in_utf_16_is_found_once_in_its_order(data: bytes) -> None:
    places = [data[span.start : span.end] for span in Known(["SECRET1"]).find_wide(data.decode("latin-1"))]

    assert places in (["secret1".encode("utf-16-le")], ["secret1".encode("utf-16-be")])


def test_bytes_without_a_zero_hold_no_utf_16() -> None:
    assert list(Known(["secret1"]).find_wide("secret1")) == []


def test_the_place_tells_the_secret_it_stands_for() -> None:
    assert [span.secret for span in Known(["abcdef"]).find("x 616263646566 y")] == ["abcdef"]
