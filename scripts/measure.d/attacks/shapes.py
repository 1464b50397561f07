"""Valid programs that are hard to resolve: deep, wide and circular. Each shape gives the files of a repository for a
language and a number of units; None where the language cannot say it. The text grows with the number of units."""


def one(language, text):
    """A repository of one source."""
    return {language.file("a"): language.head + text}


def nested_calls(language, units):
    """Calls inside of calls, two hundred deep."""
    end = language.statement_end
    bodies = [[f"return {'f0(' * 200}x{')' * 200}{end}"] for _ in range(units)]
    return one(language, "".join(language.function(f"f{n}", body) for n, body in enumerate(bodies)))


def nested_closures(language, units):
    """Closures that are called where they are made, twenty deep."""
    if not language.closure:
        return None
    def value(depth):
        return "x" if depth == 0 else f"{language.closure(f'y{depth}', value(depth - 1))}(x)"
    return one(language, "".join(language.function(f"f{n}", [f"return {value(20)}{language.statement_end}"]) for n in range(units)))


def long_chains(language, units):
    """A member of a member of a member, three hundred in a row."""
    chain = "x" + ".go(x)" * 300
    return one(language, "".join(language.function(f"f{n}", [f"return {chain}{language.statement_end}"]) for n in range(units)))


def values_in_turn(language, units):
    """A variable for each of the variables before it, in one function."""
    body = [language.let(f"v{n}", f"f(v{n - 1})" if n else "f(x)") for n in range(units)]
    return one(language, language.function("f", body + [f"return v{units - 1}{language.statement_end}"]))


def one_variable(language, units):
    """One variable that is given the value of a call on itself again and again."""
    end = language.statement_end
    return one(language, language.function("f", [language.let("v", "f(x)"), *[f"v = v.go(v){end}"] * units, f"return v{end}"]))


def one_name(language, units):
    """As many definitions of one name as files, each called in each file through a value of no known type."""
    end = language.statement_end
    files = {}
    for n in range(units):
        text = language.function(f"f{n}", [language.let("v", f"unknown{n}(x)"), f"return v.go(v){end}"])
        text += language.type(f"T{n}", [], [("go", [f"return x{end}"])]) if language.type else language.function("go", [f"return x{end}"])
        files[language.file(f"m{n}")] = language.head + text
    return files


def bases_in_a_row(language, units):
    """Each type derives from the one before, and asks for what the first has and for what none has."""
    if not language.type:
        return None
    end, this = language.statement_end, language.this
    return one(language, "".join(
        language.type(f"T{n}", [f"T{n - 1}"] if n else [], [(f"m{n}", [f"{this}.m0(x){end}", f"return {this}.none(x){end}"])])
        for n in range(units)))


def diamonds(language, units):
    """Two types a level, each of which derives from both of the level before."""
    if not language.several_bases:
        return None
    end, this = language.statement_end, language.this
    def level(n):
        bases = [f"A{n - 1}", f"B{n - 1}"] if n else []
        return (language.type(f"A{n}", bases, [(f"m{n}", [f"return {this}.none(x){end}"])])
                + language.type(f"B{n}", bases[::-1], [(f"k{n}", [f"return {this}.m0(x){end}"])]))
    return one(language, "".join(level(n) for n in range(units)))


def many_bases(language, units):
    """One type that derives from all others."""
    if not language.several_bases:
        return None
    end, this = language.statement_end, language.this
    text = "".join(language.type(f"T{n}", [], [(f"m{n}", [f"return x{end}"])]) for n in range(units))
    calls = [f"{this}.m{n}(x){end}" for n in range(0, units, 7)]
    return one(language, text + language.type("All", [f"T{n}" for n in range(units)], [("all", calls + [f"return x{end}"])]))


def types_that_double(language, units):
    """Each type has the one before twice."""
    if not (language.alias and language.pair):
        return None
    text = "".join(language.alias(f"T{n}", language.pair(f"T{n - 1}", f"T{n - 1}") if n % 60 else "int") for n in range(units))
    return one(language, text)


def either_of_two(language, units):
    """Each type is the one before or a list of it."""
    if not (language.alias and language.either):
        return None
    text = "".join(language.alias(f"T{n}", language.either(f"T{n - 1}", f"T{n - 1}") if n else "int") for n in range(units))
    return one(language, text)


def aliases_in_a_row(language, units):
    """Each name is an alias of the one before."""
    if not language.alias:
        return None
    return one(language, "".join(language.alias(f"T{n}", f"T{n - 1}" if n else "int") for n in range(units)))


