// A symbol: callers | source | callees. Colours and underlines say how sure each edge is.
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Kind, moveInList, Pending, Place, Some, SymbolLink, Text, useAnswer } from "./parts";
import { address, type Route } from "./route";
import { fileName, number, plural, position, shortName, visible } from "./text";
import type { Around, Counts, Neighbour, Neighbours, SourceSite } from "./types";

const LISTED = 36;
/** Sites that stand in the source as links. */
const MARKED = 250;
/** Lines that the browser lays out together, once they are near of what is seen. */
const BLOCK = 30;

export function Symbol({ route }: { route: Route }): JSX.Element {
  const { symbol, line } = route.values;
  const values = useMemo(
    () => (symbol ? { symbol, ...(line ? { line: Number(line) } : {}) } : null),
    [symbol, line],
  );
  const answer = useAnswer<Around>("around", values);
  const heading = useRef<HTMLHeadingElement>(null);
  const found = answer.state === "there" ? answer.answer : null;
  useEffect(() => heading.current?.focus(), [found]);
  if (values === null) return <p class="note">No symbol is named: <a href={address("search")}>search one</a></p>;
  if (found === null) return <Pending of={answer} />;
  const of = found.symbol;
  return (
    <section key={`${of.symbol} ${of.line}`} aria-label={`Symbol ${visible(of.name)}`} onKeyDown={moveBetweenColumns}>
      <header class="symbol">
        <h1 tabIndex={-1} ref={heading}><Text of={shortName(of.symbol)} /> <Kind of={of.kind} /></h1>
        <p>
          <a href={address("file", { path: of.path })}><Place path={of.path} line={of.line} /></a>
          <span class="note"> · {plural(of.references, "reference")}{of.flags.length > 0 && ` · ${of.flags.join(", ")}`}</span>
          {" · "}<a href={address("path", { from: of.symbol })}>path from here</a>
          {" · "}<a href={address("change", { change: of.symbol })}>what a change affects</a>
        </p>
        {found.namesake_total > 0 && (
          <details>
            <summary>{plural(found.namesake_total, "other symbol")} of this name</summary>
            <Some items={found.namesakes} most={10} total={found.namesake_total} what="symbols">
              {(other) => <><SymbolLink of={other} short={false} /> <Kind of={other.kind} /></>}
            </Some>
          </details>
        )}
        {found.related.length > 0 && (
          <details>
            <summary>{plural(found.related.length, "related symbol")}</summary>
            <Some items={found.related} most={20} what="symbols">
              {(one) => <><span class="note">{one.incoming ? `${one.kind}, by` : one.kind}</span> <SymbolLink of={one.symbol} short={false} /></>}
            </Some>
          </details>
        )}
      </header>
      <div class="around">
        <Column title="Callers" of={found.callers} />
        <SourceText of={found} />
        <Column title="Callees" of={found.callees} />
      </div>
      <Legend />
    </section>
  );
}

/** Left and right move the focus between callers, source and callees. */
function moveBetweenColumns(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  const columns = [...event.currentTarget.querySelectorAll<HTMLElement>(".around > section")];
  const own = columns.findIndex((column) => column.contains(document.activeElement));
  const next = step === 0 ? undefined : own < 0 ? columns[step > 0 ? 2 : 0] : columns[own + step];
  const target = next && (next.querySelector<HTMLElement>("a[href], button") ?? next);
  if (target) {
    target.focus();
    event.preventDefault();
  }
}

function Column({ title, of }: { title: string; of: Neighbours }): JSX.Element {
  const isUp = title === "Callers";
  return (
    <section aria-label={title} class="column" tabIndex={-1}>
      <h2>{title} <span class="count">{of.total.exact ? "" : "≥ "}{number(of.total.count)}</span></h2>
      <Some items={of.nodes} most={LISTED} total={of.total.count} what={title.toLowerCase()}>
        {(node) => <Node of={node} />}
      </Some>
      <Others counts={of.counts} isUp={isUp} />
      {isUp && of.other_uses > 0 && <p class="note">{of.total.exact ? "" : "at least "}{plural(of.other_uses, "use")} that {of.other_uses === 1 ? "is" : "are"} no call</p>}
      {of.not_followed.length > 0 && (
        <details>
          <summary>Sites without one known target</summary>
          <Some items={of.not_followed} most={8} what="sites">
            {(site) => <span class={`v-${site.verdict}`} title={site.step}><Text of={site.name} /> <Place path={fileName(site.path)} line={site.line} /></span>}
          </Some>
        </details>
      )}
    </section>
  );
}

function Others({ counts, isUp }: { counts: Counts; isUp: boolean }): JSX.Element | null {
  const parts = [
    counts.possible > 0 && `${number(counts.possible)} possible`,
    counts.textual > 0 && `${number(counts.textual)} ${isUp ? "of the name alone" : "unknown"}`,
  ].filter(Boolean);
  return parts.length > 0 ? <p class="note">not followed: {parts.join(", ")}</p> : null;
}

