//! The table of upstreams: a seat for each, the tools that are admitted, and the view of it all
//! that is published.

use super::{Bell, MOST_TOOLS, Name, Peer, RegistryError, SeenUpstream, Serving, View};
use crate::server::proxy::federation::tools::ForeignTool;
use crate::server::proxy::upstream::Target;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

#[derive(Default)]
pub(super) struct Table {
    pub(super) seats: BTreeMap<Name, Seat>,
    pub(super) next_epoch: u64,
    pub(super) view: Arc<View>,
}

pub(super) struct Seat {
    pub(super) target: Target,
    /// Which of those that had this name.
    pub(super) epoch: u64,
    pub(super) serving: Option<Arc<Serving>>,
    /// What is perhaps going to be served.
    pub(super) connecting: Option<Arc<dyn Peer>>,
    pub(super) trouble: Option<String>,
    pub(super) attempted: bool,
    pub(super) bell: Arc<Bell>,
    pub(super) keeper: Option<JoinHandle<()>>,
}

impl Table {
    /// All conditions and the insertion in one. Gives what was there before, and whether the list
    /// of tools is another one now.
    pub(super) fn admit(
        &mut self,
        name: &Name,
        epoch: u64,
        serving: &Arc<Serving>,
        missing: Option<String>,
    ) -> Result<(Option<Arc<Serving>>, bool), RegistryError> {
        // What is replaced counts neither as room that is taken nor as names that are.
        let others = || {
            self.seats
                .iter()
                .filter(|(other, _)| *other != name)
                .filter_map(|(_, seat)| seat.serving.as_ref())
        };
        let taken: usize = others().map(|other| other.tools.len()).sum();
        let tools = serving.tools.len();
        if taken + tools > MOST_TOOLS {
            return Err(RegistryError::TooManyTools { name: name.clone(), tools });
        }
        let is_taken = |tool: &ForeignTool| {
            others().any(|other| other.tools.iter().any(|known| known.merged == tool.merged))
        };
        if serving.tools.iter().any(is_taken) {
            return Err(RegistryError::Collision(name.clone()));
        }
        let seat = self.seats.get_mut(name).filter(|seat| seat.epoch == epoch);
        let seat = seat.ok_or_else(|| RegistryError::Gone(name.clone()))?;
        let known = seat.serving.as_ref();
        let is_other = known.map_or(&[][..], |known| &known.tools) != serving.tools;
        let is_same = !is_other
            && seat.trouble == missing
            && known.is_some_and(|known| Arc::ptr_eq(&known.peer, &serving.peer));
        if is_same {
            return Ok((None, false));
        }
        seat.trouble = missing;
        let old = seat.serving.replace(Arc::clone(serving));
        self.publish();
        Ok((old, is_other))
    }

    /// What is served becomes visible, under a generation of its own.
    pub(super) fn publish(&mut self) {
        let mut view = View { generation: self.view.generation + 1, ..View::default() };
        for (name, seat) in &self.seats {
            if let Some(serving) = &seat.serving {
                for (place, tool) in serving.tools.iter().enumerate() {
                    view.tools.insert(tool.merged.clone(), (Arc::clone(serving), place));
                }
            }
            let (serving, trouble) = (seat.serving.clone(), seat.trouble.clone());
            view.upstreams.push(SeenUpstream { name: name.clone(), serving, trouble });
        }
        self.view = Arc::new(view);
    }
}
