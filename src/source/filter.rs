//! Ignore rules of a repository: ignore files are read as git reads them, and applied to each entry
//! of the walk.
//!
//! An ignore file in the tree is a regular file at its own path, of limited size. A link could lead
//! to a device or to a file of another user, and a pipe could block the reader: such a file is
//! treated as empty, and the walk reports it.

use parking_lot::{Mutex, RwLock};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustc_hash::FxHashMap;

use cograph_config::{self as config, enclosing_root};
use cograph_system::files::{self, FileKind, OpenDirectory};
use cograph_system::names::from_bytes;

/// Maximum size of an ignore file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Names of ignore files in any directory.
pub const RULES: [&str; 3] = [".gitignore", ".ignore", ".cographignore"];

/// Git's unshared ignore file, relative to the directory of a repository.
pub(super) const EXCLUDE: &str = "info/exclude";

/// Ignore rules of one walk.
#[derive(Debug)]
pub(super) struct Filter {
    /// User's global rules.
    global: Gitignore,
    /// OpenDirectory -> nearest directory with rules, at or above it.
    rules: RwLock<FxHashMap<PathBuf, Arc<Node>>>,
    /// Ignore files that were not read.
    unread: Mutex<Vec<PathBuf>>,
}

/// Rules of one directory.
#[derive(Debug, Default)]
struct Node {
    above: Option<Arc<Node>>,
    /// Rules by kind, in order of precedence. Within a kind the nearest directory takes precedence.
    kinds: [Option<Gitignore>; KINDS],
}

/// Number of kinds: `.cographignore`, `.ignore`, `.gitignore` and git's unshared rules.
const KINDS: usize = 4;

/// Contents at the path of an ignore file.
#[derive(Clone, PartialEq, Eq, Debug)]
enum RuleFile {
    Nothing,
    Text(Vec<u8>),
    /// Exists and was not read.
    Unread,
}

impl Node {
    /// What the rules say of an entry of their directory, or of one below it.
    fn excludes(&self, path: &Path, is_directory: bool) -> Match<()> {
        let mut decided: [Match<()>; KINDS] = std::array::from_fn(|_| Match::None);
        let mut next = Some(self);
        while let Some(node) = next {
            for (kind, rules) in decided.iter_mut().zip(&node.kinds) {
                if let (Match::None, Some(rules)) = (&kind, rules) {
                    *kind = rules.matched(path, is_directory).map(|_| ());
                }
            }
            next = node.above.as_deref();
        }
        decided.into_iter().find(|kind| !kind.is_none()).unwrap_or(Match::None)
    }
}

impl Filter {
    /// Reads the rules for entries of the root.
    pub(super) fn new(root: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(root);
        let global = global_excludes();
        let text = global.as_deref().map_or(RuleFile::Nothing, read_named);
        if text == RuleFile::Unread {
            tracing::warn!(path = ?global, "the user's ignore rules were not read: no regular file \
                                            of at most 1 MB");
        }
        let global = compile(&mut builder, text).ok().flatten().unwrap_or_else(Gitignore::empty);
        let filter = Self { global, rules: RwLock::default(), unread: Mutex::default() };
        let top = enclosing_root(root);
        let mut above: Vec<&Path> =
            root.ancestors().take_while(|directory| directory.starts_with(&top)).collect();
        above.reverse();
        let mut node = Arc::new(Node::default());
        for directory in above {
            // A root inside of what is excluded was named on purpose.
            if node.excludes(directory, true).is_ignore() {
                node = Arc::new(Node::default());
            }
            node = filter.read_directory(directory, &node);
        }
        filter.insert(root, node);
        filter
    }

    /// Reads the rules of a directory before the walk lists it.
    pub(super) fn enter(&self, directory: &Path) {
        let above = self.node(directory.parent().unwrap_or(directory));
        let node = self.read_directory(directory, &above);
        self.insert(directory, node);
    }

    /// True if the rules exclude an entry of a visited directory.
    pub(super) fn excludes(&self, path: &Path, is_directory: bool) -> bool {
        let node = self.node(path.parent().unwrap_or(path));
        let decided = node.excludes(path, is_directory);
        let of_user = || self.global.matched(path, is_directory).map(|_| ());
        if decided.is_none() { of_user().is_ignore() } else { decided.is_ignore() }
    }

