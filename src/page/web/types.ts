// What the answers of the program are made of, as far as the page reads them.

export interface Named {
  symbol: string;
  kind: string;
  path: string;
  line: number;
  name_line?: number;
}

export interface FullSymbol extends Named {
  name: string;
  container: string;
  language: string;
  end_line: number;
  signature: string;
  doc: string;
  visibility: string;
  flags: string[];
  references: number;
}

/** A site in the file at hand. */
export interface LocalSite {
  line: number;
  column: number;
  kind: string;
  name: string;
  verdict: string;
  step: string;
}

export interface Site extends LocalSite {
  path: string;
  source?: string;
}

export interface Total {
  count: number;
  exact: boolean;
}

export interface Counts {
  certain: number;
  likely: number;
  possible: number;
  textual: number;
}

export interface Neighbour {
  certainty: string;
  link: string;
  through: Named | null;
  test: boolean;
  sites: Site[];
  site_total: number;
  end: { symbol?: Named; file?: string; external?: string };
}

export interface Neighbours {
  total: Total;
  counts: Counts;
  other_uses: number;
  values: number;
  nodes: Neighbour[];
  not_followed: (Site & { enclosing: Named | null })[];
}

export interface SourceSite extends LocalSite {
  targets: Named[];
  total: number;
  external: string | null;
}

export interface Source {
  error?: string;
  first_line: number;
  lines: string[];
  stale: boolean;
}

export interface Around {
  symbol: FullSymbol;
  namesakes: Named[];
  namesake_total: number;
  source: Source;
  sites: SourceSite[];
  site_total: number;
  callers: Neighbours;
  callees: Neighbours;
  related: { kind: string; incoming: boolean; symbol: Named }[];
}

export interface Found {
  total: Total;
  symbols: (Named & { references: number })[];
}

export interface Overview {
  languages: { name: string; tier: string; files: number; lines: number; symbols: number }[];
  modules: { path: string; files: number; lines: number; symbols: number }[];
  module_total: number;
  entry_points: (Partial<Named> & { file?: string; uses?: number })[];
  entry_point_total: number;
  hot_spots: FullSymbol[];
  changed_most: { path: string; commits: number; recent: number; last: string }[];
  history: string;
  cycles: string[][];
  cycle_total: number;
  index: { words: string; generation: number };
}

export interface Box {
  id: number;
  parent: number | null;
  path: string;
  kind: "directory" | "file" | "others";
  files: number;
  lines: number;
  symbols: number;
  x: number;
  y: number;
  width: number;
  height: number;
  part: number;
  whole: number;
  shade: number | null;
}

export interface ModuleMap {
  path: string;
  colour: Colour;
  unknown: string | null;
  width: number;
  height: number;
  boxes: Box[];
  too_small: number;
}

export type Colour = "tests" | "churn" | "unused" | "coverage";

export interface Matrix {
  path: string;
  depth: number;
  modules: { path: string; files: number; lines: number; uses: number; used_by: number; cycle: number | null }[];
  module_total: number;
  cells: { from: number; to: number; sites: number; production: number; in_cycle: boolean }[];
  cell_total: number;
  cycles: number;
}

export interface Uses {
  total: number;
  files: { from: string; to: string; sites: number; test: boolean }[];
}

export interface Trace {
  root: FullSymbol;
  to: FullSymbol | null;
  path?: { symbol: Named; link: string | null; certainty: string; sites: Site[] }[];
  no_path?: { exhausted: boolean; visited: number; not_followed: number; first: Site[]; unread: number };
}

export interface Impact {
  between?: string | null;
  files: { path: string; old_path: string | null; removed: boolean; added_lines: number; removed_lines: number }[];
  changed: ({ path: string; name: string; kind: string; line: number; change: string; signature: string } | null)[];
  breaks: { path: string; line: number; symbol: string; kind: string; reason: string; certainty: string }[];
  dependents: { path: string; line: number; symbol: string | null; distance: number; certainty: string; test: boolean }[];
  tests: { path: string; name: string; line: number; class: string; chain: string[] }[];
  commands: { line: string; tests: number }[];
  unknown: string[];
}

export interface OutlineEntry {
  symbol?: string;
  name?: string;
  kind?: string;
  path?: string;
  line?: number;
  children?: OutlineEntry[];
}
