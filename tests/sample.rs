//! A small repository built by hand: graph, source text and a published store, for the tests of the
//! store and of the questions.

mod builder;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cograph::config::Config;
use cograph::model::cancel::CancelToken;
use cograph::model::facts::flags;
use cograph::model::graph::Graph;
use cograph::model::{ProblemKind, RelationKind, RepoPath, SiteKind, SkipReason, Step, SymbolKind};
use cograph::query::ReadFile;
use cograph::store::{BuildInfo, Location, Published, Snapshot, Store, StoreError, publish};
use tempfile::TempDir;

pub(crate) use builder::{Answer, GraphBuilder, Options};

/// The languages of the graphs made here.
pub(crate) const LANGUAGES: &[&str] = &["alpha", "beta"];

/// Files in memory.
#[derive(Clone, Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, Vec<u8>>);

impl ReadFile for Files {
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>> {
        self.0.get(path.as_str()).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

/// A cache directory with the place of one repository in it.
pub(crate) struct Cache {
    pub(crate) directory: TempDir,
    pub(crate) location: Location,
}

impl Cache {
    pub(crate) fn new() -> Self {
        // Plants the defect in this process, if there is one.
        Config::from_environment().expect("the settings are usable");
        let directory = TempDir::new().expect("a temporary directory");
        let location = Location::new(directory.path(), std::path::Path::new("/somewhere/sample"));
        Self { directory, location }
    }

    pub(crate) fn publish(&self, graph: &Graph) -> Result<Published, StoreError> {
        let lock = self.location.lock(Duration::ZERO)?;
        publish(&lock, graph, &info())
    }

    pub(crate) fn open(&self) -> Arc<Store> {
        Arc::new(Store::open_newest(&self.location).expect("a store that was published opens"))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.open().snapshot(&CancelToken::new()).expect("an open store gives snapshots")
    }
}

pub(crate) fn info() -> BuildInfo<'static> {
    BuildInfo {
        languages: LANGUAGES,
        fingerprint: u64::MAX - 5,
        started: Instant::now(),
        max_bytes: None,
    }
}

/// A repository of one file with a number of functions.
pub(crate) fn functions(count: usize) -> Graph {
    let mut builder = GraphBuilder::default();
    let file = builder.file("only.x", 0, "");
    for number in 0..count {
        let line = number as u32 + 1;
        builder.symbol(
            file,
            SymbolKind::Function,
            &format!("function_{number}"),
            (line, line),
            Options::default(),
        );
    }
    builder.finish().0
}

/// The sample: a class with a base, a hierarchy, overloads, a prototype, two modules in a circle, a
/// test, files without facts.
pub(crate) fn sample() -> (Graph, Files) {
    use Answer::{External, Likely, Local, OneOf, To, ToFile, Unknown};
    use SiteKind::{Call, Construct, Import, Inherit, Read};
    let mut b = GraphBuilder::default();
    let none = Options::default;
    let exported = || Options { flags: flags::EXPORTED, ..Options::default() };

    b.skipped("README.md", SkipReason::NoLanguage, "# Sample\nhelper is described here\n");
    let base = b.file("app/base.x", 0, "class Base {\n  def run() {\n  }\n}\n");
    let main = b.file(
        "app/main.x",
        0,
        "import service\n\ndef main() {\n  Service().handle(1)\n  print()\n}\nmain()\n",
    );
    let over = b.file(
        "app/over.x",
        0,
        "class Over {\n  def put(a) {\n  }\n  def put(a, b) {\n  }\n  ???\n}\n",
    );
    let service = b.file(
        "app/service.x",
        0,
        "class Service : Base {\n  def new() {\n  }\n  def handle(n) {\n    this.run()\n    \
         helper(n)\n  }\n  def run() {\n    helper(2)\n  }\n  def get() { fetch() }\n}\n",
    );
    let util =
        b.file("app/util.x", 0, "def helper(n) {\n  n + 1\n}\ndef fetch() {\n  lib.fetch() }\n");
    b.skipped("blob.bin", SkipReason::Binary, "\0\0");
    let lib = b.file(
        "lib/util.x",
        0,
        "def fetch() {\n}\ndef helper_two() {\n  x.helper()\n  app.fetch()\n}\n",
    );
    let api_c = b.file("native/api.c", 1, "int connect(int a) {\n  return a;\n}\n");
    let api_h = b.file("native/api.h", 1, "int connect(int a);\n");
    let use_c =
        b.file("native/use.c", 1, "#include \"api.h\"\nvoid go(void) {\n  connect(1);\n}\n");
    let test = b.file("tests/test_service.x", 0, "def test_handle() {\n  Service().handle(2)\n}\n");
    b.mark_test(test);

    let base_class = b.symbol(base, SymbolKind::Class, "Base", (1, 4), exported());
    let base_run = b.symbol(base, SymbolKind::Method, "run", (2, 3), Options::inside(base_class));
    let main_fn = b.symbol(main, SymbolKind::Function, "main", (3, 6), none());
    let over_class = b.symbol(over, SymbolKind::Class, "Over", (1, 7), none());
    b.symbol(
        over,
        SymbolKind::Method,
        "put",
        (2, 3),
        Options { signature: "def put(a)", ..Options::inside(over_class) },
    );
    b.symbol(
        over,
        SymbolKind::Method,
        "put",
        (4, 5),
        Options { signature: "def put(a, b)", ..Options::inside(over_class) },
    );
    b.problem(over, ProblemKind::Syntax, (6, 6));
    let service_class = b.symbol(
        service,
        SymbolKind::Class,
        "Service",
        (1, 12),
        Options { doc: "Answers requests of customers.", ..exported() },
    );
    b.symbol(service, SymbolKind::Constructor, "new", (2, 3), Options::inside(service_class));
    let handle =
        b.symbol(service, SymbolKind::Method, "handle", (4, 7), Options::inside(service_class));
    let run = b.symbol(service, SymbolKind::Method, "run", (8, 10), Options::inside(service_class));
    let get =
        b.symbol(service, SymbolKind::Method, "get", (11, 11), Options::inside(service_class));
    let helper = b.symbol(util, SymbolKind::Function, "helper", (1, 3), exported());
    let app_fetch = b.symbol(util, SymbolKind::Function, "fetch", (4, 5), none());
    let lib_fetch = b.symbol(lib, SymbolKind::Function, "fetch", (1, 2), none());
    let helper_two = b.symbol(lib, SymbolKind::Function, "helper_two", (3, 6), none());
    let connect = b.symbol(api_c, SymbolKind::Function, "connect", (1, 3), none());
    let prototype = b.symbol(
        api_h,
        SymbolKind::Function,
        "connect",
        (1, 1),
        Options { flags: flags::DECLARATION, ..Options::default() },
    );
    let go = b.symbol(use_c, SymbolKind::Function, "go", (2, 4), none());
    let test_fn = b.symbol(
        test,
        SymbolKind::Function,
        "test_handle",
        (1, 3),
        Options { flags: flags::TEST, ..none() },
    );

    b.import(main, "service", (1, 7), Some(service));
    b.import(use_c, "api.h", (1, 10), Some(api_h));
    b.site(main, None, Import, "service", (1, 7), ToFile(service), Step::Import);
    b.site(main, Some(main_fn), Construct, "Service", (4, 2), To(service_class), Step::Import);
    b.site(main, Some(main_fn), Call, "handle", (4, 12), To(handle), Step::InferredType);
    b.site(main, Some(main_fn), Call, "print", (5, 2), External("builtins.print"), Step::Builtin);
    b.site(main, None, Call, "main", (7, 0), To(main_fn), Step::Lexical);
    b.site(service, None, Inherit, "Base", (1, 16), To(base_class), Step::Package);
    b.site(service, Some(handle), Call, "run", (5, 9), To(base_run), Step::DeclaredType);
    b.site(service, Some(handle), Call, "helper", (6, 4), To(helper), Step::Import);
    b.site(service, Some(handle), Read, "n", (6, 11), Local, Step::LocalValue);
    b.site(service, Some(run), Call, "helper", (9, 4), Likely(helper), Step::UniqueName);
    b.site(
        service,
        Some(get),
        Call,
        "fetch",
        (11, 14),
        OneOf(vec![app_fetch, lib_fetch]),
        Step::Overloads,
    );
    b.site(util, Some(app_fetch), Call, "fetch", (5, 6), To(lib_fetch), Step::ModuleMember);
    b.site(lib, Some(helper_two), Call, "helper", (4, 4), Unknown, Step::ReceiverUnknown);
    b.site(lib, Some(helper_two), Call, "fetch", (5, 6), To(app_fetch), Step::ModuleMember);
    b.site(use_c, Some(go), Call, "connect", (3, 2), To(prototype), Step::Wildcard);
    b.site(test, Some(test_fn), Construct, "Service", (2, 2), To(service_class), Step::Import);
    b.site(test, Some(test_fn), Call, "handle", (2, 12), To(handle), Step::InferredType);
    b.relation(RelationKind::Inherits, service_class, base_class);
    b.relation(RelationKind::Overrides, run, base_run);
    b.relation(RelationKind::Defines, connect, prototype);
    b.finish()
}

/// The sample in a store.
pub(crate) fn stored_sample() -> (Cache, Snapshot, Files) {
    let cache = Cache::new();
    let (graph, files) = sample();
    cache.publish(&graph).expect("the sample can be published");
    let snapshot = cache.snapshot();
    (cache, snapshot, files)
}
