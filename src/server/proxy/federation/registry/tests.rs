//! Registry with misbehaving upstreams.

use super::*;
use crate::proxy::federation::registry::view::MAX_TOOLS;
use crate::proxy::federation::tools::ForeignTool;
use crate::proxy::upstream::listing::Listing;
use crate::proxy::upstream::question::Caller;
use crate::proxy::upstream::question::UpstreamError;
use crate::proxy::upstream::question::UpstreamQuestion;
use serde_json::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

const PATIENCE: Duration = Duration::from_secs(30);

/// Behaviour of an upstream when its tools are listed.
#[derive(Clone)]
enum Behaviour {
    /// Lists these tools.
    Lists(Vec<String>),
    /// Lists these tools of a longer list that it does not finish.
    ListsInPart(Vec<String>),
    /// Refuses the connection.
    Fails,
    /// Accepts and never answers; the request fails only when the connection is closed.
    Stalls,
}

/// Scripted upstream.
struct ScriptedPeer {
    behaviour: Mutex<Behaviour>,
    closed: AtomicUsize,
    released: CancelToken,
    asked: SyncSender<()>,
}

impl Peer for ScriptedPeer {
    fn list(&self, _: &CancelToken) -> Result<Listing, UpstreamError> {
        let _ = self.asked.try_send(());
        let unreachable =
            || UpstreamError::Unreachable { target: "it".to_owned(), why: "planned".to_owned() };
        let entry = |name: &String| json!({"name": name, "inputSchema": {"type": "object"}});
        let behaviour = self.behaviour.lock().clone();
        match behaviour {
            Behaviour::Lists(names) => {
                Ok(Listing { tools: names.iter().map(entry).collect(), incomplete: None })
            }
            Behaviour::ListsInPart(names) => {
                let incomplete = Some("it has more than 100 pages".to_owned());
                Ok(Listing { tools: names.iter().map(entry).collect(), incomplete })
            }
            Behaviour::Fails => Err(unreachable()),
            Behaviour::Stalls => {
                self.released.wait(PATIENCE);
                Err(unreachable())
            }
        }
    }

    fn call(&self, _: &UpstreamQuestion, _: &dyn Caller) -> Result<Value, UpstreamError> {
        Ok(json!({}))
    }

    fn title(&self) -> Option<String> {
        Some("planned".to_owned())
    }

    fn send_notification(&self, _: &str) {}

    fn close(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
        self.released.cancel();
    }
}

/// Registry over scripted upstreams, and the targets connected to.
struct Stage {
    registry: Registry,
    dialled: Receiver<(String, Arc<ScriptedPeer>, EventSink)>,
    changes: Arc<AtomicUsize>,
    asked: Receiver<()>,
}

/// Script of the connections to each target, in order; the last entry is repeated.
fn stage(plans: Vec<(&str, Vec<Behaviour>)>) -> Stage {
    let mut plans: BTreeMap<String, VecDeque<Behaviour>> =
        plans.into_iter().map(|(name, behaviour)| (name.to_owned(), behaviour.into())).collect();
    let plans = Mutex::new(std::mem::take(&mut plans));
    let (send_notification, dialled) = sync_channel(1000);
    let (asked_sender, asked) = sync_channel(1000);
    let changes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&changes);
    let connector = move |target: &Target, sink: EventSink| {
        let Target::Command(words) = target else { panic!("the stage has programs only") };
        let mut plans = plans.lock();
        let plan = plans.get_mut(&words[0]).expect("it is planned");
        let behaviour = if plan.len() > 1 { plan.pop_front() } else { plan.front().cloned() }
            .expect("it is planned");
        let (behaviour, asked) = (Mutex::new(behaviour), asked_sender.clone());
        let peer = Arc::new(ScriptedPeer {
            behaviour,
            closed: AtomicUsize::new(0),
            released: CancelToken::new(),
            asked,
        });
        send_notification
            .send((words[0].clone(), Arc::clone(&peer), sink))
            .expect("the stage stands");
        peer as Arc<dyn Peer>
    };
    let on_change = move || {
        counted.fetch_add(1, Ordering::SeqCst);
    };
    Stage {
        registry: Registry::new(Box::new(connector), Box::new(on_change)),
        dialled,
        changes,
        asked,
    }
}

fn target(name: &str) -> Target {
    Target::Command(vec![name.to_owned()])
}

fn name(text: &str) -> Name {
    Name::new(text).expect("it is a name")
}

fn lists(names: &[&str]) -> Behaviour {
    Behaviour::Lists(names.iter().map(|&name| name.to_owned()).collect())
}

impl Stage {
    fn add(&self, text: &str) {
        self.registry.add(&name(text), target(text)).expect("it is new");
    }

    fn next(&self) -> (String, Arc<ScriptedPeer>, EventSink) {
        self.dialled.recv_timeout(PATIENCE).expect("a client connects")
    }