function Node({ of }: { of: Neighbour }): JSX.Element {
  const { symbol, file, external } = of.end;
  const sites = of.sites.slice(0, 3).map((site) => site.line).join(", ");
  const more = of.site_total - Math.min(3, of.sites.length);
  const source = of.sites[0]?.source;
  return (
    <div class={`node c-${of.certainty}`}>
      {symbol && <SymbolLink of={symbol} title={visible(symbol.symbol)} />}
      {file !== undefined && <a class="name" href={address("file", { path: file })}><Text of={file} /></a>}
      {external !== undefined && <span class="name v-external"><Text of={external} /></span>}
      {of.link !== "sites" && <span class="note"> by {of.link}</span>}
      {of.test && <span class="note"> test</span>}
      {of.certainty !== "certain" && <span class="note"> {of.certainty}</span>}
      <div class="place"><Text of={`${fileName((symbol?.path ?? of.sites[0]?.path) || "")}:${sites}`} />{more > 0 && ` +${more}`}</div>
      {source !== undefined && <code class="snippet"><Text of={source} /></code>}
    </div>
  );
}

function SourceText({ of }: { of: Around }): JSX.Element {
  const [chosen, setChosen] = useState<SourceSite | null>(null);
  const { lines, more } = useMemo(() => marked(of), [of]);
  const { source } = of;
  if (source.error) return <section aria-label="Source" class="column"><p class="problem">{visible(source.error)}</p></section>;
  const last = source.first_line + source.lines.length - 1;
  return (
    <section aria-label="Source" class="source" tabIndex={-1}>
      <h2>Source {source.stale && <span class="problem">the file has changed since</span>}</h2>
      <div class="code" role="group" aria-label="Source, sites are links" onKeyDown={moveInList}>
        {blocks(source.lines.length).map((first) => (
          <div class="block" key={first}>
            {source.lines.slice(first, first + BLOCK).map((text, at) => (
              <div class="line" key={at} data-line={source.first_line + first + at}>
                <Line text={text} sites={lines.get(source.first_line + first + at) ?? []} choose={setChosen} chosen={chosen} />
              </div>
            ))}
          </div>
        ))}
      </div>
      {last < of.symbol.end_line && <p class="note">{plural(of.symbol.end_line - last, "more line")} not shown</p>}
      {more > 0 && <p class="note">{plural(more, "site")} not marked</p>}
      {chosen && <Details of={chosen} />}
    </section>
  );
}

/** The first line of each block. */
function blocks(lines: number): number[] {
  return Array.from({ length: Math.ceil(lines / BLOCK) }, (_, at) => at * BLOCK);
}

/** The sites by line, without those that mean something inside of the symbol itself; and how many do not fit. */
function marked(of: Around): { lines: Map<number, SourceSite[]>; more: number } {
  const lines = new Map<number, SourceSite[]>();
  const { path, line, end_line: end } = of.symbol;
  const isOwn = (site: SourceSite) => site.targets.length > 0 && site.targets.every((target) =>
    target.path === path && target.line > line && target.line <= end);
  const sites = of.sites.filter((site) => !isOwn(site));
  for (const site of sites.slice(0, MARKED)) {
    lines.set(site.line, [...(lines.get(site.line) ?? []), site]);
  }
  return { lines, more: Math.max(0, sites.length - MARKED) + of.site_total - of.sites.length };
}

function Line({ text, sites, choose, chosen }: {
  text: string;
  sites: SourceSite[];
  choose: (site: SourceSite) => void;
  chosen: SourceSite | null;
}): JSX.Element {
  if (sites.length === 0) return <bdi>{visible(text) || "\u00a0"}</bdi>;
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const site of sites) {
    const start = position(text, site.column);
    // A site that the text does not show: of a macro, or of a file that has changed.
    if (start < at || text.slice(start, start + site.name.length) !== site.name) continue;
    if (start > at) parts.push(visible(text.slice(at, start)));
    parts.push(
      <button type="button" class={`site v-${site.verdict}`} aria-label={`${visible(site.name)}: ${site.kind}, ${site.verdict}`}
        aria-pressed={chosen === site} onClick={() => choose(site)}>{visible(site.name)}</button>,
    );
    at = start + site.name.length;
  }
  parts.push(visible(text.slice(at)));
  return <bdi>{parts}</bdi>;
}

function Details({ of }: { of: SourceSite }): JSX.Element {
  return (
    <div class="details" role="status">
      <b class={`v-${of.verdict}`}><Text of={of.name} /></b> line {of.line}: {of.kind}, {of.verdict} <span class="note">({of.step})</span>
      {of.external !== null && <p>outside of the repository: <Text of={of.external} /></p>}
      {of.targets.length > 0 && (
        <Some items={of.targets} most={5} total={of.total} what="targets">
          {(target) => <><SymbolLink of={target} short={false} /> <Kind of={target.kind} /></>}
        </Some>
      )}
    </div>
  );
}

function Legend(): JSX.Element {
  return (
    <p class="legend note">
      {["resolved", "likely", "possible", "ambiguous", "external", "unresolved"].map((word) => <span key={word} class={`site v-${word}`}>{word}</span>)}
    </p>
  );
}
