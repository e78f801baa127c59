"""Secrets whose name and value are apart."""

from __future__ import annotations

import pytest

from app.redact.markup import apart_values

APART = {
    "an input": ('<input name="password" type=text value="s3">', ["s3"]),
    "an input in single quotes": ("<INPUT NAME='csrf_token' VALUE='s\"3'>", ['s"3']),
    "a meta element": ('<meta name="csrf-token" content="s3">', ["s3"]),
    "an element": ("<a><Password>s3</Password></a>", ["s3"]),
    "an element with attributes": ('<ns:secret a="b">s3</ns:secret>', ["s3"]),
    "a part of a form": ('form-data; name="password"\r\n\r\ns3\r\n--b', ["s3"]),
    "a part with its own type": ('form-data; name=token; x="y"\nContent-Type: text/plain\n\ns3\n--b', ["s3"]),
    "a named pair": ('{"name": "X-Api-Key", "value": "s3"}', ["s3"]),
    "a named pair with a scheme": ('{"key":"Authorization","value":"Bearer s3"}', ["s3"]),
    "an input whose value is first": ('<input value="s3" type=text name="password">', ["s3"]),
    "a named pair whose value is first": ('{"value": "s\\"3", "name": "X-Api-Key"}', ['s\\"3']),
    "the user of curl": ("curl -s -u admin:s3 'http://h/'", ["s3"]),
    "the user of curl in quotes": ("$ curl --user 'a:s3' --proxy-user=b:s4", ["s3", "s4"]),
    "an option": ("tool --password s3cret --verbose", ["s3cret"]),
}


@pytest.mark.parametrize(("text", "secrets"), APART.values(), ids=APART)
def test_a_value_apart_from_its_name_is_found(text: str, secrets: list[str]) -> None:
    assert [text[span.start : span.end] for span in apart_values(text)] == secrets


@pytest.mark.parametrize(
    "text",
    [
        '<input name="user" value="x">',
        '<input value="x" name="user"><a id="token">',
        '{"value": "x"}, {"name": "password"}',
        "docker run -u 1000:1000 x",
        "curl -o x http://h:80/",
        "<name>x</name>",
        'form-data; name="file"\r\n\r\nx',
        '{"name": "code", "value": "x1"}',
        "--password is required",
        "--verbose s3cret",
        "--password --force",
        '{"name": "Host", "value": "x"}',
        "--code a1B2",
    ],
)
def test_a_value_of_another_name_is_left_alone(text: str) -> None:
    assert list(apart_values(text)) == []
