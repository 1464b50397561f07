"""The same few forms of code in every language: functions, types with bases and methods, imports."""
from dataclasses import dataclass, field
from typing import Callable


def lines(parts):
    """Parts of a body, one below the other."""
    return "".join(f"    {part}\n" for part in parts)


@dataclass
class Language:
    """How a language writes what the shapes are made of. What it does not have is None."""
    name: str
    suffix: str
    function: Callable                      # name, statements -> text; the parameter is x
    type: Callable | None = None            # name, bases, methods (name, statements) -> text
    several_bases: bool = False
    let: Callable = None                    # name, value -> statement
    closure: Callable | None = None         # parameter, value -> value
    alias: Callable | None = None           # name, type -> text
    pair: Callable | None = None            # type, type -> type
    either: Callable | None = None          # type, type -> type
    overload: Callable | None = None        # number of it, type -> a function or method `over` of a parameter of that type
    use: Callable | None = None             # module, name -> import of one name
    star: Callable | None = None            # module -> all names of a module, for those who import this one too
    head: str = ""
    path: Callable = None                   # module -> path
    project: dict = field(default_factory=dict)
    statement_end: str = ";"
    this: str = "this"

    def file(self, module):
        """The path of a module."""
        return self.path(module) if self.path else f"{module}.{self.suffix}"


def script(name, suffix, typed):
    """JavaScript and what is made of it."""
    any_, unknown = (": any", " as any") if typed else ("", "")
    return Language(
        name, suffix,
        function=lambda n, body: f"export function {n}(x{any_}){any_} {{\n{lines(body)}}}\n",
        type=lambda n, bases, methods: f"export class {n}{' extends ' + bases[0] if bases else ''} {{\n"
        + "".join(f"  {m}(x{any_}){any_} {{\n{lines(body)}  }}\n" for m, body in methods) + "}\n",
        let=lambda n, v: f"var {n} = {v}{unknown};",
        closure=lambda p, v: f"(({p}) => {v})",
        alias=(lambda n, t: f"export type {n} = {t};\n") if typed else None,
        pair=(lambda a, b: f"Map<{a}, {b}>") if typed else None,
        either=(lambda a, b: f"{a} | {b}[]") if typed else None,
        overload=(lambda n, t: f"export function over(x: {t}): {t};\n") if typed else None,
        use=lambda m, n: f'import {{ {n} }} from "./{m}";\n',
        star=lambda m: f'export * from "./{m}";\n',
        project={"package.json": '{"name": "p"}\n'})


