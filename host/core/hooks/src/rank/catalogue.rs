//! The catalogue as columns: one row per instance type, one row per offering, and the names they use.
//!
//! Built once per snapshot and shared by all questions about it. The builder refuses a row that no answer could be
//! checked against: a price outside 0 to [`MAX_DOLLARS_PER_HOUR`], an offering of a type that is not there.

use plimsoll_base::units::MAX_DOLLARS_PER_HOUR;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::columns::{CatalogueColumns, InstanceTypeRow, OfferingRow};
use crate::hook::{Sym, Symbols, SymbolsBuilder};

/// Processor architecture of an instance type, as its code in the column `t-arch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Architecture {
    /// 64-bit x86.
    Amd64 = 0,
    /// 64-bit ARM.
    Arm64 = 1,
    /// Any other.
    Other = 255,
}

/// Catalogue and names: the part that all questions about one snapshot share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// Every text the columns refer to.
    pub symbols: Symbols,
    /// Instance types and their offerings.
    pub catalogue: CatalogueColumns,
}

impl Tables {
    /// List price of an offering, dollars per hour; +inf for a row that is not there.
    pub fn price(&self, offering: u32) -> f64 {
        self.catalogue
            .o_price
            .get(offering as usize)
            .copied()
            .unwrap_or(f64::INFINITY)
    }

    /// Name of the instance type of an offering; empty for a row that is not there.
    pub fn type_name(&self, offering: u32) -> &str {
        let instance_type = self.catalogue.o_type.get(offering as usize);
        let name = |&row| self.symbols.of_row(&self.catalogue.t_name, row);
        instance_type.map(name).unwrap_or_default()
    }

    /// Zone of an offering; empty for a row that is not there.
    pub fn zone(&self, offering: u32) -> &str {
        self.symbols.of_row(&self.catalogue.o_zone, offering)
    }
}

/// A row that the catalogue refuses.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RowError {
    /// The offering names an instance type row that is not there.
    #[error(
        "offering in {zone}: instance type row {row} of {types}; add the type before its offerings"
    )]
    UnknownType {
        /// Zone of the offering.
        zone: String,
        /// Row it named.
        row: u32,
        /// Rows there are.
        types: usize,
    },
    /// The list price cannot be one.
    #[error(
        "offering of {instance_type} in {zone}: price {price}; expected dollars per hour in 0 to {MAX_DOLLARS_PER_HOUR}"
    )]
    Price {
        /// Name of the instance type.
        instance_type: String,
        /// Zone of the offering.
        zone: String,
        /// The value given, in dollars per hour.
        price: f64,
    },
    /// The interruption rate cannot be one.
    #[error(
        "offering of {instance_type} in {zone}: {rate} interruptions per day; expected a finite number, 0 or more"
    )]
    Interruptions {
        /// Name of the instance type.
        instance_type: String,
        /// Zone of the offering.
        zone: String,
        /// The value given, in interruptions per day.
        rate: f32,
    },
}

/// Builds [`Tables`] row by row, in the order given.
///
/// Canonical use: types by name, then offerings by (type row, zone, capacity), then [`symbol`](Self::symbol) for pool names.
#[derive(Debug, Clone, Default)]
pub struct TablesBuilder {
    symbols: SymbolsBuilder,
    catalogue: CatalogueColumns,
}

impl TablesBuilder {
    /// The symbol of a text that a question needs besides the catalogue, such as a pool's name.
    pub fn symbol(&mut self, text: &str) -> Sym {
        self.symbols.intern(text)
    }

    /// Adds an instance type and returns its row.
    pub fn instance_type(&mut self, row: &InstanceTypeRow<'_>) -> u32 {
        let columns = &mut self.catalogue;
        let index = row_number(columns.t_name.len());
        columns.push_type(&mut self.symbols, row);
        for (key, value) in row.labels {
            columns.t_label_key.push(self.symbols.intern(key));
            columns.t_label_value.push(self.symbols.intern(value));
        }
        columns
            .t_label_ends
            .push(row_number(columns.t_label_key.len()));
        index
    }

    /// Adds an offering of a type that is there already and returns its row.
    pub fn offering(&mut self, row: &OfferingRow<'_>) -> Result<u32, RowError> {
        self.accept(row)?;
        let index = row_number(self.catalogue.o_type.len());
        self.catalogue.push_offering(&mut self.symbols, row);
        Ok(index)
    }

    /// The finished tables.
    pub fn finish(self) -> Tables {
        Tables {
            symbols: self.symbols.finish(),
            catalogue: self.catalogue,
        }
    }

    fn accept(&self, row: &OfferingRow<'_>) -> Result<(), RowError> {
        let types = self.catalogue.t_name.len();
        let zone = || row.zone.to_owned();
        if row.instance_type as usize >= types {
            return Err(RowError::UnknownType {
                zone: zone(),
                row: row.instance_type,
                types,
            });
        }
        let name = || {
            let symbol = self.catalogue.t_name[row.instance_type as usize];
            self.symbols.text(symbol).to_owned()
        };
        if !(0.0..=MAX_DOLLARS_PER_HOUR).contains(&row.price) {
            return Err(RowError::Price {
                instance_type: name(),
                zone: zone(),
                price: row.price,
            });
        }
        let rate = row.interruptions_per_day;
        if !(rate.is_finite() && rate >= 0.0) {
            return Err(RowError::Interruptions {
                instance_type: name(),
                zone: zone(),
                rate,
            });
        }
        Ok(())
    }
}

fn row_number(length: usize) -> u32 {
    u32::try_from(length).expect("a catalogue has fewer than 2^32 rows")
}
