// Drives the page in Chromium. Reads a job as JSON on standard input, prints what it measured and found as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const job = JSON.parse(readFileSync(0, "utf8"));
const { chromium } = createRequire(join(job.modules, "package.json"))("playwright-core");

const found = { problems: [], requests: 0, elements: 0 };
const problem = (text) => found.problems.push(text);

// Nothing but this machine has an address, and there is no other way out.
const browser = await chromium.launch({
  executablePath: job.chromium,
  args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--disable-background-networking"],
});

/** A window whose errors, violations of its policy and requests are problems. */
async function open(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  const own = new URL(url);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problem(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problem(`error: ${error}`));
  page.on("dialog", (dialog) => {
    problem(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    found.requests += 1;
    const to = new URL(request.url());
    const isOwn = to.protocol === "data:" || (to.protocol === own.protocol && to.host === own.host);
    if (!isOwn) problem(`request to ${request.url()}`);
  });
  await page.addInitScript(() => {
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
  });
  await page.goto(url);
  return page;
}

async function close(page) {
  for (const violation of await page.evaluate(() => globalThis.violations)) problem(`policy: ${violation}`);
  await page.context().close();
}

/** Runs `start` in the page and waits for `done`, by the changes of the document; gives the time until the frame is drawn. */
const measured = ({ start, done }) =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    let observer;
    const timer = setTimeout(() => reject(new Error(`not within 30 s at ${location.hash}: ${document.body.innerText.slice(0, 300)}`)), 30_000);
    const finish = () => {
      if (!done()) return false;
      observer?.disconnect();
      clearTimeout(timer);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
      return true;
    };
    start();
    if (finish()) return;
    observer = new MutationObserver(finish);
    observer.observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });
  });

// As text: the policy of the page does not let functions be made in it.
const until = (page, act, argument) => page.evaluate(`(${measured})((${act})(${JSON.stringify(argument) ?? "undefined"}))`);

const settle = (page, selector) => page.waitForSelector(selector, { timeout: 60_000 });

const ready = { search: "main .columns h2", symbol: "main .around .line", map: "main .treemap .box", matrix: "main .matrix .cell", change: "main .columns h2", path: "main .path li", file: "main .outline li" };

async function count(page) {
  const elements = await page.evaluate(() => document.querySelectorAll("main *").length);
  found.elements = Math.max(found.elements, elements);
  if (elements > 2000) problem(`${elements} elements at ${await page.evaluate(() => location.hash)}`);
}

/** Opens each view; each control of it has a name. */
async function shots(page, name, addresses = job.addresses) {
  for (const [view, hash] of Object.entries(addresses)) {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await settle(page, ready[view.split("-")[0]]);
    await named(page, view);
    if (!job.shots) continue;
    await page.waitForTimeout(150);
    await page.screenshot({ path: join(job.shots, `${name}-${view}.png`) });
  }
}

/** Every control has a name, and every image and diagram. */
async function named(page, view) {
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("a, button, input, summary, svg, [tabindex='0'], [role=link], [role=radio]")]
    .filter((one) => !(one.getAttribute("aria-label") ?? one.textContent ?? "").trim() && !one.labels?.length).map((one) => one.outerHTML.slice(0, 80)));
  unnamed.forEach((one) => problem(`no name at ${view}: ${one}`));
}

