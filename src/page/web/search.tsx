// Search: the entrance. Results as one types; without words, where to begin.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { held, written } from "./ask";
import { Kind, moveInList, Pending, Place, Some, SymbolLink, Text, useAnswer } from "./parts";
import { address, type Route } from "./route";
import { number, plural, shortName } from "./text";
import type { Found, Named, Overview } from "./types";

const RESULTS = 60;

export function Search({ route }: { route: Route }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const results = useRef<HTMLDivElement>(null);
  const query = (route.values.q ?? "").trim();
  useEffect(() => field.current?.focus(), []);
  // What is typed is in the address at once: another address is of a link or of the way back.
  useLayoutEffect(() => {
    if (field.current && field.current.value.trim() !== query) field.current.value = query;
  }, [query]);
  const enter = (text: string) => {
    // One entry of the history for a search, not one a letter.
    history.replaceState(null, "", address("search", { q: text.trim() }));
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  const links = () => [...(results.current?.querySelectorAll<HTMLElement>("a[href]") ?? [])];
  return (
    <section aria-label="Search">
      <input class="search" ref={field} type="search" spellcheck={false} autocomplete="off" id="search"
        aria-label="Search symbols by name or words" placeholder="Search symbols by name or words"
        onInput={(event) => enter(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") {
            links()[0]?.focus();
            event.preventDefault();
          } else if (event.key === "Enter" && event.currentTarget.value.trim() === query) {
            links()[0]?.click();
          }
        }} />
      <div ref={results}
        onKeyDown={(event) => {
          if (event.key === "ArrowUp" && document.activeElement === links()[0]) {
            field.current?.focus();
            event.preventDefault();
          }
        }}>
        {query === "" ? <Entrance /> : written ? <HeldResults query={query} /> : <Results query={query} />}
      </div>
    </section>
  );
}

function Results({ query }: { query: string }): JSX.Element {
  const answer = useAnswer<Found>("find", { query });
  if (answer.state !== "there") return <Pending of={answer} />;
  const { symbols, total } = answer.answer;
  if (symbols.length === 0) return <p class="note" role="status">no symbol matches</p>;
  return (
    <div class={answer.isOld ? "old" : ""} aria-busy={answer.isOld}>
      <p class="note" role="status">{total.exact ? "" : "at least "}{plural(total.count, "symbol")}</p>
      <Some items={symbols} most={RESULTS} total={total.count} what="symbols">
        {(symbol) => <><SymbolLink of={symbol} /> <Kind of={symbol.kind} /> <Place path={symbol.path} line={symbol.line} /> <span class="count">{number(symbol.references)}</span></>}
      </Some>
    </div>
  );
}

/** The best of the symbols in a file: equal, then beginning, then containing, ignoring case. */
function HeldResults({ query }: { query: string }): JSX.Element {
  const wanted = query.toLowerCase();
  const rank = (symbol: Named) => {
    const name = shortName(symbol.symbol).toLowerCase();
    const last = name.slice(name.lastIndexOf(".") + 1);
    if (last === wanted || name === wanted) return 0;
    if (last.startsWith(wanted)) return 1;
    return name.includes(wanted) ? 2 : symbol.symbol.toLowerCase().includes(wanted) ? 3 : 4;
  };
  const found = held.map((symbol) => ({ symbol, rank: rank(symbol) })).filter((one) => one.rank < 4);
  found.sort((one, other) => one.rank - other.rank);
  return (
    <>
      <p class="note" role="status">{plural(found.length, "symbol")} of those in this file</p>
      <Some items={found} most={RESULTS} what="symbols">
        {({ symbol }) => <><SymbolLink of={symbol} /> <Kind of={symbol.kind} /> <Place path={symbol.path} line={symbol.line} /></>}
      </Some>
    </>
  );
}

function Entrance(): JSX.Element {
  const answer = useAnswer<Overview>("overview", {});
  if (answer.state !== "there") return <Pending of={answer} />;
  const found = answer.answer;
  return (
    <div class="columns">
      <section aria-label="Most used">
        <h2>Most used</h2>
        <Some items={found.hot_spots} most={20} what="symbols" total={Math.min(20, found.hot_spots.length)}>
          {(symbol) => <><SymbolLink of={{ ...symbol, name_line: symbol.line }} /> <Kind of={symbol.kind} /> <span class="count">{number(symbol.references)}</span></>}
        </Some>
      </section>
      <section aria-label="Entry points">
        <h2>Entry points</h2>
        <Some items={found.entry_points} most={20} total={found.entry_point_total} what="entry points">
          {(entry) => entry.symbol !== undefined
            ? <><SymbolLink of={{ ...(entry as Named), name_line: entry.line }} /> <Place path={entry.path!} /></>
            : <a href={address("file", { path: entry.file })}><Text of={entry.file ?? ""} /></a>}
        </Some>
      </section>
      <section aria-label="The repository">
        <h2>Languages</h2>
        <ul class="list">
          {found.languages.slice(0, 12).map((one) => <li key={one.name}><Text of={one.name} /> <span class="count">{plural(one.files, "file")}, {plural(one.lines, "line")}</span></li>)}
        </ul>
        <h2>Modules</h2>
        <ul class="list" onKeyDown={moveInList}>
          {found.modules.slice(0, 12).map((one) => <li key={one.path}><a href={address("map", { path: one.path })}><Text of={one.path} /></a> <span class="count">{plural(one.lines, "line")}</span></li>)}
        </ul>
        {found.cycle_total > 0 && <p><a href={address("matrix")}>{plural(found.cycle_total, "cycle")} between modules</a></p>}
        {found.changed_most.length > 0 && <>
          <h2>Changed most in a year</h2>
          <ul class="list" onKeyDown={moveInList}>
            {found.changed_most.map((one) => <li key={one.path}><a href={address("file", { path: one.path })}><Text of={one.path} /></a> <span class="count">{plural(one.recent, "commit")}</span></li>)}
          </ul>
        </>}
      </section>
    </div>
  );
}