    /// Returns the ignore files that were not read.
    pub(super) fn unread(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.unread.lock())
    }

    fn node(&self, directory: &Path) -> Arc<Node> {
        let rules = self.rules.read();
        rules.get(directory).map(Arc::clone).unwrap_or_default()
    }

    fn insert(&self, directory: &Path, node: Arc<Node>) {
        self.rules.write().insert(directory.to_path_buf(), node);
    }

    fn read_directory(&self, directory: &Path, above: &Arc<Node>) -> Arc<Node> {
        let Ok(opened) = OpenDirectory::open_for_looking(directory, false) else {
            return Arc::clone(above);
        };
        let [git, ignore, own] = RULES.map(|name| self.compiled(directory, &opened, name));
        let kinds = [own, ignore, git, self.excluded(directory, &opened)];
        if kinds.iter().all(Option::is_none) {
            return Arc::clone(above);
        }
        Arc::new(Node { above: Some(Arc::clone(above)), kinds })
    }

    fn compiled(&self, directory: &Path, opened: &OpenDirectory, name: &str) -> Option<Gitignore> {
        let text = read_in(opened, Path::new(name), false);
        self.compile(directory, text, || directory.join(name))
    }

    /// Reads git's unshared rules of a directory with a `.git`.
    fn excluded(&self, directory: &Path, opened: &OpenDirectory) -> Option<Gitignore> {
        let git = opened.look_through(Path::new(".git")).ok()?;
        if git.kind == FileKind::Directory {
            let exclude = Path::new(".git").join(EXCLUDE);
            let text = read_in(opened, &exclude, true);
            return self.compile(directory, text, || directory.join(&exclude));
        }
        let exclude =
            commondir_of(directory).and_then(|link| link.map_or(Ok(None), |link| common_of(&link)));
        let text = match exclude {
            Ok(Some(common)) => read_named(&common.join(EXCLUDE)),
            Ok(None) => RuleFile::Nothing,
            Err(Refused) => RuleFile::Unread,
        };
        self.compile(directory, text, || directory.join(".git"))
    }

    fn compile(
        &self,
        directory: &Path,
        text: RuleFile,
        path: impl FnOnce() -> PathBuf,
    ) -> Option<Gitignore> {
        if text == RuleFile::Nothing {
            return None;
        }
        let compiled = compile(&mut GitignoreBuilder::new(directory), text);
        compiled.unwrap_or_else(|Refused| {
            self.unread.lock().push(path());
            None
        })
    }
}

/// Error: a file exists but is not readable as an ignore file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Refused;

/// Returns the file that links a linked work tree, whose `.git` is a file, to its repository.
pub(super) fn commondir_of(directory: &Path) -> Result<Option<PathBuf>, Refused> {
    let line = first_line(&directory.join(".git"))?;
    let own = line.as_deref().and_then(|line| line.strip_prefix(b"gitdir: "));
    Ok(own.map(|own| directory.join(from_bytes(own.to_vec())).join("commondir")))
}

/// Returns the directory of the repository that such a file links to.
pub(super) fn common_of(commondir: &Path) -> Result<Option<PathBuf>, Refused> {
    let line = first_line(commondir)?;
    Ok(line.map(|line| commondir.with_file_name(from_bytes(line))))
}

/// Directory of the git repository whose work tree has this root, shared by all of its work trees.
pub fn git_directory(root: &Path) -> Option<PathBuf> {
    let own = match commondir_of(root) {
        Ok(Some(link)) => common_of(&link).ok()??,
        Ok(None) => root.join(".git"),
        Err(Refused) => return None,
    };
    own.is_dir().then(|| own.canonicalize().ok())?
}

/// Path of the user's global ignore file, from git's configuration. The library opens that without
/// a check: none if one of its files is a pipe or has no end.
pub(super) fn global_excludes() -> Option<PathBuf> {
    let settings = config::git_settings();
    if let Some(path) = settings.iter().find(|path| !config::is_bounded(path, MAX_BYTES)) {
        tracing::warn!(
            ?path,
            "the user's ignore rules were not looked for: it is no regular file of at most 1 MB"
        );
        return None;
    }
    ignore::gitignore::gitconfig_excludes_path()
}

/// Returns the first line of a file of git.
fn first_line(path: &Path) -> Result<Option<Vec<u8>>, Refused> {
    match read_named(path) {
        RuleFile::Nothing => Ok(None),
        RuleFile::Unread => Err(Refused),
        RuleFile::Text(text) => {
            Ok(text.split(|&byte| byte == b'\n').next().map(|line| line.trim_ascii_end().to_vec()))
        }
    }
}

/// Reads an ignore file of a directory.
fn read_in(directory: &OpenDirectory, path: &Path, follows_links: bool) -> RuleFile {
    read(directory.open_entry(path, follows_links), || directory.stat(path).is_ok())
}

/// Reads an ignore file by its path.
fn read_named(path: &Path) -> RuleFile {
    read(files::open(path, true), || files::find(path, false).is_ok())
}

/// Reads an opened ignore file. Does not block on a pipe, and reads no device.
fn read(opened: io::Result<File>, exists: impl FnOnce() -> bool) -> RuleFile {
    let file = match opened {
        Ok(file) => file,
        Err(error) if files::is_absent(&error) => return RuleFile::Nothing,
        // In an inaccessible directory there may be none.
        Err(_) if !exists() => return RuleFile::Nothing,
        Err(_) => return RuleFile::Unread,
    };
    let all = || -> io::Result<Option<Vec<u8>>> {
        let found = file.metadata()?;
        if found.is_dir() {
            return Ok(Some(Vec::new()));
        }
        if !found.is_file() || found.len() > MAX_BYTES {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
        (&file).take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= MAX_BYTES).then_some(bytes))
    };
    match all() {
        Ok(Some(bytes)) if bytes.is_empty() => RuleFile::Nothing,
        Ok(Some(bytes)) => RuleFile::Text(bytes),
        Ok(None) | Err(_) => RuleFile::Unread,
    }
}

/// Compiles rules from text; `None` without a rule. An invalid line is skipped.
fn compile(builder: &mut GitignoreBuilder, text: RuleFile) -> Result<Option<Gitignore>, Refused> {
    let bytes = match text {
        RuleFile::Nothing => return Ok(None),
        RuleFile::Unread => return Err(Refused),
        RuleFile::Text(bytes) => bytes,
    };
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    for line in bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
    {
        // Git ignores invalid patterns as well.
        let _ = builder.add_line(None, line.strip_suffix('\r').unwrap_or(line));
    }
    let rules = builder.build().map_err(|_| Refused)?;
    Ok((!rules.is_empty()).then_some(rules))
}
