// Tests of what the page makes of text and of addresses: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The exports of a source without imports of the browser. */
async function load(name) {
  const built = await build({ absWorkingDir: dirname(fileURLToPath(import.meta.url)), bundle: true, entryPoints: [name], format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);
}
const { line, position, shortName, visible } = await load("text.ts");
const { unpacker } = await load("packed.ts");
const { address, ofSymbol, parse } = await load("route.ts");

test("what is invisible or sets a direction is shown as an escape, and nothing else is changed", () => {
  for (const [given, expected] of [
    ["plain <b>&amp; é 漢字 😀", "plain <b>&amp; é 漢字 😀"],
    ["safe\u202egnp.exe", "safe\\u{202e}gnp.exe"],
    ["a\u200bb\u2066c\u2069\ufeff\u0007\u001b[0m\u0085", "a\\u{200b}b\\u{2066}c\\u{2069}\\u{feff}\\u{7}\\u{1b}[0m\\u{85}"],
    ["tag\u{e0041}", "tag\\u{e0041}"],
    ["half\ud800", "half\\u{d800}"],
    ["a\tb", "a\tb"],
  ]) assert.equal(visible(given), expected);
  assert.equal(line("a\tb\nc"), "a\\tb\\u{a}c");
});

test("a column in bytes is a position in the text", () => {
  assert.equal(position("abc def", 4), 4);
  assert.equal(position("é def", 3), 2);
  assert.equal(position("漢😀 def", 8), 4);
});

test("a name is what stands behind the path", () => {
  assert.equal(shortName("src/a.x::A.b"), "A.b");
  assert.equal(shortName("alone"), "alone");
  assert.equal(shortName("a::b.x::A"), "A");
});

test("each state has an address, whatever its values are", () => {
  for (const values of [{}, { q: "a b&c=d#e?f%20" }, { symbol: "a/<b>.x::A.b", line: "12" }, { path: "a\u202eb/😀" }]) {
    assert.deepEqual(parse(address("search", values)), { view: "search", values });
  }
  assert.deepEqual(parse(""), { view: "search", values: {} });
  assert.equal(address("map", { path: "", colour: undefined }), "#/map");
  assert.equal(ofSymbol({ symbol: "a.x::b", name_line: 3 }), "#/symbol?symbol=a.x%3A%3Ab&line=3");
});

test("a packed value is what it was made of, and what values share is one object", () => {
  const unpack = unpacker({ shapes: [["symbol", "line"], ["one", "other", "lines"]], shared: ["a.x::Name", [1, [-1], 3], ["not read"]] });
  const of = unpack([2, [-2], [-2], [0, "", [0], null, -1.5, true]]);
  assert.deepEqual(of, { one: { symbol: "a.x::Name", line: 3 }, other: { symbol: "a.x::Name", line: 3 }, lines: ["", [], null, -1.5, true] });
  assert.equal(of.one, of.other);
});
