//! Karpenter's AWS controller and ours at the same scripts on the same cloud, each in a lab and a network of its own.
//!
//! ```text
//! script ─► scene: lab, cloud, one controller ─► observed: rows and figures ─┐
//! script ─► scene: lab, cloud, the other      ─► observed: rows and figures ─┴► differences, less those explained ─► report
//! ```
//!
//! All behind the scenes is pure.

mod asked;
mod compare;
mod explained;
mod fleets;
mod large;
mod load;
mod normal;
mod observed;
mod program;
mod report;
mod scene;
mod script;
mod scripts;
mod settled;

pub use asked::{asked, named};
pub use compare::{Difference, differences};
pub use explained::{Explanation, explanations};
pub use large::by_name;
pub use load::Load;
pub use observed::{Figures, Observed};
pub use program::{Contender, Programs};
pub use report::{Verdict, missed_in_all, report, summary, verdict};
pub use scene::run;
pub use script::{Scale, Script};
pub use scripts::{drawn, scripts};
