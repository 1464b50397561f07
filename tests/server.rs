//! The server as its clients meet it: the built program over pipes, with standard input held open unless a test says otherwise.

mod calls;
mod client;
mod ending;
mod framing;
mod protocol;
mod resources;
mod roots;
mod subscriptions;
mod text;
mod tools;
