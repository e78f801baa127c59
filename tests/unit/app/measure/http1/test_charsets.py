"""Every honoured label leads to a codec that turns bytes into text."""

from __future__ import annotations

import codecs

import pytest

from app.measure.http1.charsets import CHARSETS


@pytest.mark.parametrize("codec", sorted(set(CHARSETS.values())))
def test_a_codec_of_the_table_reads_any_bytes_as_text(codec: str) -> None:
    decoder = codecs.getincrementaldecoder(codec)("replace")

    assert isinstance(decoder.decode(bytes(range(256)), final=True), str)


def test_labels_are_written_as_they_are_looked_up() -> None:
    assert [label for label in CHARSETS if label != label.lower().replace("_", "-")] == []
