//! Programs that a client has started to serve others end with it, however it ends.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{await_tool, client_of, script};
use crate::server::client::{PATIENCE, PROMPT, place};

/// Whether a process exists and has not ended.
fn is_alive(pid: &str) -> bool {
    let state = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    state
        .rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

#[test]
fn programs_that_serve_end_with_their_client_however_it_ends() {
    for how in ["input", "TERM", "KILL"] {
        let scripts = place(&[]);
        // It ignores signals, and would go on after the end of its input unless it is killed; after
        // KILL no process is left that could do so.
        let stubborn = if how == "KILL" { "" } else { "trap '' TERM INT HUP\n" };
        let body = "*'\"method\":\"tools/list\"'*) echo $$ > \"$here/pid\"; say \
                    '{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}' ;;";
        let target = script(&scripts, "up", body);
        let path = scripts.path().join("up.sh");
        let text = fs::read_to_string(&path).expect("it was written");
        let after = if how == "KILL" { "" } else { "while :; do sleep 1000; done\n" };
        fs::write(&path, format!("{stubborn}{text}{after}")).expect("files can be written");
        let mut client = client_of(&[target]);
        await_tool(&mut client, "up__t");
        let pid =
            fs::read_to_string(scripts.path().join("pid")).expect("it was asked").trim().to_owned();
        assert!(is_alive(&pid));
        match how {
            "input" => client.close_input(),
            signal => client.signal(signal),
        }
        client.ended();
        let until = Instant::now() + Duration::from_secs(10);
        while is_alive(&pid) {
            assert!(Instant::now() < until, "{how}: process {pid} is left behind");
            std::thread::yield_now();
        }
    }
}

#[test]
fn programs_that_were_still_being_connected_to_end_with_their_client_too() {
    for how in ["input", "TERM"] {
        let scripts = place(&[]);
        let waits = "trap '' TERM INT HUP; sleep 1000 & echo $$ $! > \"$here/NAME.new\"; mv \
                     \"$here/NAME.new\" \"$here/NAME\"; while :; do sleep 1000; done";
        let waits = |name: &str| waits.replace("NAME", name);
        let silent = script(
            &scripts,
            "silent",
            &format!("*'\"method\":\"tools/list\"'*) {} ;;", waits("silent-pids")),
        );
        let path = scripts.path().join("mute.sh");
        let text = format!("here=\"{}\"\n{}\n", scripts.path().display(), waits("mute-pids"));
        fs::write(&path, text).expect("files can be written");
        let mut client = client_of(&[silent, format!("mute=cmd:sh {}", path.display())]);
        let until = Instant::now() + PATIENCE;
        let mut pids = Vec::new();
        for name in ["silent-pids", "mute-pids"] {
            while !scripts.path().join(name).exists() {
                assert!(Instant::now() < until, "{name} is started");
                std::thread::yield_now();
            }
            let text = fs::read_to_string(scripts.path().join(name)).expect("it exists");
            pids.extend(text.split_whitespace().map(str::to_owned));
        }
        assert!(pids.len() == 4 && pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
        match how {
            "input" => client.close_input(),
            signal => client.signal(signal),
        }
        let (_, elapsed) = client.ended();
        assert!(elapsed < PROMPT, "{how}: {elapsed:?}");
        let left = || pids.iter().filter(|pid| is_alive(pid)).collect::<Vec<_>>();
        // What was killed is gone when the system comes to it.
        let until = Instant::now() + PROMPT;
        while !left().is_empty() {
            if Instant::now() >= until {
                let left: Vec<String> = left().into_iter().cloned().collect();
                let killed = Command::new("kill").arg("-KILL").args(&left).status();
                panic!("{how}: processes {left:?} are left behind ({killed:?})");
            }
            std::thread::yield_now();
        }
    }
}
