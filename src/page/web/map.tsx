// Module map: a treemap by lines, laid out by the program, coloured by what is known of the files.
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { written } from "./ask";
import { direction, Pending, Some, Text, useAnswer } from "./parts";
import { address, go, type Route } from "./route";
import { fileName, number, plural, visible } from "./text";
import type { Box, Colour, ModuleMap } from "./types";

const COLOURS: Record<Colour, string> = {
  tests: "share of test code",
  churn: "commits of a year",
  unused: "lines of unused definitions",
  coverage: "functions that tests executed",
};
const LABELS = 450;
const NARROW = "(max-width: 700px)";

export function Map({ route }: { route: Route }): JSX.Element {
  const path = route.values.path ?? "";
  const colour = (route.values.colour ?? "tests") as Colour;
  const isTall = !written && matchMedia(NARROW).matches;
  const values = useMemo(() => ({ ...(path ? { path } : {}), colour, ...(isTall ? { tall: true } : {}) }), [path, colour, isTall]);
  const answer = useAnswer<ModuleMap>("map", values);
  return (
    <section aria-label="Module map">
      <header class="symbol">
        <h1>Module map</h1>
        <Trail view="map" path={path} more={{ colour: route.values.colour }} />
        <p role="radiogroup" aria-label="Colours" class="choices">
          {Object.entries(COLOURS).map(([name, about]) => (
            <button key={name} type="button" role="radio" aria-checked={name === colour} title={about}
              onClick={() => go(address("map", { path, colour: name === "tests" ? undefined : name }))}>{name}</button>
          ))}
          {" "}<a href={address("matrix", { path })}>dependencies</a>
        </p>
      </header>
      {answer.state === "there" ? <Treemap key={`${answer.answer.path} ${answer.answer.colour}`} of={answer.answer} isOld={answer.isOld ?? false} /> : <Pending of={answer} />}
    </section>
  );
}

/** The directories above, as links. */
export function Trail({ view, path, more = {} }: { view: string; path: string; more?: Record<string, string | undefined> }): JSX.Element {
  const parts = path === "" ? [] : path.split("/");
  return (
    <nav aria-label="Directories above" class="trail">
      <a href={address(view, more)}>{written ? <Text of={written.name} /> : "repository"}</a>
      {parts.map((part, at) => (
        <span key={at}> / <a href={address(view, { ...more, path: parts.slice(0, at + 1).join("/") })} aria-current={at === parts.length - 1 ? "page" : undefined}><Text of={part} /></a></span>
      ))}
    </nav>
  );
}

function amount(box: Box, colour: Colour): string {
  if (box.whole === 0) return "not known";
  if (colour === "churn") return plural(box.part, "commit");
  const share = `${Math.round((100 * box.part) / box.whole)} %`;
  const what = { tests: "lines of tests", unused: "lines unused", coverage: "functions executed" }[colour];
  return `${number(box.part)} of ${number(box.whole)} ${what} (${share})`;
}

function described(box: Box, colour: Colour): string {
  const what = box.kind === "others" ? `${plural(box.files, "smaller file")} of ${box.path || "the repository"}` : box.path || "the repository";
  const files = box.kind === "directory" ? `, ${plural(box.files, "file")}` : "";
  return visible(`${what}: ${plural(box.lines, "line")}${files}, ${plural(box.symbols, "symbol")}, ${amount(box, colour)}`);
}

function Treemap({ of, isOld }: { of: ModuleMap; isOld: boolean }): JSX.Element {
  const [shown, setShown] = useState<number | null>(null);
  const byId = useMemo(() => new globalThis.Map(of.boxes.map((box) => [box.id, box])), [of]);
  const box = shown === null ? undefined : byId.get(shown);
  // The same node each time: what the pointer is over changes the line above, not a thousand boxes.
  const boxes = useMemo(() => <Boxes of={of} onShow={setShown} />, [of]);
  const top = of.boxes[0];
  const children = of.boxes.filter((one) => one.parent === 0 && one.kind !== "others").sort((a, b) => b.lines - a.lines);
  return (
    <div class={isOld ? "old" : ""}>
      <p class="status" role="status">{box ? described(box, of.colour) : top ? described(top, of.colour) : "nothing is indexed here"}</p>
      {of.unknown !== null && <p class="problem">no colours: <Text of={of.unknown} /></p>}
      {boxes}
      <p class="note scale"><span class="ramp" aria-hidden="true" /> {COLOURS[of.colour]}, none to {of.colour === "churn" ? "most" : "all"}{of.too_small > 0 && ` · ${plural(of.too_small, "box", "boxes")} too small to draw`}</p>
      <h2>Largest entries</h2>
      <Some items={children} most={30} what="entries">
        {(one) => <><a href={destination(one)}><Text of={one.path} /></a> <span class="count">{plural(one.lines, "line")}, {amount(one, of.colour)}</span></>}
      </Some>
    </div>
  );
}

