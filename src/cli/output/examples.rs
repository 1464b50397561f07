//! Examples at the end of each command's help.

use clap::Command;

/// Commands, with their parents, and example lines of each: what is typed, and what it is for.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "cograph explore",
        &[
            ("cograph explore \"how is a queryset evaluated\"", "where to begin"),
            ("cograph explore \"$(cat issue.txt)\" --budget 4000", "code that an issue is about"),
        ],
    ),
    (
        "cograph search",
        &[
            ("cograph search csrf --kinds class", "classes with the word in their name"),
            ("cograph search 'parse_.*' --path src", "names that fit a regular expression"),
        ],
    ),
    (
        "cograph show",
        &[
            ("cograph show Parser.parse", "source of a symbol"),
            ("cograph show src/parser.rs:120", "the symbol at a line"),
            ("cograph show Parser.parse --calls", "only the lines with calls"),
        ],
    ),
    (
        "cograph outline",
        &[
            ("cograph outline src/parser.rs", "symbols of a file"),
            ("cograph outline Parser Lexer", "members of two types"),
        ],
    ),
    (
        "cograph trace",
        &[
            ("cograph trace Parser.parse", "callers"),
            ("cograph trace main --to Parser.parse", "the calls from one function to another"),
            ("cograph trace Parser.parse --tests only", "tests that reach a function"),
            ("cograph trace Parser.parse --root api:lib", "callers in two repositories"),
        ],
    ),
    (
        "cograph references",
        &[
            ("cograph references Parser", "every use, by file and kind"),
            ("cograph references Options.depth --kinds write", "where a field is set"),
            ("cograph references Parser --root ..", "in all repositories of a workspace"),
        ],
    ),
    (
        "cograph impact",
        &[
            ("cograph impact", "what the uncommitted changes break, and the tests to run"),
            ("cograph impact main..HEAD", "of a branch"),
        ],
    ),
    (
        "cograph coverage add",
        &[
            ("cograph coverage add .coverage", "after pytest --cov --cov-context=test"),
            ("cograph coverage add cover.out --test TestParse", "a file of one test"),
        ],
    ),
    (
        "cograph coverage status",
        &[("cograph coverage status", "how much is recorded, and how much of it is present")],
    ),
    ("cograph coverage remove", &[("cograph coverage remove", "forget all of it")]),
    (
        "cograph unused",
        &[
            ("cograph unused --classes unused", "what can be deleted"),
            ("cograph unused src/server", "below a directory, with the reasons for doubt"),
        ],
    ),
    ("cograph diff", &[("cograph diff v1.0..HEAD", "symbols and edges that came, went, moved")]),
    (
        "cograph overview",
        &[
            ("cograph overview", "modules, entry points, most used symbols"),
            ("cograph overview src/db", "of a directory"),
        ],
    ),
    (
        "cograph grep",
        &[
            ("cograph grep 'a[0]'", "text as it stands, with the enclosing symbols"),
            ("cograph grep --regex 'retry in \\d+' --path src", "a regular expression"),
        ],
    ),
    (
        "cograph sql",
        &[(
            "cograph sql \"SELECT name, refs FROM symbols ORDER BY refs DESC LIMIT 5\"",
            "the five most used symbols",
        )],
    ),
    ("cograph status", &[("cograph status", "what was read, what was left out and why")]),
    (
        "cograph index",
        &[
            ("cograph index", "the repository around the working directory"),
            ("cograph index --watch", "and keep the index up to date"),
        ],
    ),
    #[cfg(feature = "publish")]
    (
        "cograph publish",
        &[
            (
                "cograph publish s3://indexes/shop",
                "after `cograph index`, in continuous integration",
            ),
            ("cograph publish /srv/indexes/shop --keep 50", "into a directory; older commits go"),
        ],
    ),
    #[cfg(feature = "publish")]
    (
        "cograph pull",
        &[
            ("cograph pull s3://indexes/shop", "the newest published ancestor of the checkout"),
            ("cograph pull https://indexes.example/shop", "from a web server"),
        ],
    ),
    (
        "cograph export calls",
        &[("cograph export calls > calls.jsonl", "all call edges, one a line")],
    ),
    (
        "cograph cycles",
        &[
            ("cograph cycles", "files that import each other, and what to cut"),
            ("cograph cycles src/server", "of imports between the files of a directory"),
        ],
    ),
    (
        "cograph check",
        &[
            ("cograph check", "what breaks the rules and is not in the baseline"),
            ("cograph check --write-baseline", "make the baseline, or take out what is gone"),
            ("cograph check --format sarif > check.sarif", "for the review of a pull request"),
        ],
    ),
    (
        "cograph page",
        &[
            ("cograph page", "show the repository in a browser"),
            ("cograph page --out page.html", "write it as one file"),
        ],
    ),
    (
        "cograph export dot",
        &[
            ("cograph export dot > modules.dot", "modules, with cycles in red"),
            ("cograph export dot --from main --to Parser.parse", "a path of calls"),
        ],
    ),
    (
        "cograph export mermaid",
        &[
            ("cograph export mermaid --around Parser.parse", "callers and callees, for Markdown"),
            ("cograph export mermaid --path src --depth 1", "modules of a directory"),
        ],
    ),
    (
        "cograph export parquet",
        &[
            ("cograph export parquet tables", "this repository, in a dataset of many"),
            ("cograph export parquet tables --name team/service", "under another name"),
        ],
    ),
    (
        "cograph export scip",
        &[
            ("cograph export scip", "the index of other tools, as index.scip"),
            ("cograph export scip --output - > own.scip", "on standard output"),
        ],
    ),
    (
        "cograph import scip",
        &[
            (
                "cograph import scip index.scip",
                "the index of a compiler, after its indexer has run",
            ),
            ("cograph import scip web.scip --below web", "of a project in a directory"),
        ],
    ),
    ("cograph import remove", &[("cograph import remove", "back to what is inferred")]),
    (
        "cograph mcp",
        &[
            ("cograph mcp", "what a client's configuration starts"),
            ("cograph mcp --root ~/src/project", "for one repository"),
        ],
    ),
    ("cograph lsp", &[("cograph lsp", "what an editor's configuration starts")]),
    ("cograph serve", &[("cograph serve", "one process for all clients of this machine")]),
    (
        "cograph hook",
        &[
            (
                "cograph hook session-start",
                "what a client runs first; `install --hooks` has it do so",
            ),
            (
                "cograph hook post-tool-use --client codex",
                "after a search or an edit; its JSON comes on stdin",
            ),
        ],
    ),
    ("cograph doctor", &[("cograph doctor", "is everything there that a client needs?")]),
    (
        "cograph install",
        &[
            ("cograph install claude-code", "add the server to a client"),
            ("cograph install codex --dry-run", "show what would be written"),
        ],
    ),
    ("cograph uninstall", &[("cograph uninstall claude-code", "remove it again")]),
    ("cograph completions", &[("cograph completions fish", "print what the shell is to read")]),
    ("cograph grammar check", &[("cograph grammar check own/grammar.toml", "errors, by line")]),
    (
        "cograph grammar explain",
        &[("cograph grammar explain src/queue.rs", "what is read from a file")],
    ),
];

