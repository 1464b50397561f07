// Dependency matrix: rows use columns. The program orders it, so that what stands below the diagonal closes a cycle.
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Trail } from "./map";
import { direction, Pending, Some, Text, useAnswer } from "./parts";
import { address, go, type Route } from "./route";
import { number, plural, visible } from "./text";
import type { Matrix as Found, Uses } from "./types";

const CELL = 16;
const NAME = 230;
const NARROW = "(max-width: 700px)";
const HEAD = 34;

export function Matrix({ route }: { route: Route }): JSX.Element {
  const path = route.values.path ?? "";
  const depth = Number(route.values.depth ?? 0);
  const tests = route.values.tests;
  const values = useMemo(() => ({ ...(path ? { path } : {}), ...(depth > 0 ? { depth } : {}), ...(tests ? { tests: true } : {}) }), [path, depth, tests]);
  const answer = useAnswer<Found>("matrix", values);
  const { from, to } = route.values;
  return (
    <section aria-label="Dependency matrix">
      <header class="symbol">
        <h1>Dependency matrix</h1>
        <Trail view="matrix" path={path} more={{ tests }} />
        <p>
          <a href={address("map", { path })}>module map</a>
          {" · "}<a href={address("matrix", { path, depth: depth || undefined, tests: tests ? undefined : 1 })}>{tests ? "without" : "with"} test code</a>
          {answer.state === "there" && answer.answer.depth > 0 && <>
            {" · "}{answer.answer.depth > 1 && <><a href={address("matrix", { path, depth: answer.answer.depth - 1, tests })}>coarser</a> · </>}
            <a href={address("matrix", { path, depth: answer.answer.depth + 1, tests })}>finer</a>
          </>}
        </p>
      </header>
      {answer.state === "there" ? <Table key={`${answer.answer.path} ${answer.answer.depth}`} of={answer.answer} tests={tests} from={from} to={to} /> : <Pending of={answer} />}
      {answer.state === "there" && from && to && <Behind values={{ ...values, from, to }} />}
    </section>
  );
}

function Table({ of, tests, from, to }: { of: Found; tests?: string; from?: string; to?: string }): JSX.Element {
  const [shown, setShown] = useState<number | null>(null);
  const inCycles = of.cells.filter((cell) => cell.in_cycle).length;
  const cell = shown === null ? undefined : of.cells[shown];
  // See the map.
  const grid = useMemo(() => <Grid of={of} tests={tests} from={from} to={to} onShow={setShown} />, [of, from, to]);
  const left = of.module_total - of.modules.length;
  return (
    <>
      <p class="status" role="status">{cell ? described(of, cell) : `${plural(of.modules.length, of.depth === 0 ? "file" : "module")}, ${plural(of.cell_total, "dependency", "dependencies")}, ${plural(of.cycles, "cycle")}`}</p>
      {(left > 0 || of.cell_total > of.cells.length) && (
        <p class="note">not shown: {[left > 0 && plural(left, "module"), of.cell_total > of.cells.length && plural(of.cell_total - of.cells.length, "dependency", "dependencies")].filter(Boolean).join(", ")}, with the fewest sites</p>
      )}
      <div class="scroll" tabIndex={-1}>{grid}</div>
      <p class="note">A row uses the columns with a mark, the darker the more sites. {inCycles > 0 && "Red with a corner: the dependency is part of a cycle; a frame is around the modules of one. "}{tests && "Dependencies of tests alone are pale."}</p>
    </>
  );
}

type Cell = Found["cells"][number];

function described(of: Found, cell: Cell): string {
  const [from, to] = [of.modules[cell.from]!.path, of.modules[cell.to]!.path];
  const tests = cell.production === 0 ? ", by tests alone" : "";
  return visible(`${from} uses ${to}: ${plural(cell.sites, "site")}${tests}${cell.in_cycle ? `, in cycle ${of.modules[cell.from]!.cycle! + 1}` : ""}`);
}

/** The first and the last row of each cycle. */
function frames(of: Found): [number, number][] {
  const found = new globalThis.Map<number, [number, number]>();
  of.modules.forEach((module, at) => {
    if (module.cycle !== null) found.set(module.cycle, [found.get(module.cycle)?.[0] ?? at, at]);
  });
  return [...found.values()];
}

