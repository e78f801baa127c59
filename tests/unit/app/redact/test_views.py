"""The readings of a text, and the way back from each."""

from __future__ import annotations

import pytest

from app.redact.views import plain, views

ESCAPED = {
    "percent-encoding": ("a%3Db", "a=b"),
    "percent-encoding in lower case": ("a%3db", "a=b"),
    "a unicode escape": ("a\\u003db", "a=b"),
    "a hexadecimal escape": ("a\\x3db", "a=b"),
    "an escaped quotation mark": ('\\"a\\"', '"a"'),
    "an escaped line end": ("a\\nb\\tc\\rd", "a\nb\tc\rd"),
    "an escaped slash": ("a\\/b", "a/b"),
    "a named reference": ("a&amp;b&quot;&apos;&lt;&gt;", "a&b\"'<>"),
    "a decimal reference": ("&#34;", '"'),
    "a hexadecimal reference": ("&#x27;", "'"),
    "a hexadecimal reference with a capital": ("a&#X3d;b", "a=b"),
    "twice": ("a%253Db", "a=b"),
    "three times": ("a%25253Db", "a=b"),
}


@pytest.mark.parametrize(("text", "meaning"), ESCAPED.values(), ids=ESCAPED)
def test_the_last_reading_is_the_plain_text(text: str, meaning: str) -> None:
    assert plain(text) == meaning


@pytest.mark.parametrize("text", ["a=b", "100%", "%zz", "a & b", "&unknown;", "\\", "\\\n"])
def test_a_text_without_escapes_has_one_reading(text: str) -> None:
    assert [view.text for view in views(text)] == [text]


def test_no_text_is_read_more_than_three_times_over() -> None:
    assert [view.text for view in views("%252525253D")] == ["%252525253D", "%2525253D", "%25253D", "%253D"]


def test_a_range_of_a_reading_leads_back_to_what_reads_so() -> None:
    text = "x=1%26token%3Dab%63d&y"

    reading = list(views(text))[1]
    start = reading.text.index("token")
    ranges = [reading.source(start, start + 5), reading.source(start + 6, start + 10), reading.source(3, 4)]

    assert [text[first:last] for first, last in ranges] == ["token", "ab%63d", "%26"]


def test_a_range_of_the_deepest_reading_leads_back_to_the_first() -> None:
    text = "u=%2525zbc%25252Fd"

    *_, reading = views(text)
    start = reading.text.index("c")

    assert (reading.text, text[slice(*reading.source(start, start + 2))]) == ("u=%zbc/d", "c%25252F")
