// States of the page as addresses: `#/view?name=value`.

export interface Route {
  view: string;
  values: Record<string, string>;
}

export function parse(hash: string): Route {
  const [view = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const values: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) values[name] = value;
  return { view: view || "search", values };
}

export function address(view: string, values: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** The address of a symbol. */
export function ofSymbol(symbol: { symbol: string; name_line?: number }): string {
  return address("symbol", { symbol: symbol.symbol, line: symbol.name_line });
}
