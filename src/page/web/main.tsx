// The page: a header, a view for each address, keys, and the token where one is wanted.
import { type ComponentType, type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { onWait, setToken, written } from "./ask";
import { Change } from "./change";
import { File } from "./file";
import { Map } from "./map";
import { Matrix } from "./matrix";
import { Text, whenTokenIsWrong } from "./parts";
import { Path } from "./path";
import { address, go, parse, type Route } from "./route";
import { Search } from "./search";
import { Symbol } from "./symbol";

const VIEWS: Record<string, ComponentType<{ route: Route }>> = {
  search: Search,
  symbol: Symbol,
  file: File,
  map: Map,
  matrix: Matrix,
  change: Change,
  path: Path,
};
const LINKS = ["search", "map", "matrix", "change", "path"];
const THEMES = ["auto", "light", "dark"];

function App(): JSX.Element {
  const [route, setRoute] = useState(parse(location.hash));
  const [wants, setWants] = useState(false);
  const [waiting, setWaiting] = useState("");
  const [round, setRound] = useState(0);
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const change = () => setRoute(parse(location.hash));
    addEventListener("hashchange", change);
    whenTokenIsWrong(() => setWants(true));
    onWait(setWaiting);
    return () => removeEventListener("hashchange", change);
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Escape") {
        if (help) setHelp(false);
        else if (target.tagName === "INPUT") target.blur();
        return;
      }
      if (target.tagName === "INPUT") return;
      if (event.key === "/") {
        event.preventDefault();
        const field = document.getElementById("search");
        if (field) field.focus();
        else go(address("search"));
      } else if (event.key === "?") {
        setHelp(true);
      } else if (/^[1-5]$/.test(event.key)) {
        go(address(LINKS[Number(event.key) - 1]!));
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [help]);
  const View = VIEWS[route.view] ?? Search;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>to the content</a>
      <header class="bar">
        <b>{written ? <Text of={written.name} /> : "cograph"}</b>
        <nav aria-label="Views">
          {LINKS.map((view) => <a key={view} href={address(view)} aria-current={route.view === view ? "page" : undefined}>{view}</a>)}
        </nav>
        <button type="button" onClick={() => setHelp(true)} aria-label="Keys">?</button>
        <Theme />
      </header>
      {written && (
        <details class="written">
          <summary>{written.madeOf}</summary>
          <ul>{written.leftOut.map((one) => <li key={one}><Text of={one} /></li>)}</ul>
        </details>
      )}
      {waiting !== "" && <p class="waiting" role="status"><Text of={waiting} /></p>}
      {wants && <Token done={() => { setWants(false); setRound(round + 1); }} />}
      <main id="main" tabIndex={-1}><View key={`${route.view}${round}`} route={route} /></main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

function Theme(): JSX.Element {
  const [theme, setTheme] = useState(kept());
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("cograph-theme", theme);
    } catch {
      // A browser without storage forgets it.
    }
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return <button type="button" onClick={() => setTheme(next)} aria-label={`Theme ${theme}, switch to ${next}`}>{theme}</button>;
}

function kept(): string {
  try {
    const theme = localStorage.getItem("cograph-theme") ?? "auto";
    return THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}

function Token({ done }: { done: () => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form class="token" onSubmit={(event) => { event.preventDefault(); setToken(field.current?.value ?? ""); done(); }}>
      <label for="token">The bearer token of the server (<code>cograph serve</code> prints the file that has it)</label>
      <input id="token" type="password" ref={field} autocomplete="off" /> <button type="submit">use it</button>
    </form>
  );
}

const KEYS = [
  ["/", "search"],
  ["1 – 5", "search, map, matrix, change, path"],
  ["↑ ↓", "in lists, results and source: the next link"],
  ["← →", "of a symbol: callers, source, callees"],
  ["arrows", "on a map or matrix: the next box or dependency"],
  ["Enter", "open; on the first result from the field"],
  ["Alt ←", "back: every state is an address"],
];

function Help({ close }: { close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl>{KEYS.map(([name, what]) => <div key={name}><dt><kbd>{name}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <button type="button" onClick={close}>close</button>
    </dialog>
  );
}

// The shell of the document goes when the page is drawn.
const app = document.getElementById("app")!;
app.textContent = "";
render(<App />, app);
