//! Complexity of bodies: the same in every language whose manifest says what is complex.

use super::Small;
use serde_json::Value;

/// The same function in each language: cyclomatic, cognitive, nesting.
const LANGUAGES: &[(&str, &str, (u64, u64, u64))] = &[
    (
        "f.py",
        "def f(a, b, c, n):
    if a and b or a:
        for x in c:
            if x:
                pass
    elif b:
        while b:
            pass
    else:
        pass
    match n:
        case 1:
            pass
        case 2:
            pass
        case _:
            pass
    return 1 if a else 2
",
        (11, 14, 3),
    ),
    (
        "f.rs",
        "fn f(a: bool, b: bool, n: u32) {
    if a && b || a {
        for x in 0..n {
            if x == n {}
        }
    } else if b {
        while b {}
    } else {
    }
    match n {
        1 => {}
        2 => {}
        _ => {}
    }
}
",
        (10, 13, 3),
    ),
    ("f.c", C_LIKE, (11, 14, 3)),
    ("f.cpp", C_LIKE, (11, 14, 3)),
    (
        "F.java",
        "class F {
    int f(boolean a, boolean b, int[] c, int n) {
        if (a && b || a) {
            for (int x : c) {
                if (x > 0) {}
            }
        } else if (b) {
            while (b) {}
        } else {
        }
        switch (n) {
            case 1: break;
            case 2: break;
            default: break;
        }
        return a ? 1 : 2;
    }
}
",
        (11, 14, 3),
    ),
    (
        "f.go",
        "package p

func f(a bool, b bool, c []int, n int) {
	if a && b || a {
		for _, x := range c {
			if x > 0 {
			}
		}
	} else if b {
		for b {
		}
	} else {
	}
	switch n {
	case 1:
	case 2:
	default:
	}
}
",
        (10, 13, 3),
    ),
    ("f.js", SCRIPT, (11, 14, 3)),
    ("f.ts", SCRIPT, (11, 14, 3)),
    ("f.tsx", SCRIPT, (11, 14, 3)),
    (
        "f.cs",
        "class F {
    int f(bool a, bool b, int[] c, int n) {
        if (a && b || a) {
            foreach (var x in c) {
                if (x > 0) {}
            }
        } else if (b) {
            while (b) {}
        } else {
        }
        switch (n) {
            case 1: break;
            case 2: break;
            default: break;
        }
        return a ? 1 : 2;
    }
}
",
        (11, 14, 3),
    ),
    (
        "f.php",
        "<?php
function f($a, $b, $c, $n) {
    if ($a && $b || $a) {
        foreach ($c as $x) {
            if ($x) {}
        }
    } elseif ($b) {
        while ($b) {}
    } else {
    }
    switch ($n) {
        case 1: break;
        case 2: break;
        default: break;
    }
    return $a ? 1 : 2;
}
",
        (11, 14, 3),
    ),
    (
        "f.kt",
        "fun f(a: Boolean, b: Boolean, c: List<Int>, n: Int) {
    if (a && b || a) {
        for (x in c) {
            if (x > 0) {}
        }
    } else if (b) {
        while (b) {}
    } else {
    }
    when (n) {
        1 -> {}
        2 -> {}
        else -> {}
    }
}
",
        (10, 13, 3),
    ),
    (
        "f.rb",
        "def f(a, b, c, n)
  if a && b || a
    for x in c do
      if x
        1
      end
    end
  elsif b
    while b do
      1
    end
  else
    1
  end
  case n
  when 1
    1
  when 2
    2
  else
    3
  end
  a ? 1 : 2
end
",
        (11, 14, 3),
    ),
];

const C_LIKE: &str = "int f(int a, int b, int *c, int n) {
    if (a && b || a) {
        for (int x = 0; x < n; x++) {
            if (x) {}
        }
    } else if (b) {
        while (b) {}
    } else {
    }
    switch (n) {
        case 1: break;
        case 2: break;
        default: break;
    }
    return a ? 1 : 2;
}
";

const SCRIPT: &str = "function f(a, b, c, n) {
    if (a && b || a) {
        for (const x of c) {
            if (x) {}
        }
    } else if (b) {
        while (b) {}
    } else {
    }
    switch (n) {
        case 1: break;
        case 2: break;
        default: break;
    }
    return a ? 1 : 2;
}
";

fn measures(small: &Small, name: &str) -> Vec<[Option<u64>; 3]> {
    let statement = format!(
        "SELECT cyclomatic, cognitive, nesting FROM symbols WHERE name = '{name}' \
         ORDER BY path, line"
    );
    let number = |row: &Vec<Value>| std::array::from_fn(|at| row[at].as_u64());
    small.rows(&statement).iter().map(number).collect()
}

#[test]
fn the_same_function_is_as_complex_in_every_language() {
    for (path, text, (cyclomatic, cognitive, nesting)) in LANGUAGES {
        let small = Small::of(&[(path, text)]);
        let expected = [Some(*cyclomatic), Some(*cognitive), Some(*nesting)];
        assert_eq!(measures(&small, "f"), [expected], "{path}");
    }
}

#[test]
fn what_has_no_measured_body_has_no_complexity() {
    let small = Small::of(&[
        ("a.h", "int declared(int x);\n"),
        ("a.py", "class Type:\n    value = 1\n\n\ndef plain():\n    return 1\n"),
        ("a.lua", "function plain()\n  if x then return 1 end\nend\n"),
    ]);
    assert_eq!(measures(&small, "declared"), [[None; 3]]);
    assert_eq!(measures(&small, "Type"), [[None; 3]]);
    assert_eq!(measures(&small, "plain"), [[None; 3], [Some(1), Some(0), Some(0)]]);
}

#[test]
fn functions_inside_count_for_themselves_and_cost_the_reader_of_the_outer_one() {
    let small = Small::of(&[
        (
            "a.py",
            "def outer(a):
    def inner(b):
        if b:
            return 1
    if a:
        return inner(lambda x: 1 if x else 2)


def again(n):
    return again(n - 1) if n else 0
",
        ),
        ("b.js", "const held = (a) => {\n    if (a) { return () => { if (a) {} }; }\n};\n"),
    ]);
    // Of the inner `if` two levels in the outer function, of the choice in the closure three.
    assert_eq!(measures(&small, "outer"), [[Some(3), Some(6), Some(3)]]);
    assert_eq!(measures(&small, "inner"), [[Some(2), Some(1), Some(1)]]);
    assert_eq!(measures(&small, "again"), [[Some(2), Some(2), Some(1)]]);
    assert_eq!(measures(&small, "held"), [[Some(3), Some(4), Some(3)]]);
}

#[test]
fn a_sequence_of_one_operator_costs_once() {
    let body = |test: &str| format!("def f(a, b, c, d):\n    return {test}\n");
    for (test, cyclomatic, cognitive) in [
        ("a and b and c and d", 4, 1),
        ("a and (b and c) and d", 4, 1),
        ("a or b and c or d", 4, 2),
        ("a and b or c and d", 4, 3),
        ("a and not (b and c)", 3, 2),
        ("(a or b) and (c or d)", 4, 3),
    ] {
        let small = Small::of(&[("a.py", &body(test))]);
        let expected = [Some(cyclomatic), Some(cognitive), Some(0)];
        assert_eq!(measures(&small, "f"), [expected], "{test}");
    }
}
