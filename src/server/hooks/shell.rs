//! Commands of a shell line: split at operators outside of quotes, then into words. Knows no
//! program.

/// Simple command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ShellCommand {
    /// Words, without redirections.
    pub(super) words: Vec<String>,
    /// True if it reads the output of the previous one.
    pub(super) is_fed: bool,
}

/// Splits a line, or several. Unbalanced quotes leave out the command that has them.
pub(super) fn commands(line: &str) -> Vec<ShellCommand> {
    let mut splitter = Splitter { rest: line, current: String::new(), fed: false, found: vec![] };
    splitter.run();
    splitter.found
}

struct Splitter<'l> {
    rest: &'l str,
    current: String,
    fed: bool,
    found: Vec<ShellCommand>,
}

impl Splitter<'_> {
    fn run(&mut self) {
        let mut documents: Vec<String> = Vec::new();
        while let Some(letter) = self.next() {
            match letter {
                '\\' => match self.next() {
                    Some('\n') => self.current.push(' '),
                    Some(other) => self.current.extend(['\\', other]),
                    None => {}
                },
                '\'' | '"' => self.quoted(letter),
                '#' if self.current.is_empty() || self.current.ends_with(char::is_whitespace) => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                '\n' => {
                    self.end(false);
                    for document in documents.drain(..) {
                        self.skip_document(&document);
                    }
                }
                ';' | '(' | ')' | '`' => {
                    let is_substitution = letter == '(' && self.current.ends_with('$');
                    if is_substitution {
                        self.current.pop();
                    }
                    self.end(false);
                }
                '|' if self.eat("|") => self.end(false),
                '|' => {
                    self.eat("&");
                    self.end(true);
                }
                '&' if self.rest.starts_with('>') => {}
                '&' => {
                    self.eat("&");
                    self.end(false);
                }
                '<' | '>' => documents.extend(self.redirection(letter)),
                other => self.current.push(other),
            }
        }
        self.end(false);
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Copies a quoted part with its quotes.
    fn quoted(&mut self, quote: char) {
        self.current.push(quote);
        while let Some(letter) = self.next() {
            self.current.push(letter);
            if letter == quote {
                return;
            }
            if letter == '\\' && quote == '"' {
                let escaped = self.next();
                self.current.extend(escaped);
            }
        }
    }

    /// Skips a redirection with its word. Returns the delimiter of a document that follows the
    /// line.
    fn redirection(&mut self, first: char) -> Option<String> {
        let digits = self.current.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        if self.current[..digits].ends_with(char::is_whitespace) || digits == 0 {
            self.current.truncate(digits);
        }
        let is_document =
            first == '<' && self.rest.starts_with('<') && !self.rest.starts_with("<<");
        self.rest = self.rest.trim_start_matches(['<', '>', '&', '|', '-']);
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if self.rest.starts_with('(') {
            return None;
        }
        let outer = std::mem::take(&mut self.current);
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                '\'' | '"' => {
                    self.next();
                    self.quoted(letter);
                }
                _ if letter.is_whitespace() || ";|&()<>`".contains(letter) => break,
                _ => {
                    self.current.push(letter);
                    self.next();
                }
            }
        }
        let word = std::mem::replace(&mut self.current, outer);
        self.current.push(' ');
        is_document.then(|| word.replace(['\'', '"', '\\'], ""))
    }

    fn skip_document(&mut self, delimiter: &str) {
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            if line.trim() == delimiter {
                return;
            }
        }
    }

    /// Ends a command; the next one reads its output if `feeds`.
    fn end(&mut self, feeds: bool) {
        let words = shlex::split(&self.current).unwrap_or_default();
        self.current.clear();
        let is_fed = std::mem::replace(&mut self.fed, feeds);
        if !words.is_empty() {
            self.found.push(ShellCommand { words, is_fed });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[(&[&str], bool)]) {
        let found = commands(line);
        let found: Vec<(Vec<&str>, bool)> = found
            .iter()
            .map(|command| (command.words.iter().map(String::as_str).collect(), command.is_fed))
            .collect();
        let expected: Vec<(Vec<&str>, bool)> =
            expected.iter().map(|(words, is_fed)| (words.to_vec(), *is_fed)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_are_split_at_operators_outside_of_quotes() {
        check(
            "cd a && rg 'b|c' d | head -5",
            &[(&["cd", "a"], false), (&["rg", "b|c", "d"], false), (&["head", "-5"], true)],
        );
        check(
            "a \"b;c\" || d\\;e; f & g",
            &[(&["a", "b;c"], false), (&["d;e"], false), (&["f"], false), (&["g"], false)],
        );
        check(
            "x=$(a b) c `d e`",
            &[(&["x="], false), (&["a", "b"], false), (&["c"], false), (&["d", "e"], false)],
        );
        check("a |& b # c | d\ne \\\n f", &[(&["a"], false), (&["b"], true), (&["e", "f"], false)]);
    }

    #[test]
    fn redirections_and_documents_are_left_out() {
        check("a 2>/dev/null >&2 b &> c | d 2>&1", &[(&["a", "b"], false), (&["d"], true)]);
        check("a <<'E' | b\nrg c\nE\nd", &[(&["a"], false), (&["b"], true), (&["d"], false)]);
        check("a <<< \"b c\" d < e2 f3> g", &[(&["a", "d", "f3"], false)]);
        check("a 'b", &[]);
    }
}
