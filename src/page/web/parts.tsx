// Parts that several views have: names, links, lists with what they leave out, the state of a question.
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, Failure, isKnown, type Values } from "./ask";
import { ofSymbol } from "./route";
import { line, number, shortName } from "./text";
import type { Named } from "./types";

export type Answer<T> = { state: "asking" } | { state: "failed"; failure: Failure } | { state: "there"; answer: T };

/** The answer to a question; no question for no values. The one before stays until the next is there. */
export function useAnswer<T>(name: string, values: Values | null): Answer<T> & { isOld?: boolean } {
  const own = values === null ? "" : JSON.stringify(values);
  const [found, setFound] = useState<{ own: string; answer: Answer<T> }>({ own: "", answer: { state: "asking" } });
  // Another effect would ask after the next frame is drawn.
  useLayoutEffect(() => {
    if (values === null) return;
    let isWanted = true;
    const put = (answer: Answer<T>) => isWanted && setFound({ own, answer });
    ask<T>(name, values).then(
      (answer) => put({ state: "there", answer }),
      (failure) => put({ state: "failed", failure: failure instanceof Failure ? failure : new Failure(String(failure)) }),
    );
    return () => {
      isWanted = false;
    };
  }, [name, own]);
  return found.own === own ? found.answer : found.answer.state === "there" ? { ...found.answer, isOld: true } : { state: "asking" };
}

let onToken: (() => void) | null = null;
export function whenTokenIsWrong(show: () => void): void {
  onToken = show;
}

/** What stands in the place of an answer until it is there. */
export function Pending({ of }: { of: Answer<unknown> }): JSX.Element | null {
  const isToken = of.state === "failed" && of.failure.isToken;
  useEffect(() => {
    if (isToken) onToken?.();
  }, [isToken]);
  if (of.state === "there") return null;
  if (of.state === "asking") return <p class="note" role="status">asking …</p>;
  return <p class="problem" role="alert"><Text of={of.failure.message} /></p>;
}

/** Text of the repository: isolated from the direction of what is around it. */
export function Text({ of }: { of: string }): JSX.Element {
  return <bdi>{line(of)}</bdi>;
}

export function SymbolLink({ of, short = true, title }: { of: Named; short?: boolean; title?: string }): JSX.Element {
  const text = <Text of={short ? shortName(of.symbol) : of.symbol} />;
  if (!isKnown(of.symbol)) return <span class="name" title={title}>{text}</span>;
  return <a class="name" href={ofSymbol(of)} title={title}>{text}</a>;
}

export function Kind({ of }: { of: string }): JSX.Element {
  return <span class="kind">{of}</span>;
}

export function Place({ path, line: at }: { path: string; line?: number }): JSX.Element {
  return (
    <span class="place">
      <Text of={at === undefined ? path : `${path}:${at}`} />
    </span>
  );
}

/** The first items of a list, and how many are left out. */
export function Some<T>({ items, most, total, what, children }: {
  items: T[];
  most: number;
  total?: number;
  what: string;
  children: (item: T, at: number) => ComponentChildren;
}): JSX.Element {
  const shown = items.slice(0, most);
  const more = (total ?? items.length) - shown.length;
  return (
    <>
      <ul class="list" onKeyDown={moveInList}>{shown.map((item, at) => <li key={at}>{children(item, at)}</li>)}</ul>
      {more > 0 && <p class="note">{number(more)} more {what} are not shown</p>}
    </>
  );
}

/** Arrow keys move between the links of a list. */
export function moveInList(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a[href], button")];
  const next = links[links.indexOf(document.activeElement as HTMLElement) + step];
  if (next) {
    next.focus();
    event.preventDefault();
  }
}

/** The direction of an arrow key: to the right and down. */
export function direction(key: string): [number, number] {
  switch (key) {
    case "ArrowLeft": return [-1, 0];
    case "ArrowRight": return [1, 0];
    case "ArrowUp": return [0, -1];
    case "ArrowDown": return [0, 1];
    default: return [0, 0];
  }
}

/** A field whose value becomes part of the address. */
export function Field({ label, value, onEnter, id, list }: {
  label: string;
  value: string;
  onEnter: (value: string) => void;
  id: string;
  list?: string;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current) field.current.value = value;
  }, [value]);
  return (
    <label class="field" for={id}>
      <span>{label}</span>
      <input id={id} ref={field} spellcheck={false} autocomplete="off" placeholder={list}
        onChange={(event) => onEnter(event.currentTarget.value.trim())} />
    </label>
  );
}
