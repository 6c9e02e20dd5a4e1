//! The columns that policies are shown, listed once per hook; what reads them everywhere is generated from the lists.
//!
//! A list says of each column its name, values, meaning, unit, what a suite may leave out, and how a policy reads it. Out of that come the
//! structs of the core, what is lent to modules, the lengths that records are held to, fields of suites, the dresses of laws, and the
//! views of the SDK: files of their own, committed, so that a change of a list is read like any other.
//! `make columns` writes them, and a test fails where one is not what the lists say.
//! Records of the interface are frozen, so a column is added as a [`Signal`](model::Signal): the list, its producer, and its
//! documentation.

pub mod emit;
pub mod lists;
pub mod model;
