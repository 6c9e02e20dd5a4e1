//! A node that a plan buys, still in rows of the tables.

use plimsoll_base::bits::Bits;

use crate::batch::minimum::Minimum;

/// A node about to become a claim.
#[derive(Clone, Debug)]
pub(crate) struct NewNode {
    /// The row the plan counts on.
    pub(crate) row: usize,
    /// Price of that row, in nano-dollars per hour; that of a supply where it draws on one.
    pub(crate) price: i64,
    /// Rows that the node may become.
    pub(crate) rows: Bits,
    /// Requests of its pods, per axis.
    pub(crate) used: Box<[i64]>,
    /// Steps that put pods on it, ascending.
    pub(crate) steps: Vec<usize>,
    /// Attach slots that its pods take, by driver.
    pub(crate) attached: Box<[i64]>,
    /// Addresses that its pods take, where anything is known of any zone.
    pub(crate) addresses: i64,
    /// How many values its claim must leave to choose from.
    pub(crate) minimum: Minimum,
    /// `true` if it is packed as Karpenter does.
    pub(crate) compatible: bool,
}
