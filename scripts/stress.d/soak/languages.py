"""What is written into files of a language: a function, an import, and the text of a large file."""
from tree import ALIKE, FUNCTION, SOURCES

FUNCTIONS = FUNCTION | {
    ".cs": "\nclass In_{0}\n{{\n    int {0}(int first) {{ return {1}(first); }}\n}}\n",
    ".kt": "\nfun {0}(first: Int): Int {{\n    return {1}(first)\n}}\n",
}
ENDINGS = (*SOURCES, ".cs", ".kt", ".kts")
IMPORTS = {
    ".py": "import {module}\n", ".js": "const {name} = require(\"./{module}\");\n", ".ts": "import {{ {name} }} from \"./{module}\";\n",
    ".c": "#include \"{module}{ending}\"\n", ".java": "import {name}.*;\n", ".go": "", ".rs": "mod {module};\n", ".cs": "using {name};\n",
    ".kt": "import {name}\n",
}
# A part of a large file: a type whose method calls a method of the same type and reads a field of its parameter.
PARTS = {
    ".py": 'class Kind{0}(Base{1}):\n    """Kind {0} of many."""\n    def method_{0}(self, first, second=None):\n'
           "        return self.other_{0}(first, second) or first.value_{0}\n",
    ".js": "class Kind{0} extends Base{1} {{\n  /** Kind {0} of many. */\n  method_{0}(first, second) {{\n"
           "    return this.other_{0}(first, second) || first.value_{0};\n  }}\n}}\n",
    ".ts": "class Kind{0} extends Base{1} {{\n  /** Kind {0} of many. */\n  method_{0}(first: Base{1}, second?: number) {{\n"
           "    return this.other_{0}(first, second) || first.value_{0};\n  }}\n}}\n",
    ".java": "class Kind{0} extends Base{1} {{\n    /** Kind {0} of many. */\n    int method_{0}(Base{1} first, int second) {{\n"
             "        return this.other_{0}(first, second) + first.value_{0};\n    }}\n}}\n",
    ".c": "/* Kind {0} of many. */\nstruct kind_{0} {{ struct base_{1} *base; int value_{0}; }};\n"
          "int method_{0}(struct kind_{0} *first, int second)\n{{\n\treturn other_{0}(first, second) + first->value_{0};\n}}\n",
    ".go": "// Kind{0} is one of many.\ntype Kind{0} struct {{ Base{1}; value_{0} int }}\n\n"
           "func (k *Kind{0}) method_{0}(first *Kind{0}, second int) int {{\n\treturn k.other_{0}(first, second) + first.value_{0}\n}}\n",
    ".rs": "/// Kind {0} of many.\npub struct Kind{0} {{ base: Base{1}, value_{0}: usize }}\nimpl Kind{0} {{\n"
           "    fn method_{0}(&self, first: &Kind{0}) -> usize {{\n        self.other_{0}(first) + first.value_{0}\n    }}\n}}\n",
    ".cs": "class Kind{0} : Base{1}\n{{\n    /// Kind {0} of many.\n    int method_{0}(Base{1} first, int second)\n    {{\n"
           "        return this.other_{0}(first, second) + first.value_{0};\n    }}\n}}\n",
    ".kt": "class Kind{0} : Base{1}() {{\n    /** Kind {0} of many. */\n    fun method_{0}(first: Base{1}, second: Int): Int {{\n"
           "        return this.other_{0}(first, second) + first.value_{0}\n    }}\n}}\n",
}
COMMON = {".kts": ".kt"} | ALIKE


def language_of(path: str) -> str:
    """The ending that represents the language of a file."""
    ending = path[path.rfind("."):] if "." in path else ""
    return COMMON.get(ending, ending)


def function(path: str, name: str, called: str) -> bytes:
    """A function with a name, in the language of a file."""
    return FUNCTIONS[language_of(path)].format(name, called).encode()


def large_text(ending: str, size: int, first: int = 0) -> bytes:
    """Numbered parts of at least `size` bytes in all."""
    parts, written, number = ["package large\n\n" if ending == ".go" and not first else ""], 0, first
    while written < size:
        parts.append(PARTS[ending].format(number, number % 7))
        written += len(parts[-1])
        number += 1
    return "".join(parts).encode()
