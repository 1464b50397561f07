// Builds ../bundle/page.html: the script, bundled, and the style inside of the document, admitted by their hashes alone.
//
//     node build.mjs            writes the document
//     node build.mjs --check    exit code 1 if the document is not what would be written
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = join(here, "../bundle/page.html");

const common = { absWorkingDir: here, bundle: true, charset: "utf8", legalComments: "none", minify: true, target: "es2022", write: false };
const script = await build({ ...common, entryPoints: ["main.tsx"], format: "iife", jsx: "automatic", jsxImportSource: "preact" });
const style = await build({ ...common, entryPoints: ["page.css"] });

// An element ends at its end tag, wherever that is; a hash is of the text between the tags.
const inside = (text, element) => {
  const trimmed = text.trim();
  if (trimmed.includes(`</${element}`) || trimmed.includes("<!--")) throw new Error(`${element}: it ends its element`);
  return trimmed;
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const js = inside(script.outputFiles[0].text, "script");
const css = inside(style.outputFiles[0].text, "style");
const policy = [
  "default-src 'none'",
  `script-src ${hash(js)}`,
  `style-src ${hash(css)}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
const licence = readFileSync(join(here, "node_modules/preact/LICENSE"), "utf8").trim();
const version = JSON.parse(readFileSync(join(here, "node_modules/preact/package.json"), "utf8")).version;

// Replacements are functions: in a text, `$` would have a meaning.
const page = readFileSync(join(here, "page.template.html"), "utf8")
  .replace("{licence}", () => `preact ${version}\n\n${licence}`)
  .replace("{policy}", () => policy)
  .replace("{style}", () => css)
  .replace("{script}", () => js);

if (process.argv.includes("--check")) {
  let known = "";
  try {
    known = readFileSync(output, "utf8");
  } catch {
    // It was never built.
  }
  if (known !== page) {
    console.error("bundle/page.html is not what its sources give: run `npm ci && npm run build` in src/page/web");
    process.exit(1);
  }
} else {
  writeFileSync(output, page);
}
console.log(`${page.length} characters, ${js.length} of them script, ${css.length} style`);
