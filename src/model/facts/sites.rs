//! Sites of a file: a list while they are created and modified, encoded while they are stored.

use std::borrow::Cow;

use super::Site;
use crate::packed::facts::PackedSites;

/// Sites of a file in order of position, either as a list or encoded. One value holds both forms,
/// so that no reader can read the empty one: code that renumbers expressions gets them as a list in
/// either case.
#[derive(Clone, Debug)]
pub struct Sites(Form);

#[derive(Clone, Debug)]
enum Form {
    List(Vec<Site>),
    Packed(PackedSites),
}

impl Sites {
    /// Number of sites.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::List(sites) => sites.len(),
            Form::Packed(sites) => sites.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sites, decoded if necessary.
    pub fn list(&self) -> Cow<'_, [Site]> {
        match &self.0 {
            Form::List(sites) => Cow::Borrowed(sites),
            Form::Packed(sites) => Cow::Owned(sites.unpack()),
        }
    }

    /// Returns the sites for modification; they stay a list until they are packed again.
    pub fn list_mut(&mut self) -> &mut Vec<Site> {
        if let Form::Packed(sites) = &self.0 {
            self.0 = Form::List(sites.unpack());
        }
        match &mut self.0 {
            Form::List(sites) => sites,
            Form::Packed(_) => unreachable!("they were made a list just now"),
        }
    }

    /// Encodes the sites: they are the largest part of a file's facts, and only the resolution of
    /// the file itself reads them.
    pub(crate) fn pack(&mut self) {
        if let Form::List(sites) = &self.0 {
            self.0 = Form::Packed(PackedSites::of(sites));
        }
    }

    /// Returns the encoded sites.
    pub(crate) fn packed(&self) -> Cow<'_, PackedSites> {
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
