//! A small repository on disk and random edits of it, the kinds that people and tools make.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::sources::STYLES;

/// Numbers from a seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// One of `0..end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 11).expect("64 bits") % end
    }
}

/// The repository.
pub(super) struct Tree {
    root: PathBuf,
    random: Random,
    files: BTreeMap<String, String>,
}

const FOLDERS: [&str; 5] = ["", "app", "app/core", "lib", "src"];
const STEMS: [&str; 6] = ["one", "two", "three", "index", "lib", "__init__"];

impl Tree {
    pub(super) fn new(root: PathBuf, seed: u64) -> Self {
        Self { root, random: Random::new(seed), files: BTreeMap::new() }
    }

    /// The same files at another root, whose edits are others.
    pub(super) fn copied_to(&self, root: PathBuf, seed: u64) -> Self {
        let mut copy = Self::new(root, seed);
        for (path, text) in &self.files {
            copy.write(path, text.clone());
        }
        copy
    }

    /// The first files. Half of the repositories are in two languages only, so that these meet more
    /// often.
    pub(super) fn grow(&mut self) {
        let one = self.random.below(STYLES.len());
        let (few, other) = (self.random.below(2) == 0, self.random.below(STYLES.len()));
        for number in 0..14 {
            let style = match few {
                true => [one, other][number % 2],
                false => number % STYLES.len(),
            };
            self.add(style);
        }
        self.manifest();
    }

    fn write(&mut self, path: &str, text: String) {
        let place = self.root.join(path);
        fs::create_dir_all(place.parent().expect("below the root")).expect("a folder");
        fs::write(place, &text).expect("written");
        self.files.insert(path.to_owned(), text);
    }

    fn remove(&mut self, path: &str) -> String {
        fs::remove_file(self.root.join(path)).expect("it was written");
        self.files.remove(path).expect("a file of the tree")
    }

    fn others(&self, ending: &str) -> Vec<String> {
        let family = |path: &&String| {
            let own = path.rsplit('.').next().unwrap_or_default();
            let same = |group: &[&str]| group.contains(&own) && group.contains(&ending);
            own == ending || same(&["js", "ts", "tsx"]) || same(&["c", "cpp", "h"])
        };
        self.files.keys().filter(family).cloned().collect()
    }

    fn text(&mut self, style: usize) -> String {
        let others = self.others(STYLES[style].ending);
        (STYLES[style].text)(&mut self.random, &others)
    }

    fn new_path(&mut self, ending: &str) -> String {
        let (folder, stem) =
            (FOLDERS[self.random.below(FOLDERS.len())], STEMS[self.random.below(STEMS.len())]);
        let ending =
            if matches!(ending, "c" | "cpp") && self.random.below(3) == 0 { "h" } else { ending };
        if folder.is_empty() {
            format!("{stem}.{ending}")
        } else {
            format!("{folder}/{stem}.{ending}")
        }
    }

    fn add(&mut self, style: usize) -> String {
        let path = self.new_path(STYLES[style].ending);
        let text = self.text(style);
        self.write(&path, text);
        path
    }

    /// A file with source, and the position of its style.
    fn source(&mut self) -> Option<(String, usize)> {
        let style = |path: &str| {
            let own = path.rsplit('.').next().unwrap_or_default();
            let own = if own == "h" { "c" } else { own };
            STYLES.iter().position(|style| style.ending == own)
        };
        let all: Vec<(String, usize)> =
            self.files.keys().filter_map(|path| Some((path.clone(), style(path)?))).collect();
        (!all.is_empty()).then(|| all[self.random.below(all.len())].clone())
    }

    fn manifest(&mut self) -> String {
        let number = self.random.below(3);
        let (path, text) = match self.random.below(8) {
            6 => (
                "compile_commands.json",
                format!(
                    "[{{\"directory\": \"/r\", \"file\": \"app/one.c\", \"command\": \"cc -I{} \
                     -D{} app/one.c\"}}]",
                    ["app", "lib", "src"][number],
                    ["ONE", "TWO", "ONE=0"][number]
                ),
            ),
            7 => (".config", format!("CONFIG_{}=y\n", ["ONE", "TWO", "THREE"][number])),
            0 => (
                "package.json",
                format!("{{\"name\": \"root{number}\", \"main\": \"./app/one.js\"}}"),
            ),
            1 => {
                let target = ["app", "lib", "src"][number];
                (
                    "tsconfig.json",
                    format!(
                        "{{\"compilerOptions\": {{\"baseUrl\": \".\", \"paths\": {{\"@lib/*\": \
                         [\"{target}/*\"]}}}}}}"
                    ),
                )
            }
            2 => (
                "lib/package.json",
                format!(
                    "{{\"name\": \"shared\", \"main\": \"./{}.ts\"}}",
                    ["one", "two", "index"][number]
                ),
            ),
            3 => (
                "go.mod",
                format!("module example.org/{}\n\ngo 1.22\n", ["app", "other", "app"][number]),
            ),
            4 => {
                let name = ["tools", "app", "tools"][number];
                (
                    "Cargo.toml",
                    format!(
                        "[package]\nname = \"{name}\"\n[dependencies]\nserde{number} = \"1\"\n\
                         [lib]\npath = \"src/{}.rs\"\n",
                        ["lib", "one", "lib"][number]
                    ),
                )
            }
            _ => (
                "lib/Cargo.toml",
                format!(
                    "[package]\nname = \"tools\"\n[lib]\npath = \"{}.rs\"\n",
                    ["lib", "one", "two"][number]
                ),
            ),
        };
        if self.files.contains_key(path) && self.random.below(4) == 0 {
            self.remove(path);
            return format!("removed {path}");
        }
        self.write(path, text);
        format!("wrote {path}")
    }

