//! The references of a file, as a list while they are made and changed, and encoded while they are
//! only kept.

use std::borrow::Cow;

use super::Site;
use crate::model::packed::facts::PackedSites;

/// The references of a file in order of position, either as a list or encoded. One value holds both
/// forms, so that no reader can look at the one that is empty: code that renumbers what references
/// point to gets them as a list, whatever form they were in.
#[derive(Clone, Debug)]
pub struct Sites(Form);

#[derive(Clone, Debug)]
enum Form {
    List(Vec<Site>),
    Packed(PackedSites),
}

impl Sites {
    /// How many references there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::List(sites) => sites.len(),
            Form::Packed(sites) => sites.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The references; decoded if they are encoded.
    pub fn list(&self) -> Cow<'_, [Site]> {
        match &self.0 {
            Form::List(sites) => Cow::Borrowed(sites),
            Form::Packed(sites) => Cow::Owned(sites.unpack()),
        }
    }

    /// The references, to be changed; they stay a list until they are packed again.
    pub fn list_mut(&mut self) -> &mut Vec<Site> {
        if let Form::Packed(sites) = &self.0 {
            self.0 = Form::List(sites.unpack());
        }
        match &mut self.0 {
            Form::List(sites) => sites,
            Form::Packed(_) => unreachable!("they were made a list just now"),
        }
    }

    /// Encodes the references: they are most of what a file says, and only the resolution of the
    /// file reads them.
    pub fn pack(&mut self) {
        if let Form::List(sites) = &self.0 {
            self.0 = Form::Packed(PackedSites::of(sites));
        }
    }

    /// The references encoded.
    pub(in crate::model) fn packed(&self) -> Cow<'_, PackedSites> {
        match &self.0 {
            Form::List(sites) => Cow::Owned(PackedSites::of(sites)),
            Form::Packed(sites) => Cow::Borrowed(sites),
        }
    }
}

impl Default for Sites {
    fn default() -> Self {
        Self(Form::List(Vec::new()))
    }
}

impl PartialEq for Sites {
    fn eq(&self, other: &Self) -> bool {
        self.list() == other.list()
    }
}

impl From<Vec<Site>> for Sites {
    fn from(sites: Vec<Site>) -> Self {
        Self(Form::List(sites))
    }
}

impl From<PackedSites> for Sites {
    fn from(sites: PackedSites) -> Self {
        Self(Form::Packed(sites))
    }
}
