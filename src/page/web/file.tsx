// A file: its symbols as a tree.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { held, written } from "./ask";
import { Kind, moveInList, Pending, Some, SymbolLink, Text, useAnswer } from "./parts";
import { address, type Route } from "./route";
import { number, plural } from "./text";
import type { FullSymbol } from "./types";

const MOST = 300;

interface Node extends FullSymbol {
  children: Node[];
}

interface Outline {
  file?: { path: string; language: string | null; lines: number; symbols: number; skipped: string | null; test: boolean };
  symbols?: Node[];
  imports?: { module: string; item: string | null; line: number; target: string | null }[];
  directory?: string;
}

export function File({ route }: { route: Route }): JSX.Element {
  const path = route.values.path ?? "";
  const values = useMemo(() => (path ? { path: [path] } : null), [path]);
  const answer = useAnswer<Outline>("outline", values);
  const heading = (
    <header class="symbol">
      <h1><Text of={path} /></h1>
      <p><a href={address("map", { path: path.split("/").slice(0, -1).join("/") })}>map of its directory</a></p>
    </header>
  );
  if (written && answer.state === "failed") {
    const own = held.filter((symbol) => symbol.path === path);
    return <section aria-label="File">{heading}
      <p class="note">{plural(own.length, "symbol")} of the file {own.length === 1 ? "is" : "are"} in this page</p>
      <Some items={own} most={MOST} what="symbols">{(symbol) => <><SymbolLink of={symbol} /> <Kind of={symbol.kind} /></>}</Some>
    </section>;
  }
  if (answer.state !== "there") return <section aria-label="File">{heading}<Pending of={answer} /></section>;
  const { file, symbols = [], imports = [] } = answer.answer;
  const flat: { symbol: Node; depth: number }[] = [];
  const add = (symbol: Node, depth: number) => {
    flat.push({ symbol, depth });
    symbol.children.forEach((child) => add(child, depth + 1));
  };
  symbols.forEach((symbol) => add(symbol, 0));
  return (
    <section aria-label="File">
      {heading}
      {file && <p class="note">{file.language ?? "no language"}, {plural(file.lines, "line")}, {plural(file.symbols, "symbol")}{file.test ? ", test code" : ""}{file.skipped ? `, left out: ${file.skipped}` : ""}</p>}
      <ul class="list outline" onKeyDown={moveInList}>
        {flat.slice(0, MOST).map(({ symbol, depth }, at) => (
          <li key={at} style={{ paddingInlineStart: `calc(${Math.min(depth, 8)}rem + 4px)` }}>
            <SymbolLink of={{ ...symbol, name_line: symbol.line }} /> <Kind of={symbol.kind} /> <span class="count">{symbol.line}</span>
          </li>
        ))}
      </ul>
      {flat.length > MOST && <p class="note">{number(flat.length - MOST)} more symbols are not shown</p>}
      {imports.length > 0 && (
        <details>
          <summary>{plural(imports.length, "import")}</summary>
          <Some items={imports} most={80} what="imports">
            {(one) => one.target
              ? <a href={address("file", { path: one.target })}><Text of={one.target} /></a>
              : <Text of={one.item ? `${one.module} ${one.item}` : one.module} />}
          </Some>
        </details>
      )}
    </section>
  );
}