LANGUAGES = [
    Language(
        "python", "py",
        function=lambda n, body: f"def {n}(x):\n{lines(body)}",
        type=lambda n, bases, methods: f"class {n}({f',{chr(10)}  '.join(bases)}):\n    size = 1\n"
        + "".join(f"    def {m}(self, x):\n{''.join('        ' + part + chr(10) for part in body)}" for m, body in methods),
        several_bases=True, let=lambda n, v: f"{n} = {v}", closure=lambda p, v: f"(lambda {p}: {v})",
        alias=lambda n, t: f"{n} = {t}\n", pair=lambda a, b: f"dict[{a}, {b}]", either=lambda a, b: f"{a} | list[{b}]",
        overload=lambda n, t: f"@overload\ndef over(x: {t}) -> {t}: ...\n",
        use=lambda m, n: f"from {m} import {n}\n", star=lambda m: f"from {m} import *\n", statement_end="", this="self"),
    script("typescript", "ts", True),
    script("tsx", "tsx", True),
    script("javascript", "js", False),
    Language(
        "rust", "rs",
        function=lambda n, body: f"pub fn {n}(x: u32) -> u32 {{\n{lines(body)}}}\n",
        type=lambda n, bases, methods: f"pub trait {n}{': ' + f' +{chr(10)}  '.join(bases) if bases else ''} {{\n"
        + "".join(f"    fn {m}(&self, x: u32) -> u32 {{\n{lines(body)}    }}\n" for m, body in methods) + "}\n",
        several_bases=True, let=lambda n, v: f"let {n} = {v};", closure=lambda p, v: f"(|{p}: u32| {v})",
        alias=lambda n, t: f"pub type {n} = {t};\n", pair=lambda a, b: f"({a}, {b})", either=lambda a, b: f"Result<{a}, Vec<{b}>>",
        use=lambda m, n: f"use crate::{m}::{n};\n", star=lambda m: f"pub use crate::{m}::*;\n",
        path=lambda m: f"src/{m}.rs", project={"Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\n'}, this="self"),
    Language(
        "go", "go",
        function=lambda n, body: f"func {n}(x int) int {{\n{lines(body)}}}\n",
        type=lambda n, bases, methods: f"type {n} struct {{\n{lines(bases)}}}\n"
        + "".join(f"func (this *{n}) {m}(x int) int {{\n{lines(body)}}}\n" for m, body in methods),
        several_bases=True, let=lambda n, v: f"{n} := {v}", closure=lambda p, v: f"(func({p} int) int {{ return {v} }})",
        alias=lambda n, t: f"type {n} = {t}\n", pair=lambda a, b: f"map[{a}]{b}", either=lambda a, b: f"func({a}) []{b}",
        head="package p\n", statement_end=""),
    Language(
        "java", "java",
        function=lambda n, body: f"class F{n} {{ static int {n}(int x) {{\n{lines(body)}}} }}\n",
        type=lambda n, bases, methods: f"interface {n}{' extends ' + f',{chr(10)}  '.join(bases) if bases else ''} {{\n"
        + "".join(f"  default int {m}(int x) {{\n{lines(body)}  }}\n" for m, body in methods) + "}\n",
        several_bases=True, let=lambda n, v: f"var {n} = {v};", closure=lambda p, v: f"call({p} -> {v})",
        pair=lambda a, b: f"Map<{a}, {b}>", overload=lambda n, t: f"class O{n} extends O{n + 1} {{ static int over({t} x) {{ return 1; }} }}\n",
        use=lambda m, n: f"import static p.F{n}.{n};\n", head="package p;\n", path=lambda m: f"p/{m}.java"),
    Language(
        "kotlin", "kt",
        function=lambda n, body: f"fun {n}(x: Int): Int {{\n{lines(body)}}}\n",
        type=lambda n, bases, methods: f"interface {n}{' : ' + f',{chr(10)}  '.join(bases) if bases else ''} {{\n"
        + "".join(f"  fun {m}(x: Int): Int {{\n{lines(body)}  }}\n" for m, body in methods) + "}\n",
        several_bases=True, let=lambda n, v: f"val {n} = {v}", closure=lambda p, v: f"call {{ {p} -> {v} }}",
        alias=lambda n, t: f"typealias {n} = {t}\n", pair=lambda a, b: f"Map<{a}, {b}>", overload=lambda n, t: f"fun over(x: {t}): Int = 1\n",
        use=lambda m, n: f"import p.{n}\n", head="package p\n", path=lambda m: f"p/{m}.kt", statement_end=""),
    Language(
        "ruby", "rb",
        function=lambda n, body: f"def {n}(x)\n{lines(body)}end\n",
        type=lambda n, bases, methods: f"class {n}{' < ' + bases[0] if bases else ''}\n"
        + "".join(f"  def {m}(x)\n{lines(body)}  end\n" for m, body in methods) + "end\n",
        let=lambda n, v: f"{n} = {v}", closure=lambda p, v: f"(->({p}) {{ {v} }})",
        use=lambda m, n: f'require_relative "{m}"\n', star=lambda m: f'require_relative "{m}"\n', statement_end="", this="self"),
    Language(
        "csharp", "cs",
        function=lambda n, body: f"public static class F{n} {{ public static int {n}(int x) {{\n{lines(body)}}} }}\n",
        type=lambda n, bases, methods: f"public interface {n}{' : ' + f',{chr(10)}  '.join(bases) if bases else ''} {{\n"
        + "".join(f"  int {m}(int x) {{\n{lines(body)}  }}\n" for m, body in methods) + "}\n",
        several_bases=True, let=lambda n, v: f"var {n} = {v};", closure=lambda p, v: f"Call({p} => {v})",
        pair=lambda a, b: f"Dictionary<{a}, {b}>",
        overload=lambda n, t: f"public class O{n} : O{n + 1} {{ public static int over({t} x) {{ return 1; }} }}\n",
        use=lambda m, n: f"using static P.F{n};\n", path=lambda m: f"P/{m}.cs"),
    Language(
        "c", "c",
        function=lambda n, body: f"int {n}(int x) {{\n{lines(body)}}}\n",
        let=lambda n, v: f"int {n} = {v};", alias=lambda n, t: f"typedef {t} {n};\n", pair=lambda a, b: f"struct {{ {a} a; {b} b; }}",
        star=lambda m: f'#include "{m}.c"\n'),
    Language(
        "cpp", "cpp",
        function=lambda n, body: f"int {n}(int x) {{\n{lines(body)}}}\n",
        type=lambda n, bases, methods: f"struct {n}{' : ' + f',{chr(10)}  '.join(bases) if bases else ''} {{\n"
        + "".join(f"  int {m}(int x) {{\n{lines(body)}  }}\n" for m, body in methods) + "};\n",
        several_bases=True, let=lambda n, v: f"auto {n} = {v};", closure=lambda p, v: f"([=](int {p}) {{ return {v}; }})",
        alias=lambda n, t: f"using {n} = {t};\n", pair=lambda a, b: f"std::map<{a}, {b}>", either=lambda a, b: f"std::variant<{a}, {b}*>",
        overload=lambda n, t: f"int over({t} x);\n", star=lambda m: f'#include "{m}.cpp"\n'),
]
