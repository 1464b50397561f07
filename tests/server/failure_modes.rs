//! Forty ways in which servers of this kind were found to fail, each as a test of the built program
//! with its input held open.
//!
//! A test that needs a gate or a planted defect is built with the cargo feature `faults` only.
//! `scripts/defects` builds it so, runs every test, then plants each defect
//! (`src/faults/fault.rs`) and demands that its tests fail.
//!
//! | | |
//! |---|---|
//! | `framing` | 1-3: bytes to messages; 4-6: bursts |
//! | `lanes` | 7-9: no request waits for another |
//! | `cancelling` | 10-12: cancellation; 13-14: deadlines |
//! | `ending` | 15-18: shutdown; 19-21: crashes and orphans |
//! | `messages` | 22-25: what is too long or no message, and ids |
//! | `stores` | 26-28: locks; 29-31: stores that are idle or replaced |
//! | `text` | 36-38: text and names of repositories and peers |
//! | `shared` | 32-35: a runtime and its clients; 13 and 17 once more |
//! | `pages` | 39: lists in pages |
//! | `upstream` | 40: peers that misbehave |

mod cancelling;
mod ending;
mod framing;
mod harness;
mod lanes;
mod messages;
mod pages;
mod shared;
mod stores;
mod text;
mod upstream;
