//! Lines for the operator: the only thing a policy can do besides answering.
//!
//! Outside of WebAssembly they go to standard error, so that `cargo test` shows them.

pub use crate::bindings::configure::plimsoll::policy::diag::Level;

/// Leaves a line. The host keeps 64 lines and 8 KiB of a call; each line costs fuel.
pub fn log(level: Level, message: &str) {
    #[cfg(target_arch = "wasm32")]
    crate::bindings::configure::plimsoll::policy::diag::log(level, message);
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("{level:?}: {message}");
}

/// Sends the message of a panic to the operator before the trap ends the call; otherwise only a code address is left.
pub(crate) fn report_panics() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|info| log(Level::Error, &info.to_string())));
}
