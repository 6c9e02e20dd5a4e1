//! Questions that policies are asked, and their answers, as tables of columns.

pub mod allow;
pub mod hook;
pub mod rank;
pub mod score;
