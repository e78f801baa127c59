"""Subscriptions, which acknowledge and stay silent."""

from __future__ import annotations

import json

from app.mcp.subscriptions import SUBSCRIPTION, Subscriptions


def test_a_subscription_is_acknowledged_with_nothing_honoured() -> None:
    open_ = Subscriptions()

    assert json.loads(open_.begin("a")) == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {SUBSCRIPTION: "a"}, "notifications": {}},
    }
    assert ("a" in open_, "b" in open_) == (True, False)


def test_each_is_ended_by_its_result_and_its_cancellation_once() -> None:
    open_ = Subscriptions()
    open_.begin(10)

    assert [json.loads(line) for line in open_.end(b'{"s":1}', shared=True)] == [
        {
            "jsonrpc": "2.0",
            "id": 10,
            "result": {"resultType": "complete", "_meta": {SUBSCRIPTION: 10, "s": 1}},
        },
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 10, "reason": "The server is going away"},
        },
    ]
    assert open_.end(b'{"s":1}', shared=True) == []


def test_nothing_more_is_said_about_a_cancelled_one() -> None:
    open_ = Subscriptions()
    open_.begin(1)
    open_.discard(1)
    open_.discard("never")

    assert open_.end(b'{"s":1}', shared=True) == []


def test_on_a_channel_of_its_own_the_result_is_the_end() -> None:
    open_ = Subscriptions()
    open_.begin("a")

    assert len(open_) == 1
    assert [json.loads(line)["id"] for line in open_.end(b'{"s":1}', shared=False)] == ["a"]
    assert len(open_) == 0
