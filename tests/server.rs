//! The server as its clients meet it: the built program over pipes, with standard input held open
//! unless a test says otherwise.

mod bounds;
mod budget;
mod calls;
mod client;
mod completion;
mod ending;
mod failure_modes;
#[cfg(feature = "federation")]
mod federation;
mod framing;
mod observing;
mod prompts;
mod protocol;
mod random;
mod resources;
mod roots;
mod stopping;
mod structured;
mod subscriptions;
mod text;
mod tools;
mod unreported;
mod watching;
mod web;
mod workspace;
