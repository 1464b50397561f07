//! Searches in calls of tools: patterns of the search programs that a shell command runs, and of
//! the search tools of clients. Only searches in code count.

use super::pattern::{SoughtName, Syntax, name_of_file, names};
use super::shell::{ShellCommand, commands};
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use serde_json::Value;

/// Maximum nesting of shells in shells.
const MAX_NESTING: usize = 3;

/// Directories with code of others, which an index leaves out.
const FOREIGN: [&str; 5] = ["node_modules", "site-packages", ".git", ".venv", "venv"];

/// Search for names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SymbolSearch {
    /// Names, in the order of the pattern.
    pub(super) names: Vec<SoughtName>,
    /// True if it ignores case.
    pub(super) ignores_case: bool,
}

/// Search program.
struct Program {
    names: &'static [&'static str],
    /// Short options with a value.
    valued: &'static str,
    syntax: Syntax,
    /// True if it searches the working directory by itself.
    walks: bool,
}

static PROGRAMS: [Program; 6] = [
    Program { names: &["grep"], valued: "efABCmdD", syntax: Syntax::Basic, walks: false },
    Program { names: &["egrep"], valued: "efABCmdD", syntax: Syntax::Extended, walks: false },
    Program { names: &["fgrep"], valued: "efABCmdD", syntax: Syntax::Fixed, walks: false },
    Program {
        names: &["rg", "ripgrep"],
        valued: "efgtTABCmMjrEd",
        syntax: Syntax::Extended,
        walks: true,
    },
    Program { names: &["ag"], valued: "ABCmGpW", syntax: Syntax::Extended, walks: true },
    Program { names: &["ack", "ack-grep"], valued: "ABCm", syntax: Syntax::Extended, walks: true },
];

/// `git grep`.
static GIT: Program = Program { names: &[], valued: "efABCmO", syntax: Syntax::Basic, walks: true };

/// Long options with a value that may be a word of its own.
const VALUED: &str = "after-context before-context colors context depth encoding exclude \
                      exclude-dir file glob iglob ignore ignore-dir include max-count max-depth \
                      max-filesize regexp replace sort sortr threads type type-not";

/// Programs that run the command behind them: name, options with a value, operands before it.
static WRAPPERS: [(&str, &str, usize); 15] = [
    ("builtin", "", 0),
    ("command", "", 0),
    ("do", "", 0),
    ("else", "", 0),
    ("env", "uCS", 0),
    ("if", "", 0),
    ("ionice", "cnp", 0),
    ("nice", "n", 0),
    ("nohup", "", 0),
    ("stdbuf", "ioe", 0),
    ("sudo", "ugpCh", 0),
    ("then", "", 0),
    ("time", "fo", 0),
    ("timeout", "ks", 1),
    ("xargs", "IiLnPdEsaJR", 0),
];

/// Searches in a call of a tool.
pub(super) fn searches(tool: &str, input: &Value) -> Vec<SymbolSearch> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let mut found = match (input.get("command").or_else(|| input.get("cmd")), text("pattern")) {
        (Some(Value::String(line)), _) => in_line(line, 0),
        (Some(Value::Array(words)), _) => {
            let words = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            in_command(&ShellCommand { words, is_fed: false }, None, 0)
        }
        (_, Some(glob)) if tool.to_ascii_lowercase().contains("glob") => {
            vec![SymbolSearch {
                names: name_of_file(glob).into_iter().collect(),
                ..Default::default()
            }]
        }
        (_, Some(pattern)) => {
            let places = ["path", "dir_path", "glob", "include", "include_pattern"];
            let kind = text("type").map(of_type);
            let places: Vec<&str> =
                places.iter().filter_map(|key| text(key)).chain(kind.as_deref()).collect();
            let is_set = |key: &str| input.get(key).is_some_and(|value| *value == true);
            let ignores_case = is_set("-i") || is_set("case_insensitive");
            match places.iter().any(|place| is_outside(place)) {
                true => Vec::new(),
                false => {
                    vec![SymbolSearch {
                        names: names(pattern, Syntax::Extended, false),
                        ignores_case,
                    }]
                }
            }
        }
        _ => Vec::new(),
    };
    found.retain(|search| !search.names.is_empty());
    found
}

/// Searches of a shell line.
fn in_line(line: &str, nesting: usize) -> Vec<SymbolSearch> {
    let commands = commands(line);
    let mut found = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let feeder = at.checked_sub(1).map(|before| &commands[before]).filter(|_| command.is_fed);
        found.extend(in_command(command, feeder, nesting));
    }
    found
}

