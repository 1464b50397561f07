"""What an answer says of the state of the files that it speaks of, by its first line."""
import re
from dataclasses import dataclass

from world import Answer

FRESH, RESERVED, STALE, FIRST, REPORT, UNKNOWN = "fresh", "reserved", "stale", "first index", "report", "unknown"

REASON = re.compile(r"\bstale: (?:all files|[\d,]+ files?) (?P<how>pending|not indexed)(?: \(.*?\)(?=: |; | · |$))?(?:: (?P<why>.*))?")
FIRST_INDEX = re.compile(r"is being indexed for the first time \((?P<why>[^)]+)")
# What a server may say in place of an answer, whatever it knows.
BUSY = re.compile(r"\bbusy\b|took (?:too long|longer)|did not (?:end|finish)|deadline|is closing|ask again", re.IGNORECASE)
NO_SPACE = re.compile(r"\bspace\b|\bfull\b|too large|limit", re.IGNORECASE)


@dataclass(frozen=True)
class Judgement:
    """The state that an answer claims, with the reason if it is behind."""

    state: str
    reason: str = ""
    failed: bool = False  # it is behind because a run has failed
    waits: bool = False  # the next run is not yet due: the failure may be as old as the longest pause
    wrong: str = ""  # what may not be said like that

    @property
    def kind(self) -> str:
        """The reason without what differs from answer to answer."""
        text = re.sub(r"\S*/\S*", "PATH", self.reason)
        return re.sub(r"\d[\d,.]*", "N", text).partition(" (")[0][:70]


def judge(answer: Answer) -> Judgement:
    """Reads the first line."""
    head, meta = answer.text.partition("\n")[0], str(answer.meta.get("stale") or "")
    if found := REASON.search(head):
        why = (found["why"] or "").strip()
        failed, wrong = found["how"] == "not indexed", "" if why else "stale without a reason"
        return Judgement(STALE, f"{found['how']}: {why}", failed, "next attempt in" in why, wrong)
    if found := FIRST_INDEX.search(answer.text):
        return Judgement(FIRST, found["why"])
    if meta:
        wrong = "" if answer.error else "the first line does not say that the answer is stale"
        return Judgement(STALE, meta, "not indexed" in meta, "next attempt in" in meta, wrong)
    if "stale" in head and not answer.error and "generation" in head:
        return Judgement(STALE, head, wrong="stale in other words")
    if "up to date by what was reported" in head or re.search(r"files as .* shows them here", head):
        return Judgement(RESERVED)
    if re.search(r"\bup to date\b", head):
        return Judgement(FRESH)
    if answer.error:
        return Judgement(REPORT, head[:160], wrong="" if BUSY.search(answer.text) else "an error in place of an answer")
    return Judgement(UNKNOWN, head[:160], wrong="the first line says nothing of the files")
