//! A market to ask about: as many pools, types and zones as wanted, with prices that all differ; and claims on it. What fuel baselines are
//! measured on, so that tests, benches and baselines speak of the same questions.

#[allow(unused_imports, reason = "not every test asks for an order")]
pub(crate) use plimsoll_author::standard::{claims, prices as question};