/// Searches of a command, which may read the output of another one.
fn in_command(
    command: &ShellCommand,
    feeder: Option<&ShellCommand>,
    nesting: usize,
) -> Vec<SymbolSearch> {
    let mut words: &[String] = &command.words;
    let mut takes_files = false;
    loop {
        let Some(first) = words.first() else { return Vec::new() };
        let name = first.rsplit('/').next().unwrap_or(first);
        if is_assignment(first) || matches!(name, "!" | "{" | "while" | "until" | "elif") {
            words = &words[1..];
        } else if let Some((_, valued, operands)) =
            WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name)
        {
            takes_files |= name == "xargs";
            words = behind_options(&words[1..], valued).get(*operands..).unwrap_or_default();
        } else if let Some(line) = line_of_shell(name, &words[1..]) {
            return if nesting < MAX_NESTING { in_line(line, nesting + 1) } else { Vec::new() };
        } else if name == "find" {
            let is_run = |word: &String| matches!(word.as_str(), "-exec" | "-execdir");
            let Some(at) = words.iter().position(is_run) else { return Vec::new() };
            if of_options(&words[..at], "-name").any(is_outside) {
                return Vec::new();
            }
            takes_files = true;
            words = &words[at + 1..];
            let end = words.iter().position(|word| matches!(word.as_str(), ";" | "+"));
            words = &words[..end.unwrap_or(words.len())];
        } else {
            let program = PROGRAMS.iter().find(|program| program.names.contains(&name));
            let (program, words) = match program {
                Some(program) => (program, &words[1..]),
                None if name == "git" => {
                    let words = behind_options(&words[1..], "C c");
                    match words.split_first() {
                        Some((first, rest)) if first == "grep" => (&GIT, rest),
                        _ => return Vec::new(),
                    }
                }
                None => return Vec::new(),
            };
            // Files by name: those of one kind may be no code.
            let listed = feeder.filter(|_| takes_files).map_or(&[][..], |feeder| &feeder.words);
            let mut globs = listed.iter().filter(|word| word.contains('*')).peekable();
            if globs.peek().is_some() && globs.all(|glob| is_outside(glob)) {
                return Vec::new();
            }
            let feeder = feeder.filter(|_| !takes_files);
            return in_search(program, words, feeder, takes_files).into_iter().collect();
        }
    }
}

/// Words of a search program, parsed.
#[derive(Default)]
struct SearchWords<'w> {
    patterns: Vec<&'w str>,
    operands: Vec<&'w str>,
    /// Globs and types that files must match.
    kinds: Vec<String>,
    syntax: Option<Syntax>,
    ignores_case: bool,
    whole_words: bool,
    walks: bool,
    /// True if it searches no text for the pattern.
    is_other: bool,
}

fn in_search(
    program: &Program,
    words: &[String],
    feeder: Option<&ShellCommand>,
    takes_files: bool,
) -> Option<SymbolSearch> {
    let mut parsed = parse(program, words);
    if parsed.patterns.is_empty() && !parsed.operands.is_empty() {
        parsed.patterns.push(parsed.operands.remove(0));
    }
    let mut places = parsed.operands.clone();
    if places.is_empty() && !parsed.walks && !takes_files {
        // Standard input: the text of files, or no code.
        let (first, files) = feeder?.words.split_first()?;
        let shows = ["cat", "head", "tail", "sed", "nl", "bat", "less"];
        if !shows.contains(&first.as_str()) {
            return None;
        }
        places = files.iter().map(String::as_str).filter(|word| word.contains('.')).collect();
        if places.is_empty() {
            return None;
        }
    } else if places.is_empty() && feeder.is_some() && program.walks {
        return None;
    }
    let is_elsewhere = !places.is_empty() && places.iter().all(|place| is_outside(place));
    let is_of_others = !parsed.kinds.is_empty() && parsed.kinds.iter().all(|kind| is_outside(kind));
    if parsed.is_other || is_elsewhere || is_of_others {
        return None;
    }
    let syntax = parsed.syntax.unwrap_or(program.syntax);
    let found = parsed.patterns.iter().flat_map(|text| names(text, syntax, parsed.whole_words));
    Some(SymbolSearch { names: found.collect(), ignores_case: parsed.ignores_case })
}

fn parse<'w>(program: &Program, words: &'w [String]) -> SearchWords<'w> {
    let mut parsed = SearchWords { walks: program.walks, ..SearchWords::default() };
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            parsed.operands.extend(words.by_ref());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, given) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let takes = VALUED.split(' ').any(|known| known == name);
            let value = if given.is_none() && takes { words.next() } else { given };
            parsed.long(name, value);
        } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
            for (at, letter) in short.char_indices() {
                let rest = &short[at + letter.len_utf8()..];
                if program.valued.contains(letter) {
                    let value = if rest.is_empty() { words.next() } else { Some(rest) };
                    parsed.valued(letter, value, program);
                    break;
                }
                parsed.short(letter, program);
            }
        } else {
            parsed.operands.push(word);
        }
    }
    parsed
}

