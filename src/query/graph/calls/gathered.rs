//! Collector of the neighbours of a symbol: one edge for each, with its sites and counts by
//! certainty.

use crate::graph::answer::{Certainty, Counts};
use crate::graph::calls::edge::{Edge, End, Neighbours, Through};
use cograph_faults::{Fault, planted};
use cograph_store::{KeyOrder, SiteKey, SiteRow, SiteTarget};
use rustc_hash::{FxHashMap, FxHashSet};

impl Counts {
    /// Counts one site.
    pub(crate) fn add(&mut self, certainty: Certainty) {
        match certainty {
            Certainty::Certain => self.certain += 1,
            Certainty::Likely => self.likely += 1,
            Certainty::Possible => self.possible += 1,
            Certainty::Textual => self.textual += 1,
        }
    }
}

/// Edges under construction.
#[derive(Default)]
pub(super) struct EdgeCollector {
    pub(super) edges: Vec<Edge>,
    places: FxHashMap<(End, Option<Through>), usize>,
    pub(super) vague: Vec<(SiteRow, Certainty)>,
    pub(super) unlisted: u64,
    pub(super) counts: Counts,
    /// Counted sites with several variants as targets: each counts once.
    counted: FxHashSet<SiteKey>,
}

impl EdgeCollector {
    /// Reserves capacity for the edges of this number of sites.
    pub(super) fn reserve(&mut self, sites: usize) {
        self.edges.reserve(sites);
        self.places.reserve(sites);
    }

    pub(super) fn add(
        &mut self,
        end: End,
        through: Option<Through>,
        degree: Certainty,
        site: SiteRow,
        follow: Certainty,
    ) {
        if degree > follow {
            return self.vague(site, degree);
        }
        let is_one = !matches!(site.target, SiteTarget::Candidates(_));
        if through.is_none() && (is_one || self.counted.insert(site.key)) {
            self.counts.add(degree);
        }
        self.connect(end, through, degree, site);
    }

    pub(super) fn vague(&mut self, site: SiteRow, degree: Certainty) {
        self.counts.add(degree);
        self.vague.push((site, degree));
    }

    pub(super) fn connect(
        &mut self,
        end: End,
        through: Option<Through>,
        certainty: Certainty,
        site: SiteRow,
    ) {
        let next = self.edges.len();
        // Sites come in order of position, so consecutive ones often belong to one edge.
        let is_last =
            self.edges.last().is_some_and(|edge| (edge.end, edge.through) == (end, through));
        let place =
            if is_last { next - 1 } else { *self.places.entry((end, through)).or_insert(next) };
        if place == next {
            let (in_tests, sites) = Default::default();
            self.edges.push(Edge { end, through, certainty, in_tests, sites });
        }
        let edge = &mut self.edges[place];
        edge.certainty = edge.certainty.min(certainty);
        edge.sites.push(site);
    }

    /// Sorts the edges; those to `tests` follow others of the same certainty.
    pub(super) fn finish(mut self, order: &KeyOrder, tests: &FxHashSet<End>) -> Neighbours {
        for edge in &mut self.edges {
            edge.in_tests = tests.contains(&edge.end);
            edge.sites.sort_by_key(|site| order.site(site));
            edge.sites.dedup_by_key(|site| site.key);
            if planted(Fault::LostLastSite) && edge.sites.len() > 1 {
                edge.sites.pop();
            }
        }
        self.edges.sort_by_key(|edge| {
            let is_external = matches!(edge.end, End::External(_));
            (
                is_external,
                edge.certainty,
                edge.through.is_some(),
                edge.in_tests,
                edge.sites.first().map(|site| order.site(site)),
            )
        });
        self.vague.sort_by_key(|(site, degree)| (*degree, order.site(site)));
        self.vague.dedup_by_key(|(site, _)| site.key);
        Neighbours {
            edges: self.edges,
            vague: self.vague,
            unlisted: self.unlisted,
            counts: self.counts,
        }
    }
}
