//! What can be bought, as columns: one row per instance type, one row per offering, and the names they use.
//!
//! Built once per snapshot and shared by all questions about it. The builder refuses a row that no answer could be
//! checked against: a price outside 0 to [`MAX_DOLLARS_PER_HOUR`], an offering of a type that is not there.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::hook::{Capacity, ExtColumn, Sym, Symbols, SymbolsBuilder};
use crate::units::MAX_DOLLARS_PER_HOUR;

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

/// Columns of the catalogue; `t_` columns have a row per instance type, `o_` columns a row per offering.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CatalogueColumns {
    /// Name, for instance `m7g.2xlarge`.
    pub t_name: Vec<Sym>,
    /// Family, for instance `m7g`.
    pub t_family: Vec<Sym>,
    /// Code of an [`Architecture`].
    pub t_arch: Vec<u8>,
    /// Processor time, milli-CPU of capacity.
    pub t_cpu_milli: Vec<u32>,
    /// Memory, MiB of capacity.
    pub t_mem_mib: Vec<u32>,
    /// Most pods a node of this type takes.
    pub t_pods: Vec<u32>,
    /// Accelerators.
    pub t_gpus: Vec<u32>,
    /// Kind of accelerator, or the empty text.
    pub t_gpu_kind: Vec<Sym>,
    /// End of each type's labels in the two columns that follow.
    pub t_label_ends: Vec<u32>,
    /// Label keys, all types joined.
    pub t_label_key: Vec<Sym>,
    /// Label values, all types joined.
    pub t_label_value: Vec<Sym>,
    /// Row of the instance type.
    pub o_type: Vec<u32>,
    /// Zone.
    pub o_zone: Vec<Sym>,
    /// Code of a [`Capacity`].
    pub o_capacity: Vec<u8>,
    /// List price, dollars per hour, in 0 to 100,000.
    pub o_price: Vec<f64>,
    /// Seconds since the price was read at its source.
    pub o_price_age_s: Vec<u32>,
    /// Interruptions per day seen lately in this pool of capacity.
    pub o_interruptions_per_day: Vec<f32>,
    /// Launches of this offering that failed for lack of capacity in the last hour.
    pub o_failures_1h: Vec<u32>,
    /// Nodes left in the reservation; 0 where there is none.
    pub o_reserved_left: Vec<u32>,
    /// Nodes of this offering that run already, planned ones excluded.
    pub o_running: Vec<u32>,
    /// Optional signals per instance type.
    pub t_ext: Vec<ExtColumn>,
    /// Optional signals per offering.
    pub o_ext: Vec<ExtColumn>,
}

/// One instance type, as it enters the catalogue. Fields mean what the column of the same name means.
#[derive(Debug, Clone, Copy)]
#[expect(
    missing_docs,
    reason = "the columns of `Catalogue` say what each one is"
)]
pub struct InstanceTypeRow<'a> {
    pub name: &'a str,
    pub family: &'a str,
    pub architecture: Architecture,
    pub cpu_milli: u32,
    pub memory_mib: u32,
    pub pods: u32,
    pub gpus: u32,
    pub gpu_kind: &'a str,
    pub labels: &'a [(&'a str, &'a str)],
}

/// One offering, as it enters the catalogue. Fields mean what the column of the same name means.
#[derive(Debug, Clone, Copy)]
#[expect(
    missing_docs,
    reason = "the columns of `Catalogue` say what each one is"
)]
pub struct OfferingRow<'a> {
    pub instance_type: u32,
    pub zone: &'a str,
    pub capacity: Capacity,
    pub price: f64,
    pub price_age_s: u32,
    pub interruptions_per_day: f32,
    pub failures_1h: u32,
    pub reserved_left: u32,
    pub running: u32,
}

/// Catalogue and names: the part that all questions about one snapshot share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// Every text the columns refer to.
    pub symbols: Symbols,
    /// What can be bought.
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
        let name = instance_type.and_then(|&row| self.catalogue.t_name.get(row as usize));
        name.and_then(|&symbol| self.symbols.get(symbol))
            .unwrap_or_default()
    }

    /// Zone of an offering; empty for a row that is not there.
    pub fn zone(&self, offering: u32) -> &str {
        let zone = self.catalogue.o_zone.get(offering as usize);
        zone.and_then(|&symbol| self.symbols.get(symbol))
            .unwrap_or_default()
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
        /// What was given.
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
        /// What was given.
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
        columns.t_name.push(self.symbols.intern(row.name));
        columns.t_family.push(self.symbols.intern(row.family));
        columns.t_arch.push(row.architecture as u8);
        columns.t_cpu_milli.push(row.cpu_milli);
        columns.t_mem_mib.push(row.memory_mib);
        columns.t_pods.push(row.pods);
        columns.t_gpus.push(row.gpus);
        columns.t_gpu_kind.push(self.symbols.intern(row.gpu_kind));
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
        let columns = &mut self.catalogue;
        let index = row_number(columns.o_type.len());
        columns.o_type.push(row.instance_type);
        columns.o_zone.push(self.symbols.intern(row.zone));
        columns.o_capacity.push(row.capacity as u8);
        columns.o_price.push(row.price);
        columns.o_price_age_s.push(row.price_age_s);
        columns
            .o_interruptions_per_day
            .push(row.interruptions_per_day);
        columns.o_failures_1h.push(row.failures_1h);
        columns.o_reserved_left.push(row.reserved_left);
        columns.o_running.push(row.running);
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
