"""Scores candidate call edges against the truth: unique (caller, callee) pairs, right, wrong, missed or neutral.

  TP       the pair is true
  neutral  neither right nor wrong, left out of precision:
    ref       the truth has the pair as a reference that is no call (a function used as a value, a macro, an element)
    type      the callee is a struct, variant or type where constructing or converting is no call
    override  the callee overrides the caller, or the other way round
    dispatch  the caller calls a method of that name up or down the hierarchy from the candidate's callee
    attrib    the pair is true for a function nested in the caller, or around it
    unknown   the front end could not decide a call of that name in the caller, or found a variable there
    alias     on the candidate's line a variable, parameter or attribute of another name is called, and the front end stops there:
              `cls(..)`, `self.klass(..)`, `send = signal.send; send(..)` (where the truth distinguishes them: the second set)
  skipped  the file is not covered, the caller is no function, the code was not compiled
  FP       everything else
  FN       a required pair that was not found; calls of what has no body, out of macros and implicit ones are not required
"""

import collections

from truth import CALLABLE, TYPE_WITH_CONSTRUCTOR, bare_name

NEUTRAL = ("ref", "type", "override", "dispatch", "attrib", "unknown", "alias")

# One candidate pair: its class, the first row that claimed it, why, and the (verdict, step) of every row that did.
Scored = collections.namedtuple("Scored", "outcome row note steps")


def rates(tp, fp, found, required):
    """Precision, recall and F1 with the counts they are made of."""
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = found / required if required else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"tp": tp, "fp": fp, "found": found, "required": required, "precision": precision, "recall": recall, "f1": f1}


class Score:
    """The outcome for one project. `pairs` maps each candidate pair to its `Scored`."""

    def __init__(self, truth, candidates):
        self.truth = truth
        self.pairs = {}
        self.skipped = collections.Counter()
        for row in candidates:
            self._judge(row)
        self.found = {key for key, scored in self.pairs.items() if scored.outcome == "TP"}
        for group in truth.groups:
            if self.found & group:
                self.found |= group

    def _judge(self, row):
        truth = self.truth
        if row.get("kind") in ("ref", "jsx", "macro") or row.get("module") or row.get("caller_name") == "<module>":
            return
        for end in ("caller", "callee"):
            if row[end + "_file"] not in truth.covered:
                self.skipped[f"{end} file not covered"] += 1
                return
        named = truth.find(row["caller_file"], row["caller_name"], row.get("caller_line"))
        callers = [truth.body(found)["id"] for found in named if found["kind"] in CALLABLE]
        if not named and truth.language in ("javascript", "typescript"):
            # A test with a title is an unnamed function of the truth: its calls belong to the function around it.
            callers = truth.enclosing(row["caller_file"], row.get("caller_line"))
        if not callers:
            self.skipped["caller is no function of the truth"] += 1
            return
        if all(truth.definitions[caller].get("inactive") for caller in callers):
            self.skipped["caller was not compiled"] += 1
            return
        callees = truth.find(row["callee_file"], row["callee_name"], row.get("callee_line"))
        if not callees:
            names = set().union(*(truth.undecided[caller] | truth.variables[caller] for caller in callers))
            undecided = bare_name(row["callee_name"]) in names
            key = callers[0], ("?", row["callee_file"], row["callee_name"], row.get("callee_line"))
            self._add(key, "unknown" if undecided else "FP", row, "callee is no function or class of the truth")
            return
        if all(truth.body(callee).get("inactive") for callee in callees):
            self.skipped["callee was not compiled"] += 1
            return
        keys = [(caller, truth.canonical(callee)["id"]) for caller in callers for callee in callees]
        right = next((key for key in keys if key in truth.pairs), None)
        if right:
            self._add(right, "TP", row, "")
        else:
            callee = truth.body(callees[0])
            outcome = self._neutral(keys[0], callee) or ("alias" if self._by_another_name(keys[0][0], callee, row) else "FP")
            self._add(keys[0], outcome, row, callee["kind"])

    def _add(self, key, outcome, row, note):
        scored = self.pairs.setdefault(key, Scored(outcome, row, note, set()))
        scored.steps.add((row.get("verdict", "-"), row.get("step", "-")))

    def _by_another_name(self, caller, callee, row):
        """Whether the line calls something of another name, where the front end stops, and no callee of this name."""
        called, decided = self.truth.aliases[caller].get(row.get("site_line"), ((), ()))
        return callee["name"] not in decided and any(name != callee["name"] for name in called)

    def _neutral(self, key, callee):
        """Why a pair that is not true is not wrong either, if there is a reason."""
        truth = self.truth
        caller, target = key
        name = callee["name"]
        if key in truth.references or callee["kind"] == "macro":
            return "ref"
        if truth.language in ("rust", "go") and callee["kind"] in TYPE_WITH_CONSTRUCTOR + ("variant", "trait", "impl"):
            return "type"
        if name == truth.definitions[caller]["name"] and caller != target and truth.related(caller, callee["id"]):
            return "override"
        for called in truth.callees_by_name[caller].get(name, ()):
            abstract = truth.pairs[caller, called].abstract and callee["kind"] == "method"
            if called == target or truth.related(called, callee["id"]) or abstract:
                return "dispatch"
        if any((other, target) in truth.pairs for other in truth.around(caller)):
            return "attrib"
        parent = truth.parent(callee)
        if name in truth.undecided[caller] or (callee["kind"] == "ctor" and parent and parent["name"] in truth.undecided[caller]):
            return "unknown"
        return None

    def counts(self, where="all"):
        """(TP, FP, found, required) of all pairs, or of those within one file or between two (`same`, `cross`)."""

        def wanted(key):
            edge = self.truth.pairs[key].edge if key in self.truth.pairs else self.pairs[key].row
            return where == "all" or (edge["caller_file"] == edge["callee_file"]) == (where == "same")

        outcomes = collections.Counter(scored.outcome for key, scored in self.pairs.items() if wanted(key))
        required = [key for key in self.truth.required if wanted(key)]
        return outcomes["TP"], outcomes["FP"], sum(key in self.found for key in required), len(required)

    def proven(self):
        """(TP, FP) of the pairs that a proven edge claims."""
        return self.claimed("resolved")

    def claimed(self, wanted):
        """(TP, FP) of the pairs that an edge of a verdict claims."""
        outcomes = [scored.outcome for scored in self.pairs.values() if any(verdict == wanted for verdict, _ in scored.steps)]
        return outcomes.count("TP"), outcomes.count("FP")

    def neutral(self):
        """How many pairs are neutral, by reason."""
        outcomes = collections.Counter(scored.outcome for scored in self.pairs.values())
        return {reason: outcomes[reason] for reason in NEUTRAL if outcomes[reason]}

    def by_step(self):
        """{(verdict, step): Counter of TP, FP and neutral}. A pair that several steps found counts for each."""
        table = collections.defaultdict(collections.Counter)
        for scored in self.pairs.values():
            for step in scored.steps:
                table[step][scored.outcome if scored.outcome in ("TP", "FP") else "neutral"] += 1
        return table

    def false_positives(self):
        """`Scored` of every wrong pair."""
        return [scored for _, scored in sorted(self.pairs.items(), key=lambda item: str(item[0])) if scored.outcome == "FP"]

    def false_negatives(self):
        """The truth's edge of every required pair that was not found."""
        missed = [self.truth.pairs[key].edge for key in self.truth.required - self.found]
        return sorted(missed, key=lambda edge: (edge["caller_file"], edge["site_line"], edge["callee_name"]))
