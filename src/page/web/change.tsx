// A change: its symbols, what it breaks, what depends on it, which tests to run.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Values } from "./ask";
import { Field, Kind, Pending, Place, Some, Text, useAnswer } from "./parts";
import { address, go, type Route } from "./route";
import { plural } from "./text";
import type { Impact } from "./types";

const MOST = 60;

/** The address of a line: the page shows the symbol around it. */
function at(path: string, line: number): string {
  return address("symbol", { symbol: `${path}:${line}` });
}

export function Change({ route }: { route: Route }): JSX.Element {
  const change = route.values.change ?? "";
  const values = useMemo((): Values => (change ? { symbol: [change] } : {}), [change]);
  const answer = useAnswer<Impact>("impact", values);
  return (
    <section aria-label="Change">
      <header class="symbol">
        <h1>Change</h1>
        <Field id="change" label="Revision, range A..B, or symbol; empty for uncommitted changes" value={change}
          onEnter={(value) => go(address("change", { change: value }))} />
      </header>
      {answer.state === "there" ? <Result of={answer.answer} /> : <Pending of={answer} />}
    </section>
  );
}

function Result({ of }: { of: Impact }): JSX.Element {
  const changed = of.changed.filter((one) => one !== null);
  return (
    <>
      <p class="status" role="status">
        {of.between && <><Text of={of.between} />: </>}
        {of.files.length > 0 && `${plural(of.files.length, "file")}, `}{plural(changed.length, "symbol")}, {plural(of.breaks.length, "break")}, {plural(of.dependents.length, "dependent")}, {plural(of.tests.length, "test")}
      </p>
      {of.unknown.length > 0 && <Some items={of.unknown} most={10} what="notes">{(note) => <span class="note"><Text of={note} /></span>}</Some>}
      <div class="columns">
        <section aria-label="Changed symbols">
          <h2>Changed</h2>
          <Some items={changed} most={MOST} what="symbols">
            {(one) => <><a class="name" href={at(one.path, one.line)}><Text of={one.name} /></a> <Kind of={one.kind} /> <span class="note">{one.change}</span> <Place path={one.path} line={one.line} /></>}
          </Some>
          <h2>Breaks</h2>
          {of.breaks.length === 0 && <p class="note">none that is known</p>}
          <Some items={of.breaks} most={MOST} what="breaks">
            {(one) => <><a href={at(one.path, one.line)}><Place path={one.path} line={one.line} /></a> <b class={`c-${one.certainty}`}>{one.kind}</b> <Text of={one.reason} /></>}
          </Some>
        </section>
        <section aria-label="Dependents">
          <h2>Dependents</h2>
          <Some items={of.dependents} most={MOST} what="dependents">
            {(one) => <><span class="count">{one.distance}</span> <a class="name" href={at(one.path, one.line)}><Text of={one.symbol ?? one.path} /></a> <Place path={one.path} line={one.line} />{one.certainty !== "certain" && <span class="note"> {one.certainty}</span>}</>}
          </Some>
        </section>
        <section aria-label="Tests">
          <h2>Tests, best first</h2>
          <Some items={of.tests} most={MOST} what="tests">
            {(one) => <><a class="name" href={at(one.path, one.line)}><Text of={one.name} /></a> <span class="note">{one.class}</span> <Place path={one.path} line={one.line} /></>}
          </Some>
          {of.commands.length > 0 && <h2>Run</h2>}
          <Some items={of.commands} most={20} what="commands">{(one) => <code class="command"><Text of={one.line} /></code>}</Some>
        </section>
      </div>
    </>
  );
}
