//! Interface versions: each file binds one and translates it to the core's questions and answers.

pub(crate) mod v0_1;