function Grid({ of, tests, from, to, onShow }: { of: Found; tests?: string; from?: string; to?: string; onShow: (at: number) => void }): JSX.Element {
  const svg = useRef<SVGSVGElement>(null);
  const letters = matchMedia(NARROW).matches ? 12 : 30;
  const name = letters === 30 ? NAME : 118;
  const most = Math.max(1, ...of.cells.map((cell) => cell.sites));
  const size = of.modules.length * CELL;
  const atOf = (target: EventTarget | null) => Number((target as Element | null)?.getAttribute?.("data-at") ?? Number.NaN);
  const show = (target: EventTarget | null) => { const at = atOf(target); if (!Number.isNaN(at)) onShow(at); };
  const open = (at: number) => {
    const cell = of.cells[at];
    if (cell) go(address("matrix", { path: of.path, depth: of.depth || undefined, tests, from: of.modules[cell.from]!.path, to: of.modules[cell.to]!.path }));
  };
  const move = (event: TargetedKeyboardEvent<SVGSVGElement>) => {
    const at = atOf(document.activeElement);
    const own = of.cells[at];
    if (!own) return;
    if (event.key === "Enter" || event.key === " ") {
      open(at);
      event.preventDefault();
      return;
    }
    const [dx, dy] = direction(event.key);
    if (dx === 0 && dy === 0) return;
    event.preventDefault();
    let best = Number.NaN;
    let least = Number.POSITIVE_INFINITY;
    of.cells.forEach((cell, other) => {
      const along = (cell.to - own.to) * dx + (cell.from - own.from) * dy;
      const aside = Math.abs((cell.to - own.to) * dy) + Math.abs((cell.from - own.from) * dx);
      if (along > 0 && along + 3 * aside < least) {
        least = along + 3 * aside;
        best = other;
      }
    });
    svg.current?.querySelector<SVGElement>(`[data-at="${best}"]`)?.focus();
  };
  return (
    <svg ref={svg} class="matrix" width={name + size + 2} height={HEAD + size + 2} role="group"
      aria-label="Matrix: arrow keys move between dependencies, Enter shows the files behind one"
      onMouseOver={(event) => show(event.target)} onFocusIn={(event) => show(event.target)}
      onClick={(event) => open(atOf(event.target))} onKeyDown={move}>
      <rect class="ground" x={name} y={HEAD} width={size} height={size} />
      {of.modules.map((module, at) => (
        <a key={at} href={of.depth === 0 ? address("file", { path: module.path }) : address("matrix", { path: module.path })} aria-label={visible(`${module.path}, number ${at + 1}`)}>
          <text x={name - 8} y={HEAD + at * CELL + 12} text-anchor="end" class={module.cycle === null ? "" : "cyclic"}>{clipped(module.path, letters)} {at + 1}</text>
        </a>
      ))}
      {of.modules.map((_, at) => <text key={at} x={name + at * CELL + CELL / 2} y={HEAD - 6} text-anchor="middle" aria-hidden="true">{at + 1}</text>)}
      <path class="diagonal" d={`M${name} ${HEAD}l${size} ${size}`} aria-hidden="true" />
      {of.cells.map((cell, at) => (
        <rect key={at} data-at={at} class={`cell${cell.in_cycle ? " cyclic" : ""}${cell.production === 0 ? " tests" : ""}${of.modules[cell.from]!.path === from && of.modules[cell.to]!.path === to ? " chosen" : ""}`}
          x={name + cell.to * CELL + 1} y={HEAD + cell.from * CELL + 1} width={CELL - 2} height={CELL - 2}
          style={{ fillOpacity: 0.25 + (0.75 * Math.log(1 + cell.sites)) / Math.log(1 + most) }}
          tabindex={at === 0 ? 0 : -1} role="link" aria-label={described(of, cell)} />
      ))}
      {frames(of).map(([first, last]) => (
        <rect key={first} class="cycle" x={name + first * CELL} y={HEAD + first * CELL} width={(last - first + 1) * CELL} height={(last - first + 1) * CELL} aria-hidden="true" />
      ))}
      <path class="corners" aria-hidden="true" d={of.cells.filter((cell) => cell.in_cycle)
        .map((cell) => `M${name + cell.to * CELL + 1} ${HEAD + cell.from * CELL + 1}h6l-6 6z`).join("")} />
    </svg>
  );
}

function clipped(path: string, letters: number): string {
  const text = visible(path).replaceAll("\t", "\\t");
  return text.length <= letters ? text : `…${text.slice(1 - letters)}`;
}

function Behind({ values }: { values: { path?: string; depth?: number; tests?: boolean; from: string; to: string } }): JSX.Element {
  const answer = useAnswer<Uses>("uses", values);
  return (
    <section aria-label="Files behind the dependency">
      <h2><Text of={values.from} /> uses <Text of={values.to} /></h2>
      {answer.state === "there" ? (
        <Some items={answer.answer.files} most={50} total={answer.answer.total} what="pairs of files">
          {(one) => <><a href={address("file", { path: one.from })}><Text of={one.from} /></a> uses <a href={address("file", { path: one.to })}><Text of={one.to} /></a> <span class="count">{number(one.sites)}{one.test && ", test"}</span></>}
        </Some>
      ) : <Pending of={answer} />}
    </section>
  );
}