/** 200 interactions of nine kinds; the time until each is drawn. */
async function interactions(page) {
  const times = [];
  const timed = async (kind, act, argument) => times.push([kind, await until(page, act, argument)]);
  const search = ([text]) => {
    const field = document.getElementById("search");
    return {
      start: () => {
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      },
      done: () => location.hash.includes(new URLSearchParams({ q: text }).toString()) && !document.querySelector("main .note[role=status]")?.textContent.startsWith("asking")
        && document.querySelector("main .list") !== null && document.querySelector("main .columns") === null && document.querySelector("main .old") === null,
    };
  };
  const follow = ([selector, at]) => {
    // Not to where it is already: nothing would change.
    const links = [...document.querySelectorAll(selector)].filter((link) => link.href !== location.href);
    const link = links[at % Math.max(1, links.length)];
    const before = document.querySelector("main .around");
    return {
      start: () => link?.click(),
      done: () => !link || document.querySelector("main .around") !== before && document.querySelector("main .around .line, main .problem") !== null && location.href === link.href,
    };
  };
  const press = ([selector, key]) => {
    const element = document.activeElement?.matches(selector) ? document.activeElement : document.querySelector(selector);
    element?.focus();
    // At an edge it stays.
    return {
      start: () => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })),
      done: () => document.activeElement.matches(selector),
    };
  };
  const choose = ([at]) => {
    const sites = [...document.querySelectorAll(".site[type=button]")];
    const site = sites[at % Math.max(1, sites.length)];
    return { start: () => site?.click(), done: () => !site || site.getAttribute("aria-pressed") === "true" && document.querySelector(".details") !== null };
  };
  const back = () => {
    const before = location.href;
    return { start: () => history.back(), done: () => location.href !== before && document.querySelector("main .around .line, main .list") !== null };
  };
  const theme = () => {
    const button = document.querySelector(".bar button:last-of-type");
    const before = button.textContent;
    return { start: () => button.click(), done: () => button.textContent !== before };
  };
  const view = ([hash, selector]) => ({ start: () => { location.hash = hash; }, done: () => document.querySelector(selector) !== null });
  const drill = ([at]) => {
    const links = [...document.querySelectorAll("main .treemap ~ .list a[href*='/map?']")];
    const link = links[at % Math.max(1, links.length)];
    const before = document.querySelector("main .trail").textContent;
    return { start: () => link?.click(), done: () => !link || document.querySelector("main .trail").textContent !== before && document.querySelector("main .treemap") !== null && document.querySelector("main .old") === null };
  };
  for (let round = 0; round < 10; round += 1) {
    await page.evaluate(() => { location.hash = "#/search"; });
    await settle(page, "#search");
    const word = job.words[round % job.words.length];
    for (const length of [3, Math.min(5, word.length), word.length]) await timed("search", search, [word.slice(0, length)]);
    await timed("open", follow, ["main .list a.name", 0]);
    for (let step = 0; step < 4; step += 1) await timed("follow", follow, [".around .column a.name[href*='/symbol']", round + step]);
    for (let step = 0; step < 3; step += 1) await timed("site", choose, [round + 3 * step]);
    await timed("back", back);
    await timed("theme", theme);
    await count(page);
  }
  for (let round = 0; round < 5; round += 1) {
    await timed("map", view, ["#/map", ".treemap .box"]);
    for (let step = 0; step < 4; step += 1) await timed("map key", press, [".treemap .box", ["ArrowRight", "ArrowDown"][step % 2]]);
    await timed("map into", drill, [round]);
    await count(page);
    await timed("matrix", view, ["#/matrix", ".matrix .cell"]);
    for (let step = 0; step < 5; step += 1) await timed("matrix key", press, [".matrix .cell", ["ArrowRight", "ArrowDown"][step % 2]]);
    await count(page);
  }
  while (times.length < 200) await timed("theme", theme);
  return times;
}

