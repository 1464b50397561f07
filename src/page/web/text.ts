// Text of a repository as it is shown: nothing invisible, nothing that reorders what is around it.

const UNSEEN =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

const PLAIN = /^[\t\x20-\x7e]*$/;

/** The text with invisible characters and those that set a direction as `\u{...}`. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`);
}

/** The same on one line. */
export function line(text: string): string {
  return visible(text).replaceAll("\t", "\\t");
}

// `toLocaleString` makes one each time, which takes longer than a box of the map.
const numbers = new Intl.NumberFormat("en-US");

export function number(value: number): string {
  return numbers.format(value);
}

export function plural(count: number, one: string, several = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : several}`;
}

/** The last part of a name `path::Container.name`. */
export function shortName(symbol: string): string {
  const at = symbol.lastIndexOf("::");
  return at < 0 ? symbol : symbol.slice(at + 2);
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The position in a text of a column in bytes. */
export function position(text: string, column: number): number {
  if (PLAIN.test(text)) return column;
  return decoder.decode(encoder.encode(text).subarray(0, column)).length;
}
