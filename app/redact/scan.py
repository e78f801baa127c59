"""One look at a text with every detector and in every reading of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.redact.headers import header_lines
from app.redact.markup import apart_values
from app.redact.names import may_announce
from app.redact.pairs import named_values
from app.redact.pem import private_keys
from app.redact.shapes import may_be_token, provider_tokens, scheme_credentials, web_tokens
from app.redact.spans import Detector, Span, hide_masks, outside_masks, united
from app.redact.urls import userinfo
from app.redact.views import View, views

DETECTORS: tuple[Detector, ...] = (
    private_keys,
    userinfo,
    header_lines,
    named_values,
    apart_values,
    web_tokens,
    provider_tokens,
    scheme_credentials,
)


# Longer texts are worth the whole look at once; facts of ours are mostly short words and figures.
_SHORT = 2048
_MARKS = re.compile(r"[%\\&@]|-----|eyJ")


def secrets_of(text: str, extra: Sequence[Detector] = ()) -> list[Span]:
    """Where the secrets of a text stand: disjoint, in order, never inside a mask; `extra` knows this text's role."""
    hidden = hide_masks(text)
    detectors: Sequence[Detector] = extra
    readings: Iterable[View] = (View(hidden),)
    if may_hold(hidden):
        detectors, readings = (*extra, *DETECTORS), views(hidden)
    spans: list[Span] = []
    for view in readings:
        for detector in detectors:
            for span in detector(view.text):
                if span.start < span.end:
                    start, end = view.source(span.start, span.end)
                    spans.append(Span(start, end, span.kind, span.secret))
    return list(outside_masks(united(spans), hidden)) if spans else []


def may_hold(text: str) -> bool:
    """Whether any detector could find anything: False is certain, and most short texts are settled by it."""
    if len(text) > _SHORT or _MARKS.search(text):
        return True
    return may_announce(text) or may_be_token(text)
