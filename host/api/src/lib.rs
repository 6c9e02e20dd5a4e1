//! Kubernetes and Karpenter objects as they are written, and their conversion to the core's model.
//!
//! The one way from the outside world's objects to decisions: a file, a list printed by kubectl and a watch all pass
//! through [`convert`]. What one object gets wrong is an error about that object, with the path of its field; what
//! makes a single pod impossible to plan becomes [`plimsoll_model::PodSpec::problem`], since one odd pod must not
//! hide a whole cluster. Nothing here talks to a server, and nothing reads a clock.

mod admission;
pub mod convert;
pub mod crd;
pub mod duration;
pub mod error;
mod failed_request;
pub mod intern;
pub mod keys;
pub mod kinds;
mod object;
mod read;
mod schema;
mod tolerant;
mod validate;
mod value;
pub mod write;

pub use admission::Admission;
pub use error::{FieldError, FieldProblem};
pub use failed_request::FailedRequest;
pub use intern::{Interner, ResizeRule};
pub use object::{Kind, Object, ObjectKey};
pub use read::{ReadError, read};
pub use tolerant::{UNREADABLE, is_partly_read, read_class, read_tolerant};
pub use validate::{
    Finding, Severity, claim_refusal, kubelet_expressions, kubelet_faults, kubelet_unsupported,
    nearest, validate,
};
pub use value::from_value;
