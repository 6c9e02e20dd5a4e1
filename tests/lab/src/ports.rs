//! Ports of a lab: a block of adjacent ones, below the range from which the kernel serves outgoing connections,
//! so that no other process is given one between our look and the program's bind.
//!
//! The first port of a block stays bound as long as the lab lives: that is how labs of other processes see that the block is taken.

use std::net::{Ipv4Addr, TcpListener};

use crate::error::LabError;

const FIRST: u16 = 21_000;
const LAST: u16 = 30_999;
/// Ports of a block: the guard, and one for each use in [`Ports`].
const WIDTH: u16 = 9;
const BLOCKS: u16 = (LAST - FIRST + 1) / WIDTH;

/// A block that is ours until this value is dropped.
#[derive(Debug)]
pub(crate) struct Ports {
    /// Bound, never listened to by anyone.
    _guard: TcpListener,
    base: u16,
}

impl Ports {
    /// Takes the first free block, looking from a place that depends on the process, so that labs seldom meet.
    pub(crate) fn reserve() -> Result<Self, LabError> {
        let start = std::process::id() % u32::from(BLOCKS);
        let start = u16::try_from(start).expect("smaller than the number of blocks");
        for offset in 0..BLOCKS {
            let base = FIRST + (start + offset) % BLOCKS * WIDTH;
            let Ok(guard) = bind(base) else { continue };
            if (base + 1..base + WIDTH).all(|port| bind(port).is_ok()) {
                return Ok(Self {
                    _guard: guard,
                    base,
                });
            }
        }
        Err(LabError::Ports {
            wanted: WIDTH,
            from: FIRST,
            to: LAST,
        })
    }

    pub(crate) fn etcd(&self) -> u16 {
        self.base + 1
    }

    pub(crate) fn etcd_peer(&self) -> u16 {
        self.base + 2
    }

    pub(crate) fn api_server(&self) -> u16 {
        self.base + 3
    }

    pub(crate) fn scheduler(&self) -> u16 {
        self.base + 4
    }

    pub(crate) fn controller_manager(&self) -> u16 {
        self.base + 5
    }

    pub(crate) fn kwok(&self) -> u16 {
        self.base + 6
    }

    /// Ports that no program of the lab's takes.
    pub(crate) fn spare(&self) -> [u16; 2] {
        [self.base + 7, self.base + 8]
    }
}

fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_held_do_not_overlap() {
        let (one, two) = (
            Ports::reserve().expect("a block"),
            Ports::reserve().expect("a block"),
        );
        assert!(one.base.abs_diff(two.base) >= WIDTH, "{one:?} {two:?}");
        assert!(bind(one.base).is_err(), "the first port is held");
    }
}
