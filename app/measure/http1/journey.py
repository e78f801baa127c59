"""The hops of one measurement: which redirect is followed, which is not and why, and what becomes of it all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from app.errors import Phase, PolicyRefused, ProbeErrorCode, ProbeFailed, ToolError
from app.measure.http1.answer import Answer
from app.measure.http1.exchange import Exchange
from app.measure.http1.headers import Request, redirected
from app.measure.http1.hop import Hop, Talk, take
from app.measure.http1.hop_facts import facts_of
from app.measure.http1.plan import Plan
from app.measure.kind import Bench, Outcome
from app.net.phases import Phases
from app.net.visit import Visit
from policy import Target, TargetError, join_url

_WRITTEN_AS = {"http": "ws", "https": "wss"}


@dataclass(slots=True)
class Journey:
    """The hops in order; there is one from the first moment of `run`, so that there are always facts."""

    plan: Plan
    bench: Bench
    visit: Visit
    talk: Talk | None = None
    hops: list[Hop] = field(default_factory=list)
    error: dict[str, Any] | None = None

    async def run(self) -> None:
        """Take the first hop, and further ones as long as redirects are to be followed and may be."""
        request: Request | None = self.plan.request
        source = self.plan.source
        while request is not None:
            hop = self._begin(request, source)
            if not await self._take(hop):
                return
            request, source = self._next(hop)

    def interrupt(self, code: ProbeErrorCode, message: str, phase: Phase | None = None) -> None:
        """Note what stopped the journey, on the hop that it was at."""
        self.hops[-1].interrupt(code, message, phase)

    def note(self, failed: ProbeFailed) -> None:
        """Make the error of the hop that the journey is at."""
        self.hops[-1].note(failed)

    def entry(self, began_ns: int) -> dict[str, Any]:
        """The journey as one of several: when it began, whether it was answered, and how long its phases took."""
        first, last = self.hops[0], self.hops[-1]
        return {
            "at_ms": (first.phases.started_ns - began_ns) // 1000 / 1000,
            "ok": first.is_answered,
            "error": self.error or last.error,
            "http_status": last.answer.status,
            "timings": self._timings(),
        }

    def outcome(self) -> Outcome:
        """Everything that was seen; called when nothing is measured any more."""
        profile = self.bench.dialer.policy.profile
        facts = [facts_of(hop, profile, self.bench.clock) for hop in self.hops]
        data = {"kind": "http", **facts[-1], "hops": [], "samples": [], "by_address": []}
        if len(facts) > 1:
            data["timings"] = self._timings()
            data["hops"] = [{**each, "error": hop.error} for each, hop in zip(facts, self.hops, strict=True)]
            del data["hops"][-1]["body"]
        return Outcome(self.hops[0].is_answered, data, self.error or self.hops[-1].error)

    def _timings(self) -> dict[str, float | None]:
        """Those of the last hop, with the total of all."""
        total = sum(hop.phases.timings()["total_ms"] or 0 for hop in self.hops)
        return {**self.hops[-1].phases.timings(), "total_ms": round(total, 3)}

    def _begin(self, request: Request, source: str) -> Hop:
        plan = self.plan
        request = request if plan.renew is None else plan.renew(request)
        answer = Answer(plan.read_limit, plan.copy_bytes, follows=plan.follows)
        exchange = Exchange(request, answer)
        self.hops.append(Hop(request, source, exchange, Phases(self.bench.clock), number=len(self.hops)))
        return self.hops[-1]

    async def _take(self, hop: Hop) -> bool:
        """Whether the hop was made; one that was not ours to make leaves the one before it as the last."""
        try:
            await take(hop, self.bench, self.visit, self.talk)
        except ToolError as refusal:
            if hop.number == 0:
                raise
            self._go_back(_refusal(refusal, hop.request.target))
            return False
        if (
            hop.number > 0
            and hop.error is not None
            and hop.error["phase"] == "limit"
            and not hop.trace.attempts
        ):
            self.error = hop.error  # nothing was sent: the answer before is the last thing that was seen
            self._go_back(None)
            return False
        return True

    def _go_back(self, refused_by: dict[str, Any] | None) -> None:
        self.hops.pop()
        redirect = self.hops[-1].redirect or {}
        redirect.update(followed=False, refused_by=refused_by, dropped_credentials=[])

    def _next(self, hop: Hop) -> tuple[Request | None, str]:
        """The request of the next hop, or None; the redirect of this hop says which and why."""
        location, status = hop.answer.location(), hop.answer.status
        if location is None or status is None:
            return None, ""
        redirect = {"status": status, "location": location, "resolved": None, "followed": False}
        hop.redirect = {**redirect, "refused_by": None, "dropped_credentials": []}
        try:
            target = _followed(hop.request.target, location, self.plan.schemes)
        except TargetError as error:
            hop.redirect["refused_by"] = _refused(location, error.reason_code)
            return None, ""
        hop.redirect["resolved"] = target.url
        if not self.plan.follows:
            return None, ""
        following, dropped = redirected(hop.request, target, status)
        rule = self._rule_against(hop.request, following)
        if rule is not None:
            hop.redirect["refused_by"] = _refused(target.url, rule)
            return None, ""
        hop.redirect.update(followed=True, dropped_credentials=list(dropped))
        return following, location

    def _rule_against(self, request: Request, following: Request) -> str | None:
        if len(self.hops) > self.plan.max_redirects:
            return "max_redirects"
        if following.target.origin == request.target.origin:
            return None
        if following.body is not None:
            return "body_to_another_origin"  # a body holds secrets as often as a header does
        return "messages_to_another_origin" if self.plan.keeps_origin else None


def _followed(base: Target, location: str, schemes: tuple[str, ...]) -> Target:
    """Where a redirect leads. A WebSocket is asked for by an HTTP request, and so are its redirects written."""
    target = join_url(base, location, (*schemes, *_WRITTEN_AS))
    scheme = _WRITTEN_AS.get(target.scheme, target.scheme) if "ws" in schemes else target.scheme
    if scheme not in schemes:
        raise TargetError("bad_scheme", f"a redirect from {base.scheme} to {target.scheme} is not followed")
    return replace(target, scheme=scheme)


def _refusal(refusal: ToolError, target: Target) -> dict[str, Any]:
    details = (refusal.details or {}) if isinstance(refusal, PolicyRefused) else {}
    return {
        "url": details.get("url") or target.url,
        "address": details.get("address"),
        "class": details.get("class"),
        "rule": details.get("rule") or refusal.reason_code or refusal.code,
    }


def _refused(url: str, rule: str) -> dict[str, Any]:
    return {"url": url, "address": None, "class": None, "rule": rule}
