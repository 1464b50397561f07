//! Words of everyday speech that comments may not use where the field has a term: "nobody",
//! "whoever", "told".

use super::lexer::{Kind, Token, tokens};
use super::rules::Violation;

/// The folder whose comments are held to `PRIVATE`.
const HELD: &str = "src/";

/// Words and phrases, each with the terms that it hides.
const PRIVATE: &[(&str, &str)] = &[
    ("anybody", "client, caller, process"),
    ("nobody", "client, caller, process"),
    ("somebody", "client, caller, process"),
    ("whoever", "client, caller, process"),
    ("stranger", "client, user"),
    ("strangers", "clients, users"),
    ("told", "sent, reported, notified"),
    ("tells", "sends, reports, notifies"),
    ("hears", "receives"),
    ("heard", "received"),
    ("beside", "next to, in addition to"),
    ("stands for", "represents, abbreviates"),
    ("stood", "was"),
    ("taken in", "indexed, applied, admitted"),
    ("takes in", "indexes, applies, admits"),
    ("let go", "dropped, released, evicted"),
    ("lets go", "drops, releases, evicts"),
    ("gives way", "is evicted"),
    ("mend", "fix"),
    ("so many", "a number, a limit"),
    ("so often", "a number, a rate"),
    ("so long", "a timeout, a duration"),
    ("as good as", "equal to"),
    ("is there", "exists"),
    ("looked at", "checked, read, compared"),
    ("looks at", "checks, reads, compares"),
    ("it says", "contains, reports"),
    ("says so", "reports"),
    ("is asked", "is queried, is requested"),
    ("was asked", "was queried, was requested"),
    ("other side", "peer, parent process"),
    ("the life of", "the lifetime of, the main loop of"),
    ("stand for", "represent, abbreviate"),
    ("speak for", "are evidence for"),
    ("speaks for", "is evidence for"),
    ("goes by", "is named, uses"),
    ("go by", "are named, use"),
    ("is said", "is reported"),
    ("looked through", "scanned, searched"),
    ("looks through", "scans, searches"),
    ("at hand", "current, in memory"),
    ("in the place of", "instead of"),
];

/// The private words in the comments of a file of `HELD`. Code in backticks is exempt;
/// a phrase may be broken over two lines.
pub(super) fn private_words(path: &str, text: &str) -> Vec<Violation> {
    if !path.starts_with(HELD) {
        return Vec::new();
    }
    let all = tokens(text);
    let comments: Vec<&Token> = all.iter().filter(|token| token.kind == Kind::Comment).collect();
    let mut found = Vec::new();
    for block in comments.chunk_by(|one, next| one.line + 1 == next.line) {
        let words: Vec<(usize, String)> = block.iter().flat_map(|token| words_of(token)).collect();
        for (phrase, terms) in PRIVATE {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let is_it = |window: &&[(usize, String)]| {
                window.iter().map(|(_, word)| word.as_str()).eq(phrase.iter().copied())
            };
            found.extend(words.windows(phrase.len()).filter(is_it).map(|window| Violation {
                line: window[0].0,
                what: format!("a private word, `{}`: say {terms}", phrase.join(" ")),
            }));
        }
    }
    found
}

/// The words of a comment in lower case, with its line; of code in backticks nothing.
fn words_of(token: &Token) -> Vec<(usize, String)> {
    let prose: Vec<&str> = token.text.split('`').step_by(2).collect();
    prose
        .join(" ` ")
        .split(|c: char| !c.is_alphanumeric() && c != '`' && c != '\'')
        .filter(|word| !word.is_empty())
        .map(|word| (token.line, word.to_lowercase()))
        .collect()
}

#[test]
fn comments_use_the_words_of_the_field() {
    super::hold(&super::sources(&["src"]), private_words);
}

#[test]
fn planted_private_words_are_seen() {
    let planted = [
        "//! Nobody waits.\n",
        "    /// Whoever waits is\n    /// told of it.\n",
        "fn f() {} // there are so\n// many\n",
        "// The file beside it.\n",
    ];
    let seen = planted.map(|text| super::lines(private_words("src/store/x.rs", text)));
    assert_eq!(seen, [vec![1], vec![1, 2], vec![1], vec![1]]);
    for (phrase, _) in PRIVATE {
        let text = format!("/// Reason: {phrase}.\n");
        assert_eq!(super::lines(private_words("src/lib.rs", &text)), [1], "{phrase}");
    }
    for (path, allowed) in [
        ("src/store/x.rs", "fn nobody() { f(\"told\") }\n"),
        ("src/store/x.rs", "/// The variant `Nobody`, and `f(told)`.\n"),
        ("src/store/x.rs", "/// So.\n\n/// Many.\n"),
        ("tests/x.rs", "/// Nobody.\n"),
    ] {
        assert_eq!(private_words(path, allowed), [], "{allowed}");
    }
}
