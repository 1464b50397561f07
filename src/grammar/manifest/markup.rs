//! Languages whose files are markup with code of another grammar in it.

use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Markup around the code of a file: it is masked before parsing. The grammar is that of the code.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Markup {
    /// Elements whose content is code (`script`).
    pub code: Vec<String>,
    /// Elements whose content is neither code nor markup (`style`).
    pub skipped: Vec<String>,
    /// Start of an expression in the markup -> its end (`{{` -> `}}`).
    pub expressions: BTreeMap<String, String>,
    /// Prefixes of the attributes whose value in quotes is an expression.
    pub attributes: Vec<String>,
    /// Prefix of an attribute, or with `marks` keyword of a block, that binds names -> texts
    /// between the names and the expression; without one all is names. An attribute has the names
    /// first (`v-for` -> ` in `), a block has them last (`each` -> ` as `).
    pub binders: BTreeMap<String, Vec<String>>,
    /// Character at the start of an expression, before a keyword -> its meaning.
    pub marks: BTreeMap<char, MarkMeaning>,
}

impl Markup {
    /// True if names are bound by attributes, not by blocks.
    pub fn binds_in_attributes(&self) -> bool {
        self.marks.is_empty() && !self.binders.is_empty()
    }

    /// True if names of components may have hyphens: markup whose code is in attributes is HTML,
    /// which knows no capitals in names (`<price-tag>` is `PriceTag`).
    pub fn has_hyphens(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// Returns the name of the component of an element, which may have hyphens: it has a capital
    /// for each of the words.
    pub fn component<'n>(&self, element: &'n str) -> Cow<'n, str> {
        if !element.contains('-') {
            return Cow::Borrowed(element);
        }
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
        };
        Cow::Owned(element.split('-').map(capital).collect::<Vec<String>>().concat())
    }

    /// Returns the attributes that bind names.
    pub fn attribute_binders(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.binders.iter().filter(|_| self.binds_in_attributes())
    }
}

/// Meaning of a character before a keyword.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkMeaning {
    /// Opens a block (`#if`).
    Open,
    /// Closes a block (`/if`).
    Close,
    /// The keyword is no name (`@html`).
    Keyword,
}
