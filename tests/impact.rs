//! `impact` as a command on small repositories that the tests make with git: what a change is, what
//! it breaks, which tests it affects, and what the answer says when it does not know.

mod changes;
mod executions;
mod history;
mod planted;
mod ranking;
mod repository;
mod review;
pub(crate) mod schema;
mod states;

use repository::GitRepository;

const CART: &str = r#"class Cart:
    def total(self, items, tax=0):
        return add(sum(items), tax)

    def gone(self):
        return 1


def add(a, b):
    return a + b


def old_name(first, second):
    value = first * second
    for each in range(value):
        print(each, first, second)
    return value


def removed(x):
    return x
"#;

const USE: &str = r#"from shop.cart import Cart, add, old_name, removed


def run(cart: Cart):
    cart.gone()
    old_name(1, 2)
    removed(3)
    return cart.total([1], 2) + add(1, 2) + add(1, b=2)


class Special(Cart):
    def total(self, items, tax=0):
        return super().total(items, tax=tax)
"#;

const TESTS: &str = r#"import pytest
from shop.cart import Cart, add
from shop.use import run


@pytest.fixture
def cart():
    return Cart()


def test_total(cart):
    assert cart.total([1, 2]) == 3


def test_add():
    assert add(1, 2) == 3


def test_run(cart):
    assert run(cart)
"#;

const CONFTEST: &str = r#"import pytest
from app import store


@pytest.fixture
def link():
    return store.connect()


@pytest.fixture
def session(link):
    return link
"#;

const TEST_CASE: &str = r#"import unittest
from app.store import close


class Base(unittest.TestCase):
    def tearDown(self):
        close()


class TestMore(Base):
    def test_more(self):
        self.assertTrue(1)
"#;

const GO_TEST: &str = r#"package cart

import "testing"

func TestAdd(t *testing.T) { Add(1, 2) }

func TestMore(t *testing.T) { Add(2, 2) }
"#;

const RUST: &str = r#"pub fn double(a: u8) -> u8 {
    a * 2
}

#[cfg(test)]
mod tests {
    #[test]
    fn doubles() {
        super::double(2);
    }
}
"#;

const JAVA_TEST: &str = r#"package shop;
import org.junit.Test;
class CartTest {
    @Test public void sums() { new Cart().sum(); }
}
"#;

fn shop() -> GitRepository {
    let repository = GitRepository::new();
    repository.write("shop/__init__.py", "");
    repository.write("shop/cart.py", CART);
    repository.write("shop/use.py", USE);
    repository.write("tests/test_cart.py", TESTS);
    repository.write("conftest.py", "");
    repository.commit("one");
    repository
}

fn changed_cart() -> String {
    CART.replace("def add(a, b):\n    return a + b", "def add(a, b, c):\n    return a + b + c")
        .replace("old_name", "new_name")
        .replace("\n\ndef removed(x):\n    return x\n", "")
        .replace("    def gone(self):\n        return 1\n", "")
        .replace("items, tax=0", "items")
}

