"""One look at a text with every detector and in every reading of it."""

from __future__ import annotations

from collections.abc import Sequence

from app.redact.headers import header_lines
from app.redact.markup import apart_values
from app.redact.pairs import named_values
from app.redact.pem import private_keys
from app.redact.shapes import provider_tokens, scheme_credentials, web_tokens
from app.redact.spans import Detector, Span, hide_masks, outside_masks, united
from app.redact.urls import userinfo
from app.redact.views import views

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


def secrets_of(text: str, extra: Sequence[Detector] = ()) -> list[Span]:
    """Where the secrets of a text stand: disjoint, in order, never inside a mask; `extra` knows this text's role."""
    hidden = hide_masks(text)
    spans: list[Span] = []
    for view in views(hidden):
        for detector in (*extra, *DETECTORS):
            for span in detector(view.text):
                if span.start < span.end:
                    start, end = view.source(span.start, span.end)
                    spans.append(Span(start, end, span.kind, span.secret))
    return list(outside_masks(united(spans), hidden))
