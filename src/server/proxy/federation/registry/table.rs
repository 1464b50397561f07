//! Table of upstreams: one entry per name, the admitted tools, and the published view.

use crate::proxy::federation::registry::view::{
    MAX_TOOLS, Name, Peer, RegistryError, SeenUpstream, Serving, View,
};
use crate::proxy::federation::registry::wakeup::Wakeup;
use crate::proxy::federation::tools::ForeignTool;
use crate::proxy::upstream::Target;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

#[derive(Default)]
pub(super) struct Table {
    pub(super) registrations: BTreeMap<Name, Registration>,
    pub(super) next_epoch: u64,
    pub(super) view: Arc<View>,
}

pub(super) struct Registration {
    pub(super) target: Target,
    /// Registration number: distinguishes successive upstreams of the same name.
    pub(super) epoch: u64,
    pub(super) serving: Option<Arc<Serving>>,
    /// Candidate for admission.
    pub(super) connecting: Option<Arc<dyn Peer>>,
    pub(super) trouble: Option<String>,
    pub(super) attempted: bool,
    pub(super) wakeup: Arc<Wakeup>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Table {
    /// Checks all conditions and inserts, atomically. Returns the replaced upstream and whether the
    /// list of tools has changed.
    pub(super) fn admit(
        &mut self,
        name: &Name,
        epoch: u64,
        serving: &Arc<Serving>,
        missing: Option<String>,
    ) -> Result<(Option<Arc<Serving>>, bool), RegistryError> {
        // The replaced upstream counts neither for the limits nor for name collisions.
        let others = || {
            self.registrations
                .iter()
                .filter(|(other, _)| *other != name)
                .filter_map(|(_, registration)| registration.serving.as_ref())
        };
        let taken: usize = others().map(|other| other.tools.len()).sum();
        let tools = serving.tools.len();
        if taken + tools > MAX_TOOLS {
            return Err(RegistryError::TooManyTools { name: name.clone(), tools });
        }
        let is_taken = |tool: &ForeignTool| {
            others().any(|other| other.tools.iter().any(|known| known.merged == tool.merged))
        };
        if serving.tools.iter().any(is_taken) {
            return Err(RegistryError::Collision(name.clone()));
        }
        let registration =
            self.registrations.get_mut(name).filter(|registration| registration.epoch == epoch);
        let registration = registration.ok_or_else(|| RegistryError::Gone(name.clone()))?;
        let known = registration.serving.as_ref();
        let is_other = known.map_or(&[][..], |known| &known.tools) != serving.tools;
        let is_same = !is_other
            && registration.trouble == missing
            && known.is_some_and(|known| Arc::ptr_eq(&known.peer, &serving.peer));
        if is_same {
            return Ok((None, false));
        }
        registration.trouble = missing;
        let old = registration.serving.replace(Arc::clone(serving));
        self.publish();
        Ok((old, is_other))
    }

    /// Publishes the admitted upstreams as a new generation.
    pub(super) fn publish(&mut self) {
        let mut view = View { generation: self.view.generation + 1, ..View::default() };
        for (name, registration) in &self.registrations {
            if let Some(serving) = &registration.serving {
                for (place, tool) in serving.tools.iter().enumerate() {
                    view.tools.insert(tool.merged.clone(), (Arc::clone(serving), place));
                }
            }
            let (serving, trouble) = (registration.serving.clone(), registration.trouble.clone());
            view.upstreams.push(SeenUpstream { name: name.clone(), serving, trouble });
        }
        self.view = Arc::new(view);
    }
}
