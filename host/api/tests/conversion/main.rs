//! Objects as they are written, and all that the core knows of them.

mod annotations;
mod attachments;
mod features;
mod host_ports;
mod resizes;
mod storage;
mod template_hash;