#[test]
fn every_site_that_no_longer_fits_is_named_with_its_reason() {
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    let (code, text) = repository.ask(&["impact"]);
    assert_eq!(code, Some(0), "{text}");
    for expected in [
        "working tree against HEAD: 1 file, 5 symbols; 11 breaks (10 certain, 1 likely)",
        "Cart.total:2 header, was def total(self, items, tax=0)",
        "new_name:11 renamed from old_name",
        "shop/cart.py:3 add: 2 arguments, 3 taken (certain)",
        "shop/use.py:1 removed: removed (certain)",
        "shop/use.py:6 old_name: renamed to new_name (certain)",
        "shop/use.py:8 Cart.total: 2 arguments, 1 taken (certain)",
        "shop/use.py:12 Special.total: overrides Cart.total, which has other parameters (certain)",
        "shop/use.py:13 Cart.total: no parameter `tax` (certain)",
        "shop/use.py:5 Cart.gone: removed (likely)",
        "calls: test_add:15",
        "pytest tests/test_cart.py::test_add",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(text.len() <= 6_000, "{} bytes", text.len());
}

#[test]
fn a_change_that_breaks_nothing_says_why_there_is_no_break() {
    let repository = shop();
    repository.write("shop/cart.py", &CART.replace("return a + b", "return b + a"));
    let (code, text) = repository.ask(&["impact"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("0 breaks: no name or header of a known symbol changed"), "{text}");
    assert!(text.contains("shop/cart.py: add:9\n"), "{text}");
}

#[test]
fn without_tests_or_changes_there_is_a_verdict_and_no_success() {
    let repository = shop();
    let (code, text) = repository.ask(&["impact"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("no change: working tree against HEAD"), "{text}");
    let other = GitRepository::new();
    other.write("a.py", "def f():\n    return 1\n");
    other.commit("one");
    let (code, text) = other.ask(&["impact", "f"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("0 tests: no test file is recognized"), "{text}");
    assert!(text.contains("0 dependents: nothing known refers to it"), "{text}");
    assert!(!text.contains("run:"), "{text}");
}

#[test]
fn fixtures_set_up_and_inherited_tests_lead_to_what_they_use() {
    let repository = GitRepository::new();
    repository.write("app/__init__.py", "");
    repository
        .write("app/store.py", "def connect():\n    return 1\n\n\ndef close():\n    return 2\n");
    repository.write("tests/conftest.py", CONFTEST);
    repository.write(
        "tests/deep/test_session.py",
        "def test_uses(session):\n    assert session\n\n\ndef test_not():\n    assert 1\n",
    );
    repository.write("tests/test_case.py", TEST_CASE);
    repository.commit("one");
    let names = |symbol: &str| repository.tests(&["impact", symbol]);
    assert_eq!(names("connect"), ["test_uses uses", "TestMore.test_more imports"]);
    assert!(names("close").contains(&"TestMore.test_more uses".to_owned()), "{:?}", names("close"));
}

#[test]
fn commands_are_those_of_the_runner_of_each_language() {
    let repository = GitRepository::new();
    for (path, text) in [
        ("go.mod", "module shop\n\ngo 1.22\n"),
        ("cart/cart.go", "package cart\n\nfunc Add(a, b int) int { return a + b }\n"),
        ("cart/cart_test.go", GO_TEST),
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        ("src/lib.rs", RUST),
        ("pom.xml", "<project/>\n"),
        ("src/main/java/shop/Cart.java", "package shop;\nclass Cart { int sum() { return 1; } }\n"),
        ("src/test/java/shop/CartTest.java", JAVA_TEST),
        ("web/cart.js", "export function price() { return 1; }\n"),
        (
            "web/cart.test.js",
            "import { price } from './cart.js';\ntest('the price', () => { price(); });\n",
        ),
        ("jest.config.js", "module.exports = {};\n"),
        ("lib/tax.rb", "def tax(x)\n  x\nend\n"),
    ] {
        repository.write(path, text);
    }
    repository.commit("one");
    for (symbol, expected) in [
        ("Add", "go test ./cart -run '^(TestAdd|TestMore)$'"),
        ("double", "cargo test -- doubles"),
        ("Cart.sum", "mvn test '-Dtest=CartTest#sums'"),
        ("price", "npx jest web/cart.test.js"),
    ] {
        let (code, text) = repository.ask(&["impact", symbol]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn a_change_of_many_symbols_stays_within_the_default_answer() {
    let repository = GitRepository::new();
    let functions = |body: &str| -> String {
        let one = |at| format!("def function_number_{at}(value):\n    return {body} + {at}\n\n\n");
        (0..120).map(one).collect()
    };
    repository.write("many.py", &functions("value"));
    let tests: String = (0..120)
        .map(|at| format!("def test_number_{at}():\n    many.function_number_{at}(1)\n\n\n"))
        .collect();
    repository.write("test_many.py", &format!("import many\n\n\n{tests}"));
    repository.commit("one");
    repository.write("many.py", &functions("2 * value"));
    let (code, text) = repository.ask(&["impact"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.len() <= 6_000, "{} bytes", text.len());
    assert!(text.contains("120 symbols") && text.contains("120 tests (120 calls)"), "{text}");
    assert!(text.contains("function_number_14:57 (+105)"), "{text}");
    assert!(repository.tests(&["impact"]).len() == 120, "JSON has all");
}
