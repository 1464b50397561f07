// Where answers come from: the server that sent this page, or the data inside of a written file.
import { type Packed, type Shared, unpacker } from "./packed";
import type { Named } from "./types";

export type Values = Record<string, string | number | boolean | string[]>;

/** A failed question: the sentence that the page shows. */
export class Failure extends Error {
  readonly isToken: boolean;
  constructor(message: string, isToken = false) {
    super(message);
    this.isToken = isToken;
  }
}

/** A symbol of a written file. */
export interface Held extends Named {
  end_line: number;
}

interface Data extends Shared {
  name: string;
  made_of: string;
  left_out: string[];
  symbols: Held[];
  answers: [string, Values, Packed][];
}

const VERSION = "2026-07-28";
const TOKEN = "cograph-token";
const KEPT = 60;

function readData(): Data | null {
  const text = document.getElementById("data")?.textContent ?? "";
  return text === "" ? null : (JSON.parse(text) as Data);
}

const data = readData();
const unpack = data && unpacker(data);
const inFile = new Map((data?.answers ?? []).map(([name, values, answer]) => [key(name, values), answer]));

/** What a written file says of itself; null if a server answers. */
export const written = data && { name: data.name, madeOf: data.made_of, leftOut: data.left_out };
/** The symbols of a written file. */
export const held: Held[] = data?.symbols ?? [];
const heldNames = new Set(held.map((one) => one.symbol));

/** False for a symbol that a written file has nothing about. */
export function isKnown(symbol: string): boolean {
  return data === null || heldNames.has(symbol);
}

let token = takeToken();
let waits: ((text: string) => void) | null = null;

/** Reads the token out of the address, which forgets it. */
function takeToken(): string {
  const found = /^#token=([^&]+)$/.exec(location.hash)?.[1];
  try {
    if (found) {
      sessionStorage.setItem(TOKEN, found);
      history.replaceState(null, "", `${location.pathname}#/search`);
    }
    return found ?? sessionStorage.getItem(TOKEN) ?? "";
  } catch {
    // A browser without storage asks for the token each time.
    return found ?? "";
  }
}

export function setToken(text: string): void {
  token = text.trim();
  try {
    sessionStorage.setItem(TOKEN, token);
  } catch {
    // See takeToken.
  }
}

/** Reports what a question waits for. */
export function onWait(report: (text: string) => void): void {
  waits = report;
}

function key(name: string, values: Values): string {
  return `${name} ${JSON.stringify(values)}`;
}

const known = new Map<string, Promise<unknown>>();

/** Asks a question. Answers are kept for the way back. */
export function ask<T>(name: string, values: Values): Promise<T> {
  const own = key(name, values);
  const before = known.get(own);
  if (before) return before as Promise<T>;
  const answer = data ? fromFile(name, values, own) : fromServer(name, values);
  known.set(own, answer);
  answer.catch(() => known.delete(own));
  for (const oldest of known.keys()) {
    if (known.size <= KEPT) break;
    known.delete(oldest);
  }
  return answer as Promise<T>;
}

/** The symbol of a file that is named in another way than there: by a line of it, or without one. */
function heldAs(symbol: string, at: number): Held | undefined {
  const place = /^(.*):(\d+)$/.exec(symbol);
  const has = (one: Held, line: number) => one.line <= line && line <= one.end_line;
  const same = held.filter((one) => one.symbol === symbol);
  return same.find((one) => has(one, at)) ?? same[0]
    ?? held.filter((one) => place && one.path === place[1] && has(one, Number(place[2])))
      .sort((one, other) => one.end_line - one.line - (other.end_line - other.line))[0];
}

async function fromFile(name: string, values: Values, own: string): Promise<unknown> {
  const as = name === "around" && !inFile.has(own) ? heldAs(String(values.symbol), Number(values.line ?? 0)) : undefined;
  const packed = inFile.get(as ? key(name, { symbol: as.symbol, line: as.name_line! }) : own);
  if (unpack && packed !== undefined) return unpack(packed);
  throw new Failure("This file does not contain the answer. `cograph page` in the repository has all of them.");
}

async function fromServer(name: string, values: Values): Promise<unknown> {
  if (token === "") throw new Failure("The server wants its token.", true);
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "cograph/page",
    params: {
      name,
      arguments: { ...values, budget: 10000 },
      _meta: { "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {} },
    },
  };
  for (;;) {
    let response: Response;
    try {
      response = await fetch("mcp", {
        method: "POST",
        body: JSON.stringify(body),
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          authorization: `Bearer ${token}`,
          "mcp-protocol-version": VERSION,
          "mcp-method": "cograph/page",
        },
      });
    } catch {
      throw new Failure("The server does not answer: has `cograph page` ended?");
    }
    if (response.status === 401) throw new Failure("The token is wrong.", true);
    const reply = await response.json().catch(() => null);
    if (reply?.error) throw new Failure(String(reply.error.message));
    if (!reply?.result) throw new Failure(`The server answers with status ${response.status}.`);
    if (typeof reply.result.wait !== "string") {
      waits?.("");
      return reply.result.answer;
    }
    waits?.(reply.result.wait);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