function destination(box: Box): string {
  return box.kind === "file" ? address("file", { path: box.path }) : address("map", { path: box.path });
}

function Boxes({ of, onShow }: { of: ModuleMap; onShow: (id: number) => void }): JSX.Element {
  const svg = useRef<SVGSVGElement>(null);
  const byId = useMemo(() => new globalThis.Map(of.boxes.map((box) => [box.id, box])), [of]);
  const hasChildren = useMemo(() => new Set(of.boxes.map((box) => box.parent)), [of]);
  const idOf = (target: EventTarget | null) => Number((target as SVGElement | null)?.getAttribute?.("data-id") ?? Number.NaN);
  const open = (id: number) => {
    const box = byId.get(id);
    if (box && id !== 0) go(`${destination(box)}${box.kind === "file" || of.colour === "tests" ? "" : `&colour=${of.colour}`}`);
  };
  const move = (event: TargetedKeyboardEvent<SVGSVGElement>) => {
    const id = idOf(document.activeElement);
    const from = byId.get(id);
    if (event.key === "Enter" || event.key === " ") {
      open(id);
      event.preventDefault();
      return;
    }
    const [dx, dy] = direction(event.key);
    if (!from || (dx === 0 && dy === 0)) return;
    event.preventDefault();
    const next = nearest(of.boxes.filter((box) => !hasChildren.has(box.id)), from, dx, dy);
    if (next) svg.current?.querySelector<SVGElement>(`[data-id="${next.id}"]`)?.focus();
  };
  const leaves = of.boxes.filter((box) => !hasChildren.has(box.id));
  const labels = [...of.boxes].filter((box) => box.id !== 0 && isNamed(box, hasChildren.has(box.id)))
    .sort((a, b) => b.width * b.height - a.width * a.height).slice(0, LABELS);
  return (
    <svg ref={svg} class="treemap" viewBox={`0 0 ${of.width} ${of.height}`} role="group"
      aria-label="Treemap: arrow keys move, Enter opens"
      onMouseOver={(event) => { const id = idOf(event.target); if (!Number.isNaN(id)) onShow(id); }}
      onFocusIn={(event) => { const id = idOf(event.target); if (!Number.isNaN(id)) onShow(id); }}
      onClick={(event) => open(idOf(event.target))} onKeyDown={move}>
      {of.boxes.filter((box) => box.id !== 0 && hasChildren.has(box.id)).map((box) => (
        <rect key={box.id} data-id={box.id} class="frame" x={box.x} y={box.y} width={box.width} height={box.height} />
      ))}
      {leaves.map((box, at) => (
        <rect key={box.id} data-id={box.id} class="box" x={box.x} y={box.y} width={box.width} height={box.height}
          style={box.shade === null ? undefined : { fill: shade(box.shade) }} tabindex={at === 0 ? 0 : -1}
          role="link" aria-label={described(box, of.colour)} />
      ))}
      {labels.map((box) => (
        <text key={box.id} x={box.x + 4} y={box.y + 11.5} aria-hidden="true"
          class={hasChildren.has(box.id) ? "" : ground(box.shade ?? 0)}>{clipped(box)}</text>
      ))}
    </svg>
  );
}

function isNamed(box: Box, isFrame: boolean): boolean {
  return isFrame ? box.width >= 48 && box.height >= 40 : box.width >= 40 && box.height >= 15;
}

function clipped(box: Box): string {
  const name = box.kind === "others" ? `${number(box.files)} more` : visible(fileName(box.path)).replaceAll("\t", "\\t");
  const fits = Math.floor((box.width - 6) / 6.2);
  return name.length <= fits ? name : `${name.slice(0, Math.max(1, fits - 1))}…`;
}

/** What a name stands on, for its contrast. */
function ground(value: number): string {
  return value > 0.85 ? "most" : value > 0.6 ? "much" : "";
}

function shade(value: number): string {
  return `color-mix(in oklab, var(--most) ${Math.round(value * 100)}%, var(--least))`;
}

/** The next box in a direction: the nearest edge, then the smallest shift to the side. */
function nearest(boxes: Box[], from: Box, dx: number, dy: number): Box | undefined {
  const middle = (box: Box) => [box.x + box.width / 2, box.y + box.height / 2] as const;
  const [x, y] = middle(from);
  let best: Box | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const box of boxes) {
    const [ox, oy] = middle(box);
    const along = (ox - x) * dx + (oy - y) * dy;
    const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    const cost = along + 2 * aside;
    if (box.id !== from.id && along > 0.5 && cost < least) {
      least = cost;
      best = box;
    }
  }
  return best;
}
