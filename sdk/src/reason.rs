//! Reasons: small codes in answers, texts in the manifest. People see the text, records keep the code.

/// Code of a reason. Codes count from 1 in the order of [`reasons!`](crate::reasons); 0 means that none was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Reason(pub u16);

impl Reason {
    /// No reason given.
    pub const NONE: Self = Self(0);
}

/// One row of a policy's table of reasons: the constant's name and the text people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReasonText {
    /// Name of the constant.
    pub name: &'static str,
    /// The sentence part that people see.
    pub text: &'static str,
}

/// Declares the reasons of a policy, each a constant, and the table of their texts.
///
/// ```
/// use plimsoll_sdk::ranking::*;
/// reasons! { CHEAP = "cheapest", AVOIDED = "on the avoid list" }
/// assert_eq!((CHEAP.0, AVOIDED.0), (1, 2));
/// assert_eq!(REASONS[1].text, "on the avoid list");
/// ```
#[macro_export]
macro_rules! reasons {
    ($($name:ident = $text:literal),+ $(,)?) => {
        $crate::reasons!(@constants 1; $($name)+);
        /// Texts of the reasons, in the order of their codes.
        pub(crate) const REASONS: &[$crate::reason::ReasonText] =
            &[$($crate::reason::ReasonText { name: stringify!($name), text: $text }),+];
    };
    (@constants $code:expr; $name:ident $($rest:ident)*) => {
        pub(crate) const $name: $crate::reason::Reason = $crate::reason::Reason($code);
        $crate::reasons!(@constants $code + 1; $($rest)*);
    };
    (@constants $code:expr;) => {};
}
