//! Suites as text, and the suites of the policies that are shipped.

mod shipped;
mod suites;
