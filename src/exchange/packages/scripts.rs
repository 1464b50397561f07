//! Manifests that are programs, as far as their calls have literal arguments, and the lock that is
//! made of them.

use super::content::{Manifest, folded, is_version, without_doubles};

/// Words of calls that say what a package needs.
const NEEDS: [&str; 4] =
    ["gem", "add_dependency", "add_runtime_dependency", "add_development_dependency"];

/// Indentation of the packages in a lock; what they need is deeper.
const LOCKED: &str = "    ";

/// Reads the calls and assignments of a manifest, a line each.
pub(super) fn manifest(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for line in text.lines() {
        let line = line.trim();
        let literals: Vec<&str> = literals(line);
        let Some(first) = literals.first() else { continue };
        let head = line.split(['"', '\'']).next().unwrap_or_default().trim();
        let word = head.trim_end_matches(['(', '=', ' ']).rsplit(['.', ' ']).next();
        match word.unwrap_or_default() {
            "name" if head.ends_with('=') => manifest.name = (*first).to_owned(),
            "version" if head.ends_with('=') => manifest.version = (*first).to_owned(),
            word if NEEDS.contains(&word) => {
                let version = literals.get(1).copied().unwrap_or_default();
                manifest.needs.insert((*first).to_owned(), version.to_owned());
            }
            _ => {}
        }
    }
    manifest
}

/// Reads the packages of a lock with their versions.
pub(super) fn lock(text: &str) -> Manifest {
    let own = text.lines().filter_map(|line| {
        let entry = line.strip_prefix(LOCKED).filter(|entry| !entry.starts_with(' '))?;
        let (name, version) = entry.trim_end().strip_suffix(')')?.split_once(" (")?;
        is_version(version).then(|| (folded(name), version.to_owned()))
    });
    Manifest { versions: without_doubles(own), ..Manifest::default() }
}

/// Texts between quotes in a line, up to a comment.
fn literals(line: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.find(['"', '\'', '#']).filter(|&at| !rest[at..].starts_with('#')) {
        let quote = &rest[at..=at];
        let Some((text, after)) = rest[at + 1..].split_once(quote) else { break };
        found.push(text);
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_say_the_name_and_what_is_needed() {
        let text = "Gem::Specification.new do |s|\n  s.name = 'greet'\n  \
            s.version = \"1.2.0\" # 1.3\n  s.files = Dir['lib/*']\n  \
            s.add_dependency(\"rack\", '>= 2')\n  s.add_development_dependency 'test-x'\nend\n";
        let found = manifest(text);
        assert_eq!((found.name.as_str(), found.version.as_str()), ("greet", "1.2.0"));
        let needs: Vec<_> = found.needs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(needs, [("rack", ">= 2"), ("test-x", "")]);
        let found = manifest("source 'x'\ngem 'greet', '~> 1.1'\n# gem 'old'\n");
        assert_eq!((found.name.as_str(), found.needs.len()), ("", 1));
        let found = lock("GEM\n  specs:\n    greet (1.1.0)\n      rack (>= 2)\n    rack (2.2.0)\n");
        assert_eq!(found.versions.get("greet").map(String::as_str), Some("1.1.0"));
        assert_eq!(found.versions.len(), 2);
    }
}