    /// Does one edit and says which.
    pub(super) fn edit(&mut self) -> String {
        let kind = self.random.below(18);
        let Some((path, style)) = self.source() else { return self.add(0) };
        match kind {
            0 => {
                let style = self.random.below(STYLES.len());
                format!("added {}", self.add(style))
            }
            1 => {
                self.remove(&path);
                format!("removed {path}")
            }
            2 | 3 => {
                let ending = path.rsplit('.').next().unwrap_or_default().to_owned();
                let text = self.remove(&path);
                let to = self.new_path(&ending);
                self.write(&to, text);
                format!("moved {path} to {to}")
            }
            4 => {
                let Some((other, _)) = self.source() else { return String::new() };
                let (a, b) = (self.files[&path].clone(), self.files[&other].clone());
                self.write(&path, b);
                self.write(&other, a);
                format!("swapped {path} and {other}")
            }
            5 => {
                let text = self.files[&path].clone();
                let cut = (0..=self.random.below(text.len() + 1))
                    .rev()
                    .find(|at| text.is_char_boundary(*at))
                    .unwrap_or(0);
                self.write(&path, text[..cut].to_owned());
                format!("cut {path} at {cut}")
            }
            6 => self.manifest(),
            7 => {
                let ignored =
                    ["app/core/", "*.js", "lib/one.*", "", "two.py"][self.random.below(5)];
                fs::write(self.root.join(".gitignore"), format!("{ignored}\n")).expect("written");
                format!("ignored {ignored:?}")
            }
            8 => {
                let (folder, name) = path
                    .rsplit_once('/')
                    .map_or(("", path.as_str()), |(folder, name)| (folder, name));
                let upper = name.chars().next().is_some_and(char::is_uppercase);
                let name =
                    if upper { name.to_lowercase() } else { name[..1].to_uppercase() + &name[1..] };
                let to = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                let text = self.remove(&path);
                self.write(&to, text);
                format!("renamed {path} to {to}")
            }
            9 => {
                let mode = [0o755, 0o644, 0o600][self.random.below(3)];
                fs::set_permissions(self.root.join(&path), fs::Permissions::from_mode(mode))
                    .expect("it is ours");
                format!("mode {mode:o} of {path}")
            }
            10 => {
                let text = self.text(style);
                self.write(&path, text);
                format!("rewrote {path}")
            }
            11 | 12 => {
                // A name, everywhere in the file: renames, other bases, other signatures.
                let names = [
                    "open", "read", "close", "merge", "Alpha", "Beta", "Gamma", "start", "step",
                    "finish", "export ", "(a)",
                ];
                let (from, to) =
                    (names[self.random.below(names.len())], names[self.random.below(names.len())]);
                let text = self.files[&path].replace(from, to);
                self.write(&path, text);
                format!("{from} is {to} in {path}")
            }
            13 | 14 => {
                // A function at the end: one more, or one less.
                let number = self.random.below(4);
                let ending = path.rsplit('.').next().unwrap_or_default();
                let function = match ending {
                    "py" => format!("\n\ndef extra_{number}():\n    return open()\n"),
                    "js" | "ts" | "tsx" => {
                        format!("\nexport function extra_{number}() {{ return open(); }}\n")
                    }
                    "rs" => format!("\npub fn extra_{number}() {{ open(); }}\n"),
                    "go" => format!("\nfunc extra_{number}() {{ open() }}\n"),
                    _ => format!("\nint extra_{number}(void) {{ return open(); }}\n"),
                };
                let text = self.files[&path].clone();
                let text = text
                    .strip_suffix(&function)
                    .map_or_else(|| format!("{text}{function}"), str::to_owned);
                self.write(&path, text);
                format!("extra_{number} at the end of {path}, or no more")
            }
            _ => {
                // A body: a call next to an existing one.
                let text = self.files[&path].clone();
                let calls: Vec<usize> = text.match_indices("return ").map(|(at, _)| at).collect();
                if calls.is_empty() {
                    return "nothing".to_owned();
                }
                let at = calls[self.random.below(calls.len())];
                let name =
                    ["open", "read", "merge", "fetch", "extra_0", "extra_1"][self.random.below(6)];
                let end = if path.ends_with(".py") { "\n        " } else { "; " };
                let text = format!("{}{name}(){end}{}", &text[..at], &text[at..]);
                self.write(&path, text);
                format!("a call of {name} in {path}")
            }
        }
    }
}
