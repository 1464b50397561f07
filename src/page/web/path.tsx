// A path: how one symbol reaches another along calls.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Field, Kind, Pending, Place, Some, SymbolLink, Text, useAnswer } from "./parts";
import { address, go, type Route } from "./route";
import { plural } from "./text";
import type { Trace } from "./types";

export function Path({ route }: { route: Route }): JSX.Element {
  const { from = "", to = "" } = route.values;
  const values = useMemo(() => (from && to ? { symbol: [from], to } : null), [from, to]);
  const answer = useAnswer<Trace>("trace", values);
  return (
    <section aria-label="Path">
      <header class="symbol">
        <h1>Path</h1>
        <div class="fields">
          <Field id="from" label="From" value={from} onEnter={(value) => go(address("path", { from: value, to }))} />
          <Field id="to" label="To" value={to} onEnter={(value) => go(address("path", { from, to: value }))} />
        </div>
      </header>
      {values === null
        ? <p class="note">Name both ends, as <code>name</code>, <code>Class.method</code> or <code>path::name</code>.</p>
        : answer.state === "there" ? <Result of={answer.answer} /> : <Pending of={answer} />}
    </section>
  );
}

function Result({ of }: { of: Trace }): JSX.Element {
  if (of.path) {
    const [first, ...steps] = of.path;
    return (
      <>
        <p class="status" role="status">{plural(steps.length, "call")}</p>
        <ol class="path">
          {first && <li><SymbolLink of={first.symbol} /> <Kind of={first.symbol.kind} /> <Place path={first.symbol.path} line={first.symbol.line} /></li>}
          {steps.map((step, at) => (
            <li key={at} class={`c-${step.certainty}`}>
              <span class="note">{step.link === "sites" ? "calls" : `by ${step.link}`}{step.certainty !== "certain" && `, ${step.certainty}`}, at {step.sites.slice(0, 5).map((site) => site.line).join(", ")}</span>
              <br /><SymbolLink of={step.symbol} /> <Kind of={step.symbol.kind} /> <Place path={step.symbol.path} line={step.symbol.line} />
            </li>
          ))}
        </ol>
      </>
    );
  }
  const none = of.no_path;
  if (!none) return <p class="note">The names have several meanings: say which, as <code>path::name</code>.</p>;
  return (
    <>
      <p class="status" role="status">
        No path along known calls: {plural(none.visited, "symbol")} visited{none.exhausted ? ", all that can be reached" : ", not all that can be reached"}.
        {none.not_followed > 0 && ` ${plural(none.not_followed, "call")} of them without a known target.`}
      </p>
      {none.first.length > 0 && <h2>Calls without a known target, nearest first</h2>}
      <Some items={none.first} most={20} total={none.not_followed} what="calls">
        {(site) => <><span class={`v-${site.verdict}`}><Text of={site.name} /></span> <a href={address("symbol", { symbol: `${site.path}:${site.line}` })}><Place path={site.path} line={site.line} /></a></>}
      </Some>
    </>
  );
}
