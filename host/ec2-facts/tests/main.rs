//! The tables against the lists they were made from, and the rules of allocatable against the documented figures.

mod allocatable;
mod sources;
