//! Type declarations read from Rust source: documentation, attributes, fields and variants. Knows
//! the syntax of plain structs and enums, no generics and no expressions.

/// A struct or an enum.
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) is_enum: bool,
    pub(super) attributes: String,
    pub(super) docs: String,
    /// The fields of a struct, or the variants of an enum.
    pub(super) members: Vec<Member>,
}

/// A field, or a variant with its fields.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) docs: String,
    pub(super) attributes: String,
    /// The type of a field, without blanks; empty for a variant.
    pub(super) ty: String,
    pub(super) fields: Vec<Member>,
}

#[derive(Clone, PartialEq)]
enum Token {
    Doc(String),
    Word(String),
    Text(String),
    Mark(char),
}

/// Every struct and enum that is declared outside of functions and tests.
pub(super) fn declarations(source: &str) -> Vec<Declaration> {
    let source = source.split("#[cfg(test)]").next().expect("a split has a first part");
    let mut reader = Reader { tokens: tokens(source), at: 0 };
    let mut found = Vec::new();
    let (mut docs, mut attributes) = (String::new(), String::new());
    while let Some(token) = reader.next() {
        match token {
            Token::Doc(line) => add_line(&mut docs, &line),
            Token::Mark('#') => attributes += &reader.attribute(),
            Token::Word(word) if matches!(&*word, "pub" | "crate" | "super" | "in") => {}
            Token::Mark('(' | ')') => {}
            Token::Word(word) if word == "struct" || word == "enum" => {
                let Some(Token::Word(name)) = reader.next() else { continue };
                let is_enum = word == "enum";
                if reader.next() == Some(Token::Mark('{')) {
                    let members = reader.members(is_enum);
                    let (docs, attributes) =
                        (std::mem::take(&mut docs), std::mem::take(&mut attributes));
                    found.push(Declaration { name, is_enum, attributes, docs, members });
                }
            }
            _ => (docs, attributes) = (String::new(), String::new()),
        }
    }
    found
}

fn add_line(docs: &mut String, line: &str) {
    if !docs.is_empty() {
        docs.push(' ');
    }
    docs.push_str(line.trim());
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<Token> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned()
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// The text inside the brackets of an attribute, without blanks.
    fn attribute(&mut self) -> String {
        let mut text = String::new();
        let mut depth = 0;
        while let Some(token) = self.next() {
            match token {
                Token::Mark('[') => depth += 1,
                Token::Mark(']') => depth -= 1,
                Token::Mark(mark) => text.push(mark),
                Token::Word(word) => text += &word,
                Token::Text(literal) => text += &format!("\"{literal}\""),
                Token::Doc(_) => {}
            }
            if depth == 0 {
                break;
            }
        }
        text + ";"
    }

    /// Fields or variants, up to the closing brace.
    fn members(&mut self, are_variants: bool) -> Vec<Member> {
        let mut found = Vec::new();
        let (mut docs, mut attributes) = (String::new(), String::new());
        while let Some(token) = self.next() {
            match token {
                Token::Doc(line) => add_line(&mut docs, &line),
                Token::Mark('#') => attributes += &self.attribute(),
                Token::Mark('}') => break,
                Token::Word(word) if word == "pub" => self.visibility(),
                Token::Word(name) => {
                    let (docs, attributes) =
                        (std::mem::take(&mut docs), std::mem::take(&mut attributes));
                    let mut member =
                        Member { name, docs, attributes, ty: String::new(), fields: Vec::new() };
                    if are_variants {
                        if self.peek() == Some(&Token::Mark('{')) {
                            self.at += 1;
                            member.fields = self.members(false);
                        }
                    } else {
                        member.ty = self.field_type();
                    }
                    found.push(member);
                }
                _ => {}
            }
        }
        found
    }

    /// What stands in parentheses after `pub`, if anything does.
    fn visibility(&mut self) {
        if self.peek() == Some(&Token::Mark('(')) {
            while self.next().is_some_and(|token| token != Token::Mark(')')) {}
        }
    }

    /// The type after a field's name, up to the comma or brace that ends it.
    fn field_type(&mut self) -> String {
        let (mut ty, mut depth) = (String::new(), 0);
        while let Some(token) = self.peek().cloned() {
            match token {
                Token::Mark('}') => break,
                Token::Mark(',') if depth == 0 => break,
                Token::Mark(mark) => {
                    depth += i32::from(mark == '<') - i32::from(mark == '>');
                    ty.push(mark);
                }
                Token::Word(word) => ty += &word,
                Token::Text(_) | Token::Doc(_) => {}
            }
            self.at += 1;
        }
        ty.trim_start_matches(':').replace("super::preprocessor::", "")
    }
}

/// The tokens of a source. Comments other than documentation of items are left out.
fn tokens(source: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if let Some(comment) = rest.strip_prefix("//") {
            let line = comment.split('\n').next().unwrap_or_default();
            if let Some(doc) = line.strip_prefix('/') {
                found.push(Token::Doc(doc.to_owned()));
            }
            rest = &rest[2 + line.len()..];
        } else if let Some(after) =
            ["'\"'", "'\\''"].iter().find_map(|quote| rest.strip_prefix(quote))
        {
            rest = after;
        } else if let Some(literal) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = literal.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = end.expect("a string ends");
            found.push(Token::Text(literal[..end].to_owned()));
            rest = &literal[end + 1..];
        } else if is_word(first) {
            let raw = rest.strip_prefix("r#").unwrap_or(rest);
            let end = raw.find(|c| !is_word(c)).unwrap_or(raw.len());
            found.push(Token::Word(raw[..end].to_owned()));
            rest = &raw[end..];
        } else {
            if !first.is_whitespace() {
                found.push(Token::Mark(first));
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}
