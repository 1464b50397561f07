//! Limits that the system sets a process, and that it sets itself. Windows has none of these.

use std::io;

pub use system::{address_space_of, bound_of, is_file_size_limited, set_bound};

/// What is limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bounded {
    /// Address space.
    AddressSpace,
    /// Private writable mappings.
    Data,
}

/// Limit in force and the one that it can be raised to, in bytes; `None` without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bound {
    /// In force.
    pub current: Option<u64>,
    /// Maximum.
    pub maximum: Option<u64>,
}

impl Bound {
    /// The lower one.
    pub fn least(self) -> u64 {
        self.maximum.into_iter().chain(self.current).fold(u64::MAX, u64::min)
    }
}

#[cfg(unix)]
mod system {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::{Bound, Bounded, io};

    /// True if the size of a file that this process writes is limited (`ulimit -f`).
    pub fn is_file_size_limited() -> bool {
        getrlimit(Resource::Fsize).current.is_some()
    }

    /// Limit of this process.
    pub fn bound_of(bounded: Bounded) -> Bound {
        let Rlimit { current, maximum } = getrlimit(resource(bounded));
        Bound { current, maximum }
    }

    /// Sets the limit in force of this process, which those that it starts inherit.
    pub fn set_bound(bounded: Bounded, current: Option<u64>) -> io::Result<()> {
        let maximum = getrlimit(resource(bounded)).maximum;
        Ok(setrlimit(resource(bounded), Rlimit { current, maximum })?)
    }

    /// Limit in force of the address space of another process, which may have ended and is not
    /// reaped; `None` without one, and where the system does not tell.
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
    pub fn address_space_of(process: u32) -> Option<u64> {
        soft(&std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?)
    }

    /// Soft limit in the row of the address space, see `proc_pid_limits(5)`.
    fn soft(limits: &str) -> Option<u64> {
        const ROW: &str = "Max address space";
        let row = limits.lines().find_map(|line| line.strip_prefix(ROW))?;
        row.split_whitespace().next()?.parse().ok()
    }

    fn resource(bounded: Bounded) -> Resource {
        match bounded {
            Bounded::AddressSpace => Resource::As,
            Bounded::Data => Resource::Data,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_soft_limit_is_read_from_its_row() {
            let row = |value: &str| {
                let others = "Max file locks   7   unlimited   locks\n";
                format!("{others}Max address space   {value}   9   bytes\n")
            };
            assert_eq!(soft(&row("4096")), Some(4096));
            assert_eq!(soft(&row("unlimited")), None);
            assert_eq!(soft("Max file locks   7   unlimited   locks\n"), None);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Bound, Bounded, io};

    /// False: there is no such limit.
    pub fn is_file_size_limited() -> bool {
        false
    }

    /// None.
    pub fn bound_of(_: Bounded) -> Bound {
        Bound::default()
    }

    /// Without effect.
    pub fn set_bound(_: Bounded, _: Option<u64>) -> io::Result<()> {
        Ok(())
    }

    /// None.
    pub fn address_space_of(_: u32) -> Option<u64> {
        None
    }
}