    /// Waits for these admitted tools.
    fn await_tools(&self, wanted: &[&str]) -> Arc<View> {
        let until = Instant::now() + PATIENCE;
        loop {
            let view = self.registry.view();
            if view.tools.keys().map(String::as_str).eq(wanted.iter().copied()) {
                return view;
            }
            assert!(Instant::now() < until, "{:?}", view.tools.keys().collect::<Vec<_>>());
            std::thread::yield_now();
        }
    }

    /// Waits for this number of change notifications.
    fn await_changes(&self, wanted: usize) {
        let until = Instant::now() + PATIENCE;
        while self.changes.load(Ordering::SeqCst) < wanted {
            assert!(Instant::now() < until, "the change is reported");
            std::thread::yield_now();
        }
        assert_eq!(self.changes.load(Ordering::SeqCst), wanted);
    }

    fn await_trouble(&self, of: &str, part: &str) -> Arc<View> {
        let until = Instant::now() + PATIENCE;
        loop {
            let view = self.registry.view();
            let seen =
                view.upstreams.iter().find(|seen| seen.name.as_str() == of).expect("it is known");
            if seen.trouble.as_ref().is_some_and(|trouble| trouble.contains(part)) {
                return view;
            }
            assert!(Instant::now() < until, "{:?}", seen.trouble);
            std::thread::yield_now();
        }
    }
}

#[test]
fn names_are_checked_and_unique_and_there_is_a_bound_to_them() {
    for wrong in
        ["", " ", "a b", "../x", "-x", "x-", "a__b", "1a", "é", "a\0b", "a.b", &"x".repeat(25)]
    {
        let error = Name::new(wrong).expect_err("it cannot be a name").to_string();
        assert!(error.contains("cannot name an upstream") && error.len() < 400, "{error}");
    }
    let plans = (0..=MAX_UPSTREAMS).map(|number| format!("u{number}")).collect::<Vec<_>>();
    let stage = stage(plans.iter().map(|name| (name.as_str(), vec![Behaviour::Fails])).collect());
    for text in &plans[..MAX_UPSTREAMS] {
        stage.add(text);
    }
    assert_eq!(
        stage.registry.add(&name("u0"), target("u0")),
        Err(RegistryError::Known(name("u0")))
    );
    assert_eq!(stage.registry.add(&name("u16"), target("u16")), Err(RegistryError::Full));
}

#[test]
fn tools_are_merged_under_the_names_of_their_upstreams_and_an_incomplete_list_is_reported() {
    let part = Behaviour::ListsInPart(vec!["x".to_owned()]);
    let stage = stage(vec![("a", vec![lists(&["x", "y"])]), ("b", vec![part])]);
    stage.add("a");
    stage.add("b");
    let view = stage.await_tools(&["a__x", "a__y", "b__x"]);
    let (serving, place) = &view.tools["b__x"];
    assert_eq!(serving.tools[*place].name, "x");
    stage.await_trouble("b", "the list is incomplete: it has more than 100 pages");
    assert!(view.upstreams[0].trouble.is_none());
}

#[test]
fn a_slow_and_a_dead_upstream_delay_no_call() {
    let stage = stage(vec![
        ("slow", vec![Behaviour::Stalls]),
        ("dead", vec![Behaviour::Fails]),
        ("good", vec![lists(&["x"])]),
    ]);
    stage.add("slow");
    // The slow upstream is listing from here on: no lock may be held meanwhile.
    stage.asked.recv_timeout(PATIENCE).expect("it gets a request");
    let begun = Instant::now();
    stage.add("dead");
    stage.add("good");
    stage.await_tools(&["good__x"]);
    stage.await_trouble("dead", "cannot be reached");
    stage.registry.wait_for_attempts(Duration::from_millis(50));
    assert!(begun.elapsed() < PATIENCE / 3, "{:?}", begun.elapsed());
    let ending = Instant::now();
    drop(stage);
    assert!(
        ending.elapsed() < PATIENCE / 3,
        "an upstream that stalls does not hold the end up: {:?}",
        ending.elapsed()
    );
}

#[test]
fn a_reconnection_that_fails_closes_what_it_opened_and_leaves_the_old_one_serving() {
    let stage = stage(vec![("a", vec![lists(&["x"]), Behaviour::Fails, lists(&["x", "y"])])]);
    stage.add("a");
    let view = stage.await_tools(&["a__x"]);
    let (_, first, sink) = stage.next();
    sink.lost();
    let (_, second, _) = stage.next();
    let failed = stage.await_trouble("a", "cannot be reached");
    assert_eq!((second.closed.load(Ordering::SeqCst), first.closed.load(Ordering::SeqCst)), (1, 0));
    assert!(Arc::ptr_eq(&failed.tools["a__x"].0, &view.tools["a__x"].0), "the old one serves");
    let third = stage.next().1;
    let view = stage.await_tools(&["a__x", "a__y"]);
    let until = Instant::now() + PATIENCE;
    while first.closed.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < until, "what was replaced is closed");
        std::thread::yield_now();
    }
    assert_eq!(third.closed.load(Ordering::SeqCst), 0);
    assert!(view.upstreams[0].trouble.is_none());
    // Events of the old connection are ignored: otherwise each connection would be replaced because
    // the previous one was lost.
    sink.lost();
    sink.tools_changed();
    assert!(
        stage.dialled.recv_timeout(Duration::from_millis(300)).is_err(),
        "no client connects again"
    );
}