def overloads(language, units):
    """As many overloads of one name as calls of it, one inside of another."""
    if not language.overload:
        return None
    end = language.statement_end
    text = "".join(language.overload(n, f"P{n % 50}") for n in range(units))
    return one(language, text + "".join(language.function(f"f{n}", [f"return over(over(over(x))){end}"]) for n in range(units)))


def all_import_all(language, units):
    """Modules that make each other's names visible, all of all."""
    if not language.star:
        return None
    count = max(2, int(units ** 0.5))
    names = [f"m{n}" for n in range(count)]
    end = language.statement_end
    files = {}
    for n, name in enumerate(names):
        text = "".join(language.star(other) for other in names if other != name)
        files[language.file(name)] = language.head + text + language.function(f"f{n}", [f"return none{n}(f{(n + 1) % count}(x)){end}"])
    if language.name == "rust":
        files["src/lib.rs"] = "".join(f"pub mod {name};\n" for name in names)
    return files


def imports_in_diamonds(language, units):
    """Two modules a level, each of which hands on both of the next level; the first asks for what the last has, and for what none has."""
    if not language.star:
        return None
    end, files = language.statement_end, {}
    for n in range(units):
        for side in "ab":
            text = language.star(f"a{n + 1}") + language.star(f"b{n + 1}") if n + 1 < units else ""
            files[language.file(f"{side}{n}")] = language.head + text + language.function(f"{side}f{n}", [f"return last(none(x)){end}"])
    files[language.file(f"a{units - 1}")] += language.function("last", [f"return x{end}"])
    if language.name == "rust":
        files["src/lib.rs"] = "".join(f"pub mod {side}{n};\n" for n in range(units) for side in "ab")
    return files


def imports_in_a_row(language, units):
    """Each module hands on the next one's names."""
    if not language.star:
        return None
    end, files = language.statement_end, {}
    for n in range(units):
        text = language.star(f"m{n + 1}") if n + 1 < units else language.function("last", [f"return x{end}"])
        files[language.file(f"m{n}")] = language.head + text + language.function(f"f{n}", [f"return last(x){end}"])
    if language.name == "rust":
        files["src/lib.rs"] = "".join(f"pub mod m{n};\n" for n in range(units))
    return files


def macros(language, units):
    """Macros that use the one before twice, and conditions inside of conditions."""
    if language.name == "rust":
        text = "macro_rules! m0 { ($x:expr) => { $x } }\n"
        text += "".join(f"macro_rules! m{n} {{ ($x:expr) => {{ m{n - 1}!(m{n - 1}!($x)) }} }}\n" for n in range(1, units))
        return one(language, text + language.function("f", [f"m{units - 1}!(f(x))"]))
    if language.suffix not in ("c", "cpp"):
        return None
    text = "#define M0(x) f0(x)\n"
    for n in range(1, units):
        text += f"#define M{n}(x) M{n - 1}(x) + M{n - 1}(x)\n"
        if n % 20 == 0:
            text += "".join(f"#if A{n} > {k}\n" for k in range(20)) + f"int f{n}(int x) {{ return M{n}(x); }}\n" + "#endif\n" * 20
    return one(language, text)


def failed_tests(language, units):
    """A variable of three types, tested in one function again and again: what is left of them."""
    if language.suffix not in ("ts", "tsx", "py"):
        return None
    text = "".join(language.type(f"T{n}", [], [("go", [f"return x{language.statement_end}"])]) for n in range(3))
    if language.suffix == "py":
        tests = "".join(f"    v{n} = {n}\n    if isinstance(x, T0):\n        x.go(v{n})\n    else:\n        x.go(v{n})\n" for n in range(units))
        return one(language, f"{text}def f(x: T0 | T1 | T2):\n{tests}")
    tests = "".join(f"  const v{n} = {n};\n  if (x instanceof T0) {{ x.go(v{n}); }} else {{ x.go(v{n}); }}\n" for n in range(units))
    return one(language, f"{text}export function f(x: T0 | T1 | T2) {{\n{tests}}}\n")


SHAPES = [nested_calls, nested_closures, long_chains, values_in_turn, one_variable, one_name, bases_in_a_row, diamonds, many_bases,
          types_that_double, either_of_two, aliases_in_a_row, overloads, all_import_all, imports_in_diamonds, imports_in_a_row, macros,
          failed_tests]


def of_size(shape, language, size):
    """A repository of a shape, of about `size` bytes; None where the language cannot express it."""
    def total(files):
        return sum(map(len, files.values()))
    units = 4
    files = shape(language, units)
    if files is None:
        return None
    while total(files) < size * 0.95:
        # A few lines may be the same for every number of units, and some shapes grow faster than their units.
        units = max(units + 1, min(units * 4, int(units * size / total(files))))
        files = shape(language, units)
    return {**language.project, **files}
