//! Facts about EC2 that need no call to EC2: types, list prices, and the rules that turn hardware into allocatable.
//!
//! Four readable tables in `tables/` are compiled in and parsed once per process. Nothing here touches network,
//! files, clock or environment, and nothing is guessed: what the sources do not say is an `Option` that is `None`,
//! and [`holes`] lists it. What is assumed rather than known (zones, spot prices where none was quoted) says so in its name or type.
//! A caller that has asked EC2 hands in what it said as a [`Listing`], which counts in place of the tables.

pub mod allocatable;
pub mod attach;
pub mod catalogue;
pub mod class;
mod demands;
mod enclaves;
pub mod holes;
pub mod instance_type;
pub mod labels;
pub mod price;
pub mod provider;
pub mod share;
pub mod spot;
mod table;
mod words;
pub mod zone;

pub use allocatable::{AllocatableError, AllocatableSettings, NodeRoom};
pub use catalogue::{CatalogueError, CatalogueSettings, Listing, catalogue};
pub use class::ClassSettings;
pub use demands::Demands;
pub use instance_type::{InstanceType, instance_type, instance_types};
pub use price::{Currency, ListPrice, PriceError, Region, region, regions};
pub use provider::provider;
pub use share::Share;
pub use spot::{SpotModel, SpotPrice};
pub use words::word;
