//! Names of those that decide: what notes and faults call them by.

/// Somebody with a name for people: a module, or code of the host.
pub trait Named {
    /// Its name; of a module the one in its manifest.
    fn name(&self) -> &str;
}