impl<'w> SearchWords<'w> {
    fn long(&mut self, name: &str, value: Option<&'w str>) {
        match name {
            "regexp" => self.patterns.extend(value),
            "include" | "glob" | "iglob" => self.kinds.extend(wanted(value)),
            "type" => self.kinds.extend(value.map(of_type)),
            "fixed-strings" | "literal" => self.syntax = Some(Syntax::Fixed),
            "extended-regexp" | "perl-regexp" | "pcre2" => self.syntax = Some(Syntax::Extended),
            "ignore-case" => self.ignores_case = true,
            "word-regexp" => self.whole_words = true,
            "recursive" | "dereference-recursive" => self.walks = true,
            "files" | "type-list" | "version" | "help" | "invert-match" => self.is_other = true,
            _ => {}
        }
    }

    fn valued(&mut self, letter: char, value: Option<&'w str>, program: &Program) {
        match letter {
            'e' => self.patterns.extend(value),
            'f' => self.is_other = true,
            'g' => self.kinds.extend(wanted(value)),
            't' => self.kinds.extend(value.map(of_type)),
            'G' if !program.valued.contains('e') => self.kinds.extend(wanted(value)),
            _ => {}
        }
    }

    fn short(&mut self, letter: char, program: &Program) {
        match letter {
            'F' | 'Q' => self.syntax = Some(Syntax::Fixed),
            'E' | 'P' => self.syntax = Some(Syntax::Extended),
            'i' => self.ignores_case = true,
            'w' => self.whole_words = true,
            'r' | 'R' => self.walks = true,
            'v' | 'V' => self.is_other = true,
            // File names in one program and counts in others.
            'f' | 'g' if !program.valued.contains(letter) => self.is_other = true,
            _ => {}
        }
    }
}

/// Glob of files that are searched, not one that leaves files out.
fn wanted(glob: Option<&str>) -> Option<String> {
    glob.filter(|glob| !glob.starts_with('!')).map(str::to_owned)
}

/// Glob of a file type, whose name usually is the extension of its files.
fn of_type(name: &str) -> String {
    format!("*.{name}")
}

/// The words behind the options of a wrapper, and its assignments.
fn behind_options<'w>(mut words: &'w [String], valued: &str) -> &'w [String] {
    while let Some(first) = words.first() {
        let short = first.strip_prefix('-').filter(|short| !short.starts_with('-'));
        let takes_next = short.is_some_and(|short| {
            let mut letters = short.chars();
            letters.next().is_some_and(|letter| valued.contains(letter)) && letters.next().is_none()
        });
        words = match first {
            _ if takes_next => words.get(2..).unwrap_or_default(),
            _ if first.starts_with('-') || is_assignment(first) => &words[1..],
            _ => break,
        };
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// The line that a shell is given as an argument.
fn line_of_shell<'w>(program: &str, words: &'w [String]) -> Option<&'w str> {
    let option = words.first()?;
    let is_line = option.starts_with('-') && option.ends_with('c') && !option.starts_with("--");
    (program.ends_with("sh") && is_line).then(|| words.get(1).map(String::as_str))?
}

fn of_options<'w>(words: &'w [String], option: &str) -> impl Iterator<Item = &'w str> {
    words.windows(2).filter(move |pair| pair[0] == option).map(|pair| pair[1].as_str())
}

/// True if a path, glob or file type leads to no code of the repository: documents, data, logs,
/// files of others.
fn is_outside(place: &str) -> bool {
    let place = place.trim_start_matches("./");
    if place.starts_with("/var/") || place.starts_with("/tmp/") || place.starts_with("/etc/") {
        return true;
    }
    if place.split('/').any(|part| FOREIGN.contains(&part)) {
        return true;
    }
    let file = place.rsplit('/').next().unwrap_or(place).replace(['*', '{', '}'], "");
    let Some((_, extension)) = file.rsplit_once('.').filter(|(_, extension)| {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == ',';
        !extension.is_empty() && extension.chars().all(is_part)
    }) else {
        return false;
    };
    let extensions = extension.split(',').map(|extension| format!("file.{extension}"));
    extensions.into_iter().all(|file| {
        let language = RepoPath::new(&file).and_then(|path| grammar::detect(&path, b"", &[]));
        let name = language.map(|language| grammar::names()[usize::from(language.0)]);
        name.is_none_or(grammar::has_data)
    })
}
