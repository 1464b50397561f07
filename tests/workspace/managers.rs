//! Edges to packages of further managers: assemblies, gems, and headers that are included.

use super::check;

#[test]
fn callers_in_another_repository_csharp() {
    check(
        &[
            (
                "lib/src/Greet.csproj",
                "<Project Sdk=\"Microsoft.NET.Sdk\">\n  <PropertyGroup>\n    \
                 <PackageId>Acme.Greet</PackageId>\n    <Version>1.2.0</Version>\n  \
                 </PropertyGroup>\n</Project>\n",
            ),
            ("lib/tests/Greet.Tests.csproj", "<Project><PropertyGroup/></Project>\n"),
            (
                "lib/src/Greeter.cs",
                "namespace Acme.Greet;\npublic class Base {\n  public void Shout() {}\n}\n\
                 public class Greeter : Base {\n  public Greeter(string name) {}\n  \
                 public Greeter Next { get; }\n  public void Hello() {}\n  \
                 public static Greeter Make() => new Greeter(\"a\");\n}\n\
                 public static class Tools {\n  public static void Loud(this Greeter given) {}\n  \
                 public static void Help() {}\n}\n\
                 public static class Others {\n  public static void Quiet(this Base given) {}\n}\n",
            ),
            (
                "lib/src/Deep.cs",
                "namespace Acme.Greet.Deep {\n  public class Waver {\n    \
                 public static void Wave() {}\n  }\n}\n",
            ),
            (
                "user/App/App.csproj",
                "<Project>\n  <ItemGroup>\n    \
                 <PackageReference Include=\"Acme.Greet\" Version=\"1.1.0\" />\n  \
                 </ItemGroup>\n</Project>\n",
            ),
            (
                "user/App/Main.cs",
                "using System;\nusing Acme.Greet;\nusing W = Acme.Greet.Deep.Waver;\n\
                 namespace App {\n  class Main {\n    \
                 void Run(Greeter given, Other.Greeter other) {\n      \
                 var greeter = new Greeter(\"a\");\n      greeter.Hello();\n      \
                 given.Shout();\n      Greeter.Make().Hello();\n      \
                 Acme.Greet.Deep.Waver.Wave();\n      W.Wave();\n      given.Next.Hello();\n      \
                 given.Loud();\n      other.Hello();\n      Tools.Help();\n      \
                 given.Quiet();\n    }\n  }\n}\n",
            ),
        ],
        &[
            (
                "Greeter.Hello",
                &[
                    "user/App/Main.cs: Main.Run:8; likely: Main.Run:10,13",
                    "outside of all of them: Other.Greeter.Hello (1 in user)",
                    "user names version 1.1.0; here is 1.2.0",
                ],
            ),
            ("Greeter", &["user/App/Main.cs: Main.Run:7"]),
            ("Base.Shout", &["user/App/Main.cs: Main.Run:9"]),
            ("Greeter.Make", &["user/App/Main.cs: Main.Run:10"]),
            ("Waver.Wave", &["user/App/Main.cs: Main.Run:11,12"]),
            // An extension of the type.
            ("Tools.Loud", &["user/App/Main.cs: likely: Main.Run:14"]),
            ("Tools.Help", &["user/App/Main.cs: Main.Run:16"]),
            // One of another type, which may be a base.
            ("Others.Quiet", &["user/App/Main.cs: possible: Main.Run:17"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_ruby() {
    check(
        &[
            (
                "lib/greet.gemspec",
                "Gem::Specification.new do |spec|\n  spec.name = \"greet\"\n  \
                 spec.version = \"1.2.0\"\nend\n",
            ),
            (
                "lib/lib/greet.rb",
                "require \"greet/greeter\"\nmodule Greet\n  def self.wave\n  end\nend\n",
            ),
            (
                "lib/lib/greet/greeter.rb",
                "module Greet\n  class Base\n    def shout\n    end\n  end\n  \
                 class Greeter < Base\n    def initialize(name)\n    end\n    \
                 def hello\n    end\n    def self.make\n      Greeter.new(\"a\")\n    end\n  \
                 end\nend\n",
            ),
            ("user/Gemfile", "source \"https://rubygems.org\"\ngem \"greet\", \"~> 1.1\"\n"),
            (
                "user/Gemfile.lock",
                "GEM\n  remote: https://rubygems.org/\n  specs:\n    greet (1.1.0)\n",
            ),
            (
                "user/app.rb",
                "require \"greet\"\nclass Runner\n  def run\n    \
                 greeter = Greet::Greeter.new(\"a\")\n    greeter.hello\n    Greet.wave\n    \
                 ::Greet::Greeter.make\n    greeter.shout\n    Other.wave\n  end\nend\n",
            ),
            // A namespace that only the path before a type names.
            (
                "other/app.rb",
                "class Greet::Own\n  def run\n    Greet::Greeter.make\n    \
                 ::Greet::Greeter.new(\"a\").hello\n    Greet::Own.new\n  end\nend\n",
            ),
            // A namespace of the library that the user adds to.
            (
                "more/app.rb",
                "module Greet\n  class Own\n    def run\n      Greet::Greeter.make\n      \
                 Greeter.make\n    end\n  end\nend\n",
            ),
        ],
        &[
            (
                "lib/greet.rb::Greet.wave",
                &["user/app.rb: Runner.run:6", "user names version 1.1.0; here is 1.2.0"],
            ),
            ("Greeter", &["user/app.rb: Runner.run:4"]),
            ("Greeter.hello", &["user/app.rb: Runner.run:5", "other/app.rb: Own.run:4"]),
            ("Base.shout", &["user/app.rb: Runner.run:8"]),
            ("Greeter.make", &["user/app.rb: Runner.run:7", "more/app.rb: Greet.Own.run:4,5"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_c() {
    check(
        &[
            (
                "lib/include/greet/greet.h",
                "#ifndef GREET_H\n#define GREET_H\n#include \"greet/more.h\"\n\
                 #define GREET_MAX(a, b) ((a) > (b) ? (a) : (b))\n\
                 typedef struct greet_ctx greet_ctx;\ngreet_ctx *greet_new(int level);\n#endif\n",
            ),
            ("lib/include/greet/more.h", "void greet_hello(int count);\n"),
            ("lib/include/greet/other.h", "void greet_other(void);\n"),
            (
                "lib/src/greet.c",
                "#include <greet/greet.h>\nstruct greet_ctx { int level; };\n\
                 greet_ctx *greet_new(int level) { return 0; }\n\
                 void greet_hello(int count) {}\nvoid greet_other(void) {}\n",
            ),
            ("user/src/app.h", "#include <greet/greet.h>\nint app_run(void);\n"),
            (
                "user/src/main.c",
                "#include <stdio.h>\n#include \"app.h\"\nint app_run(void) {\n  \
                 greet_ctx *ctx = greet_new(1);\n  greet_hello(GREET_MAX(1, 2));\n  \
                 greet_other();\n  printf(\"a\");\n  return ctx != 0;\n}\n",
            ),
        ],
        &[
            ("greet_new", &["user/src/main.c: app_run:4"]),
            // A header that the header includes.
            ("greet_hello", &["user/src/main.c: app_run:5"]),
            ("GREET_MAX", &["user/src/main.c: app_run:5"]),
            // A header that the file does not include.
            ("greet_other", &["outside of all of them: greet_other (1 in user)"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_cpp() {
    check(
        &[
            (
                "lib/include/acme/greet.hpp",
                "#pragma once\n#include \"acme/base.hpp\"\nnamespace acme {\n\
                 class Greeter : public Base {\n public:\n  Greeter();\n  \
                 Greeter(const char *name);\n  void hello();\n  static Greeter make();\n};\n\
                 Greeter *make_greeter();\n}\n",
            ),
            (
                "lib/include/acme/base.hpp",
                "#pragma once\nnamespace acme {\nclass Base {\n public:\n  void shout() {}\n};\n\
                 inline void wave() {}\n}\n",
            ),
            (
                "lib/src/greet.cpp",
                "#include \"acme/greet.hpp\"\nnamespace acme {\nGreeter::Greeter() {}\n\
                 Greeter::Greeter(const char *name) {}\nvoid Greeter::hello() {}\n\
                 Greeter Greeter::make() { return Greeter(); }\n\
                 Greeter *make_greeter() { return nullptr; }\n}\n",
            ),
            (
                "user/main.cpp",
                "#include <acme/greet.hpp>\nnamespace app {\nvoid run(acme::Greeter &given) {\n  \
                 acme::Greeter greeter(\"a\");\n  greeter.hello();\n  given.shout();\n  \
                 acme::wave();\n  acme::Greeter::make().hello();\n  \
                 auto made = acme::make_greeter();\n  made->hello();\n  other::wave();\n}\n}\n",
            ),
        ],
        &[
            ("Greeter.hello", &["user/main.cpp: app.run:5; likely: app.run:8,10"]),
            ("Greeter", &["user/main.cpp: app.run:4"]),
            ("Base.shout", &["user/main.cpp: app.run:6"]),
            ("wave", &["user/main.cpp: app.run:7"]),
            ("Greeter.make", &["user/main.cpp: app.run:8"]),
        ],
    );
}

#[test]
fn a_name_that_an_export_renames_rust() {
    check(
        &[
            ("lib/Cargo.toml", "[package]\nname = \"acme\"\nversion = \"1.0.0\"\n"),
            (
                "lib/src/lib.rs",
                "mod inner;\npub use inner::greet as hello;\npub use inner::Greeter as Renamed;\n\
                 pub mod same {\n    \
                 pub use crate::inner::greet as wave;\n}\n",
            ),
            (
                "lib/src/inner.rs",
                "pub fn greet() {}\npub struct Greeter;\nimpl Greeter {\n    \
                 pub fn new() -> Self { Greeter }\n    pub fn shout(&self) {}\n}\n",
            ),
            ("user/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nacme = \"1\"\n"),
            (
                "user/src/lib.rs",
                "use acme::{hello, Renamed};\npub fn run() {\n    hello();\n    \
                 acme::hello();\n    acme::same::wave();\n    \
                 let made = Renamed::new();\n    made.shout();\n}\n",
            ),
        ],
        &[
            ("greet", &["user/src/lib.rs: run:3,4,5"]),
            ("Greeter.new", &["user/src/lib.rs: run:6"]),
            ("Greeter.shout", &["user/src/lib.rs: likely: run:7"]),
        ],
    );
}

#[test]
fn files_that_are_not_read_for_another_name_are_counted_rust() {
    let count = 66;
    let modules: String = (0..count).map(|at| format!("pub mod m{at:02};\n")).collect();
    let root = format!("mod inner;\n{modules}");
    let paths: Vec<String> = (0..count).map(|at| format!("lib/src/m{at:02}.rs")).collect();
    let exports: Vec<String> =
        (0..count).map(|at| format!("pub use crate::inner::greet as hello_{at};\n")).collect();
    let mut files: Vec<(&str, &str)> = vec![
        ("lib/Cargo.toml", "[package]\nname = \"acme\"\nversion = \"1.0.0\"\n"),
        ("lib/src/lib.rs", &root),
        ("lib/src/inner.rs", "pub fn greet() {}\npub fn wave() {}\n"),
        ("user/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nacme = \"1\"\n"),
        ("user/src/lib.rs", "pub fn run() {\n    acme::m00::hello_0();\n}\n"),
    ];
    files.extend(paths.iter().map(String::as_str).zip(exports.iter().map(String::as_str)));
    let workspace = super::Workspace::with(&files);
    let answer = workspace.asked(&["trace", "greet"]);
    assert!(answer.contains("user/src/lib.rs: run:2"), "{answer}");
    let line = "exports by another name: 64 files with an import of it read; 2 more files not";
    assert!(answer.lines().any(|own| own == line), "{answer}");
    let (_, answer, _) = workspace.run(&["trace", "wave"]);
    assert!(!answer.contains("exports by another name"), "{answer}");
}
