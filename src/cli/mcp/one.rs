//! A program without the cargo feature `federation`: it refuses several upstreams.

use crate::output::stop::Stop;
use cograph_config::NamedTargets;
use cograph_server::{Options, Target};
use std::io;
use std::iter::Empty;
use std::path::PathBuf;

const REFUSED: &str = "this program serves from one upstream: build it with the cargo feature \
                       `federation` for several";

/// Several upstreams, which there are none of.
pub(crate) enum Upstreams {}

pub(crate) fn all(upstreams: &Upstreams) -> Empty<(String, &Target)> {
    match *upstreams {}
}

pub(super) fn from_arguments(_: &[String], _: &[String]) -> Result<Upstreams, Stop> {
    Err(Stop::Usage(REFUSED.to_owned()))
}

pub(super) fn from_file(_: Option<PathBuf>) -> Result<Upstreams, Stop> {
    Err(Stop::Usage(REFUSED.to_owned()))
}

pub(crate) fn checked(_: NamedTargets) -> Result<Upstreams, String> {
    Err(REFUSED.to_owned())
}

pub(super) fn run_federated(_: Options, upstreams: Upstreams) -> io::Result<()> {
    match upstreams {}
}
