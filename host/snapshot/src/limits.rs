//! Limits on the memory that a file may ask of its reader.

/// Bounds on what is read. Whatever the file says, memory stays in proportion to these and to the objects kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text after decompression.
    pub text: u64,
    /// Bytes of text per compressed byte, once the text is longer than [`Limits::ratio_from`].
    pub ratio: u64,
    /// Bytes of text below which any ratio is fine.
    pub ratio_from: u64,
    /// Bytes of one object; the API server stores none above 1.5 MiB.
    pub object: usize,
    /// Bytes of one field of our section, such as an inlined catalogue.
    pub section: usize,
    /// Pods that workloads without pods in the file are planned as.
    pub replicas: usize,
}

impl Default for Limits {
    /// 16 GiB of text, 1,000 times its compressed size, 16 MiB an object, 128 MiB a field of the section, 100,000 replicas.
    fn default() -> Self {
        Self {
            text: 16 << 30,
            ratio: 1000,
            ratio_from: 16 << 20,
            object: 16 << 20,
            section: 128 << 20,
            replicas: 100_000,
        }
    }
}