/// Commands whose first example the help of the program shows.
const FIRST: [&str; 4] = ["cograph explore", "cograph trace", "cograph impact", "cograph install"];

/// First examples of the commands that are wanted.
fn first_of(is_wanted: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    let wanted = EXAMPLES.iter().filter(|(path, _)| is_wanted(path));
    wanted.filter_map(|(_, examples)| examples.first().copied()).collect()
}

fn rendered(examples: &[(&str, &str)]) -> String {
    let width = examples.iter().map(|(line, _)| line.len()).max().unwrap_or_default();
    let mut text = "Examples:".to_owned();
    for (line, purpose) in examples {
        text += &format!("\n  {line:width$}  {purpose}");
    }
    text
}

/// Adds the examples to the help of all commands, and of those that only have commands below them.
pub(crate) fn add(mut program: Command) -> Command {
    program = program.after_help(rendered(&first_of(|path| FIRST.contains(&path))));
    let parents: Vec<String> = program
        .get_subcommands()
        .filter(|command| command.has_subcommands())
        .map(|command| command.get_name().to_owned())
        .collect();
    for name in parents {
        let below = format!("cograph {name} ");
        let text = rendered(&first_of(|path| path.starts_with(&below)));
        program = program.mut_subcommand(name, |command| command.after_help(text));
    }
    for (path, examples) in EXAMPLES {
        let text = rendered(examples);
        let path = path.trim_start_matches("cograph ");
        program = match path.split_once(' ') {
            Some((parent, name)) => program.mut_subcommand(parent, |parent| {
                parent.mut_subcommand(name, |command| command.after_help(text))
            }),
            None => program.mut_subcommand(path, |command| command.after_help(text)),
        };
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands without subcommands that help lists, by their paths.
    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        let below: Vec<_> =
            command.get_subcommands().filter(|below| !below.is_hide_set()).collect();
        if below.is_empty() {
            found.push(path.to_owned());
        }
        for below in below {
            leaves(below, format!("{path} {}", below.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_command_has_examples() {
        let mut found = Vec::new();
        leaves(&crate::command(), "", &mut found);
        let named: Vec<&str> = EXAMPLES.iter().map(|(path, _)| *path).collect();
        found.retain(|path| !named.contains(&format!("cograph {path}").as_str()));
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn every_help_has_examples() {
        fn check(command: &mut Command, path: &str) {
            let help = command.render_help().to_string();
            assert!(help.contains("\nExamples:\n  cograph "), "{path} --help: {help}");
            let below: Vec<String> = command
                .get_subcommands()
                .filter(|below| !below.is_hide_set() && below.get_name() != "help")
                .map(|below| below.get_name().to_owned())
                .collect();
            for name in below {
                let path = format!("{path} {name}");
                check(command.find_subcommand_mut(&name).expect("it was listed"), &path);
            }
        }
        check(&mut crate::command(), "cograph");
    }

    #[test]
    fn every_example_is_a_command_line_that_is_understood() {
        for (path, examples) in EXAMPLES {
            for (line, _) in *examples {
                let line = line.split(" > ").next().unwrap_or_default();
                let words = shlex::split(line).expect("its quotes are closed");
                assert_eq!(words.first().map(String::as_str), Some("cograph"), "{line}");
                assert!(line.starts_with(path), "{line}");
                let found = crate::command().try_get_matches_from(words);
                if let Err(error) = found {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