#[test]
fn the_generation_changes_with_what_is_served_and_the_list_is_announced_only_when_it_is_another() {
    let stage = stage(vec![("a", vec![lists(&["x"])])]);
    stage.add("a");
    let before = stage.await_tools(&["a__x"]).generation;
    let (_, peer, sink) = stage.next();
    stage.await_changes(1);
    let drained = |stage: &Stage| while stage.asked.try_recv().is_ok() {};
    drained(&stage);
    sink.tools_changed();
    stage.asked.recv_timeout(PATIENCE).expect("it gets another request");
    *peer.behaviour.lock() = lists(&["x", "y"]);
    sink.tools_changed();
    let after = stage.await_tools(&["a__x", "a__y"]).generation;
    assert_eq!(after, before + 1, "the same tools again are nothing new");
    stage.await_changes(2);
    drained(&stage);
    *peer.behaviour.lock() = Behaviour::Fails;
    sink.tools_changed();
    stage.asked.recv_timeout(PATIENCE).expect("it gets another request");
    let view = stage.await_trouble("a", "cannot be reached");
    assert_eq!(view.tools.len(), 2, "a look that fails leaves the tools as they were");
    assert_eq!((stage.changes.load(Ordering::SeqCst), peer.closed.load(Ordering::SeqCst)), (2, 0));
}

#[test]
fn there_is_never_more_than_the_bound_however_many_come_at_once() {
    let names: Vec<String> = (0..8).map(|number| format!("u{number}")).collect();
    let many: Vec<String> = (0..60).map(|number| format!("t{number}")).collect();
    let stage = stage(
        names.iter().map(|name| (name.as_str(), vec![Behaviour::Lists(many.clone())])).collect(),
    );
    for text in &names {
        stage.add(text);
    }
    let until = Instant::now() + PATIENCE;
    loop {
        let view = stage.registry.view();
        assert!(view.tools.len() <= MAX_TOOLS, "{}", view.tools.len());
        let refused = view.upstreams.iter().filter(|seen| {
            seen.trouble.as_ref().is_some_and(|why| why.contains("would exceed 256"))
        });
        if view.upstreams.len() == 8 && refused.count() == 4 {
            assert_eq!(view.tools.len(), 240, "as many as fit are served");
            return;
        }
        assert!(Instant::now() < until, "the surplus is refused and reported");
        std::thread::yield_now();
    }
}

#[test]
fn a_name_that_is_taken_is_refused_and_what_is_replaced_does_not_stand_in_its_own_way() {
    let peer = || {
        let (behaviour, asked) = (Mutex::new(Behaviour::Fails), sync_channel(1).0);
        Arc::new(ScriptedPeer {
            behaviour,
            closed: AtomicUsize::new(0),
            released: CancelToken::new(),
            asked,
        })
    };
    let tool = |merged: &str| ForeignTool {
        merged: merged.to_owned(),
        name: "x".to_owned(),
        only_reads: false,
        listing: json!({"name": merged}),
    };
    let serving = |names: &[String]| {
        let tools = names.iter().map(|name| tool(name)).collect();
        Arc::new(Serving { peer: peer(), tools, is_own_kind: false })
    };
    let inner = Registry::new(Box::new(|_, _| panic!("no thread connects")), Box::new(|| {}));
    let (a, b) = (name("a"), name("b"));
    let first = inner.0.enter(&a, target("a")).expect("it is new");
    let second = inner.0.enter(&b, target("b")).expect("it is new");
    let full: Vec<String> = (0..MAX_TOOLS).map(|number| format!("t{number}")).collect();
    let mut table = inner.0.lock();
    table.admit(&a, first, &serving(&full), None).expect("there is room");
    assert!(
        table.admit(&a, first, &serving(&full), None).is_ok(),
        "what is replaced is not counted twice"
    );
    let refused = table.admit(&b, second, &serving(&["u".to_owned()]), None).err();
    assert_eq!(refused, Some(RegistryError::TooManyTools { name: b.clone(), tools: 1 }));
    table.admit(&a, first, &serving(&["t".to_owned()]), None).expect("there is room");
    let refused = table.admit(&b, second, &serving(&["t".to_owned()]), None).err();
    assert_eq!(refused, Some(RegistryError::Collision(b.clone())));
    let refused = table.admit(&b, second + 1, &serving(&[]), None).err();
    assert_eq!(refused, Some(RegistryError::Gone(b)), "another one has the name by now");
    assert_eq!(table.view.tools.len(), 1);
}