if (job.what === "views") {
  const page = await open(job.url);
  const paint = await page.evaluate(() =>
    new Promise((resolve) => {
      const known = performance.getEntriesByName("first-contentful-paint")[0];
      if (known) resolve(known.startTime);
      else new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true });
    }),
  );
  found.first_paint_ms = paint;
  const begun = Date.now();
  await settle(page, ready.search);
  found.entrance_ms = Date.now() - begun;
  found.times = await interactions(page);
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await shots(page, "light");
  await close(page);
  // The token is no part of the address any more: another window has none.
  const bare = new URL(job.url);
  const dark = await open(`${job.url}`, { colorScheme: "dark", viewport: { width: 1280, height: 860 } });
  await settle(dark, ready.search);
  if ((await dark.evaluate(() => location.hash)).includes("token")) problem("the address keeps the token");
  await shots(dark, "dark");
  await close(dark);
  const narrow = await open(`${bare}`, { viewport: { width: 320, height: 640 } });
  await settle(narrow, ready.search);
  for (const [view, hash] of Object.entries(job.addresses)) {
    await narrow.evaluate((to) => { location.hash = to; }, hash);
    await settle(narrow, ready[view]);
    await count(narrow);
    const wide = await narrow.evaluate(() => document.documentElement.scrollWidth);
    if (wide > 320) problem(`${view} is ${wide} wide on 320`);
  }
  await shots(narrow, "narrow");
  await close(narrow);
  // With keys alone: search, the first result, its first callee, back; every control has a name.
  const keys = await open(job.url);
  await settle(keys, ready.search);
  await keys.keyboard.press("/");
  await keys.keyboard.type(job.words[0]);
  await settle(keys, "main .list a.name");
  await keys.waitForTimeout(300);
  await keys.keyboard.press("ArrowDown");
  await keys.keyboard.press("Enter");
  await settle(keys, ".around .line");
  await keys.keyboard.press("ArrowRight");
  await keys.keyboard.press("ArrowLeft");
  const inside = await keys.evaluate(() => document.activeElement.closest(".around section")?.getAttribute("aria-label") ?? "none");
  if (inside === "none") problem("arrow keys do not reach the columns");
  await keys.keyboard.press("2");
  await settle(keys, ready.map);
  // On the map and the matrix: arrows move, Enter opens.
  const active = (name) => keys.evaluate((wanted) => document.activeElement?.getAttribute(wanted), name);
  await keys.focus(".treemap .box[tabindex='0']");
  const box = await active("data-id");
  await keys.keyboard.press("ArrowRight");
  if ((await active("data-id")) === box) await keys.keyboard.press("ArrowDown");
  if ((await active("data-id")) === box) problem("arrow keys do not move on the map");
  // The box of what is too small to be drawn leads nowhere else.
  for (let step = 0; step < 20 && (await active("aria-label")).includes("smaller file"); step += 1) await keys.keyboard.press(["ArrowLeft", "ArrowUp"][step % 2]);
  await keys.keyboard.press("Enter");
  await keys.waitForFunction(() => !location.hash.startsWith("#/map") || location.hash.includes("path="));
  await keys.keyboard.press("3");
  await settle(keys, ready.matrix);
  await keys.focus(".matrix .cell[tabindex='0']");
  await keys.keyboard.press("Enter");
  await settle(keys, "main section[aria-label='Files behind the dependency'] li");
  for (const [key, view] of [["4", "Change"], ["5", "Path"]]) {
    await keys.keyboard.press(key);
    await settle(keys, `main section[aria-label='${view}']`);
  }
  await keys.keyboard.press("?");
  await settle(keys, "dialog[open]");
  await keys.keyboard.press("Escape");
  await keys.waitForSelector("dialog", { state: "detached" });
  // The first stop of the tab key leads to the content; each stop is seen.
  await keys.goto(`${job.url.split("#")[0]}#/search`);
  await settle(keys, ready.search);
  await keys.evaluate(() => { document.activeElement.blur(); });
  await keys.keyboard.press("Tab");
  for (let stop = 0; stop < 12; stop += 1) {
    const seen = await keys.evaluate(() => {
      const one = document.activeElement;
      const { width, height } = one.getBoundingClientRect();
      return { what: one.outerHTML.slice(0, 60), shows: width > 0 && height > 0 && getComputedStyle(one).outlineStyle !== "none" };
    });
    if (!seen.shows) problem(`the focus is not seen: ${seen.what}`);
    await keys.keyboard.press("Tab");
  }
  await close(keys);
} else if (job.what === "names") {
  const page = await open(job.url);
  await settle(page, "#search");
  found.names = 0;
  for (const { query, shown } of job.names) {
    await until(page, ([text]) => ({
      start: () => { location.hash = `#/search?${new URLSearchParams({ q: text })}`; },
      done: () => location.hash.includes("q=") && (document.querySelector("main .list a.name") !== null || document.querySelector("main .note[role=status]")?.textContent.startsWith("no symbol")),
    }), [query]);
    // The list may still be that of the name before.
    let text = "";
    for (let round = 0; round < 100 && !text.includes(shown); round += 1) {
      await page.waitForTimeout(50);
      text = await page.evaluate(() => document.querySelector("main").textContent);
    }
    if (text.includes(shown)) found.names += 1;
    else problem(`not shown as text: ${JSON.stringify(shown)} for ${JSON.stringify(query)} in ${JSON.stringify(text.slice(0, 300))}`);
    const link = await page.$("main .list a.name");
    if (link) {
      await link.click();
      await settle(page, "main .around .line, main .problem");
    }
  }
  for (const hash of ["#/map", "#/matrix", "#/search"]) {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await page.waitForTimeout(400);
  }
  const strange = await page.evaluate(() => [...document.querySelectorAll("img, iframe, object, embed, video, form, base, svg script, main script, [onerror], [onload], a[href^='javascript']")].map((one) => one.outerHTML.slice(0, 100)));
  strange.forEach((one) => problem(`markup: ${one}`));
  if (await page.evaluate(() => globalThis.pwned !== undefined)) problem("a name was executed");
  if (job.shots) await page.screenshot({ path: join(job.shots, "names.png") });
  await close(page);
} else if (job.what === "file") {
  const page = await open(job.url, { offline: true });
  found.first_paint_ms = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null);
  await settle(page, ready.search);
  await shots(page, "file");
  const absent = await page.evaluate(() => document.querySelector("main .problem")?.textContent ?? "");
  if (absent) problem(`not in the file: ${absent}`);
  const times = [];
  for (let round = 0; round < 20; round += 1) {
    await page.evaluate(() => { location.hash = "#/search"; });
    await settle(page, ready.search);
    times.push(["file open", await until(page, ([at]) => {
      const link = document.querySelectorAll("main section[aria-label='Most used'] a.name")[at];
      return { start: () => link.click(), done: () => document.querySelector("main .around .line") !== null };
    }, [round % 20])]);
    await count(page);
  }
  found.times = times;
  if (found.requests > 1) problem(`${found.requests} requests of a file`);
  await close(page);
} else if (job.what === "colours") {
  for (const scheme of ["light", "dark"]) {
    const page = await open(job.url, { colorScheme: scheme });
    await settle(page, ready.search);
    const colours = ["tests", "churn", "unused", "coverage"];
    await shots(page, scheme, Object.fromEntries(colours.map((name) => [`map-${name}`, `#/map?colour=${name}`])));
    for (const name of colours) {
      await page.evaluate((to) => { location.hash = `#/map?colour=${to}`; }, name);
      await page.waitForFunction((to) => document.querySelector("[role=radio][aria-checked=true]")?.textContent === to && document.querySelector("main .treemap .box") !== null && document.querySelector("main .old") === null, name);
      const seen = await page.evaluate(() => ({
        shades: new Set([...document.querySelectorAll(".treemap .box")].map((box) => box.style.fill)).size,
        problem: document.querySelector("main .problem")?.textContent ?? "",
      }));
      if (seen.problem || seen.shades < 2) problem(`${name}: ${seen.shades} shades. ${seen.problem}`);
    }
    await close(page);
  }
} else if (job.what === "change") {
  const page = await open(job.url, { offline: true });
  await settle(page, ready.search);
  await shots(page, "file", { "change-range": `#/change?${new URLSearchParams({ change: "HEAD~1..HEAD" })}`, "search": "#/search" });
  await page.evaluate((to) => { location.hash = to; }, `#/change?${new URLSearchParams({ change: "HEAD~1..HEAD" })}`);
  await settle(page, ready.change);
  const text = await page.evaluate(() => document.querySelector("main").textContent);
  for (const part of ["total", "test_total"]) if (!text.includes(part)) problem(`the change does not show ${part}: ${text.slice(0, 300)}`);
  await close(page);
}
await browser.close();
console.log(JSON.stringify(found));
