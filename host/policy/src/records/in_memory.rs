//! Records in memory: written by a [`Recorder`](super::Recorder), read by the holder of the other end.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Records that are kept in memory. Clones share what is written.
#[derive(Debug, Clone, Default)]
pub struct InMemory(Arc<Mutex<Vec<u8>>>);

impl InMemory {
    /// Bytes written so far.
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.clone()
    }
}

impl Write for InMemory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
