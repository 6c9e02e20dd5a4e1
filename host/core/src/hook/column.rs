//! Columns that more than one hook has: how a machine is bought, and optional signals by name.

use serde::{Deserialize, Serialize};

use super::symbols::Sym;

/// How an offering is bought, as its code in columns named `capacity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Capacity {
    /// By the second at list price.
    OnDemand = 0,
    /// Spare capacity that may be taken back.
    Spot = 1,
    /// Out of a capacity reservation.
    Reserved = 2,
}

/// Values of an optional signal, parallel to the rows it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Column {
    /// Numbers with fractions.
    F64s(Vec<f64>),
    /// Counts.
    U32s(Vec<u32>),
    /// Codes.
    U8s(Vec<u8>),
    /// Texts.
    Syms(Vec<Sym>),
}

/// An optional signal: how the interface grows without changing a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtColumn {
    /// Its name, as a policy's manifest asks for it.
    pub name: Sym,
    /// One value per row.
    pub values: Column,
}
