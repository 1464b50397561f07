//! Edges whose receiver is known by what a library says: the name of its package, the members of
//! its types, what its functions give back.

use super::check;

#[test]
fn a_package_that_is_not_called_as_the_end_of_its_path_go() {
    check(
        &[
            ("lib/go.mod", "module example.com/acme/go-greet-tree\n\ngo 1.21\n"),
            (
                "lib/tree.go",
                "package itree\n\ntype Tree struct{}\n\nfunc New() *Tree { return nil }\n\n\
                 func (t *Tree) Walk() {}\n",
            ),
            (
                "user/go.mod",
                "module example.com/acme/app\n\nrequire example.com/acme/go-greet-tree v1.0.0\n",
            ),
            (
                "user/main.go",
                "package main\n\nimport (\n\t\"example.com/acme/go-greet-tree\"\n\
                 \t\"example.com/acme/go-other\"\n)\n\n\
                 func run(given *itree.Tree) {\n\tmade := itree.New()\n\tmade.Walk()\n\
                 \tgiven.Walk()\n\tother.New()\n\tsubtle.New()\n}\n",
            ),
        ],
        &[("New", &["user/main.go: run:9"]), ("Walk", &["user/main.go: run:11; likely: run:10"])],
    );
}

#[test]
fn members_that_a_type_inherits_from_a_library_java() {
    check(
        &[
            (
                "lib/src/main/java/com/acme/greet/Greeter.java",
                "package com.acme.greet;\npublic class Greeter {\n  \
                 protected final Voice _voice = new Voice();\n  protected void hello() {}\n  \
                 protected Voice voice() { return _voice; }\n  public void wave(int n) {}\n}\n",
            ),
            (
                "lib/src/main/java/com/acme/greet/Voice.java",
                "package com.acme.greet;\npublic class Voice {\n  public void speak() {}\n  \
                 public Voice louder() { return this; }\n}\n",
            ),
            (
                "user/src/main/java/com/acme/app/Main.java",
                "package com.acme.app;\nimport java.util.*;\nimport com.acme.greet.*;\n\
                 public class Main extends Greeter {\n  void run() {\n    hello();\n    \
                 this.hello();\n    super.hello();\n    _voice.speak();\n    \
                 voice().louder().speak();\n    org.other.Tool.run();\n    Tool.run();\n  }\n  \
                 static class Inner {\n    void hi() { hello(); }\n  }\n}\n",
            ),
            (
                "user/src/main/java/com/acme/app/Named.java",
                "package com.acme.app;\nimport com.acme.greet.Greeter;\n\
                 public class Named extends Middle {\n  void run() {\n    hello();\n    \
                 _voice.speak();\n  }\n}\nclass Middle extends Greeter {}\n",
            ),
            // A name that an import of all members of a type may bring.
            (
                "user/src/main/java/com/acme/app/Static.java",
                "package com.acme.app;\nimport com.acme.greet.Greeter;\n\
                 import static org.other.Tool.*;\nimport static org.other.More.*;\n\
                 public class Static extends Greeter {\n  void run() {\n    hello();\n  }\n}\n",
            ),
        ],
        &[
            (
                "Greeter.hello",
                &[
                    "user/src/main/java/com/acme/app/Main.java: Main.run:6,7,8, Main.Inner.hi:15",
                    "user/src/main/java/com/acme/app/Named.java: Named.run:5",
                ],
            ),
            (
                "Voice.speak",
                &[
                    "user/src/main/java/com/acme/app/Main.java: likely: Main.run:9,10",
                    "user/src/main/java/com/acme/app/Named.java: likely: Named.run:6",
                ],
            ),
            ("Greeter.voice", &["user/src/main/java/com/acme/app/Main.java: Main.run:10"]),
        ],
    );
}

#[test]
fn members_that_a_type_inherits_from_a_library_csharp() {
    check(
        &[
            ("lib/Greet.csproj", "<Project><PropertyGroup/></Project>\n"),
            (
                "lib/Greeter.cs",
                "namespace Acme.Greet;\npublic class Greeter {\n  \
                 protected Voice voice = new Voice();\n  protected void Hello() {}\n  \
                 protected Voice Next() => voice;\n}\n\
                 public class Voice {\n  public void Speak() {}\n}\n",
            ),
            (
                "user/Main.cs",
                "using System;\nusing Acme.Greet;\nnamespace App {\n  class Main : Greeter {\n    \
                 void Run() {\n      Hello();\n      this.Hello();\n      voice.Speak();\n      \
                 Next().Speak();\n    }\n  }\n}\n",
            ),
        ],
        &[
            ("Greeter.Hello", &["user/Main.cs: Main.Run:6,7"]),
            ("Voice.Speak", &["user/Main.cs: likely: Main.Run:8,9"]),
        ],
    );
}
