//! A module's manifest, as JSON in a custom section, readable without running it.
//!
//! Rendered at compile time: the section is a static, and a policy needs no JSON writer at run time.

use crate::reason::ReasonText;

/// Contents of the section `plimsoll.policy.manifest`.
#[derive(Debug, Clone, Copy)]
pub struct Manifest {
    /// Name of the policy's crate.
    pub name: &'static str,
    /// Version of the policy, as its crate states it.
    pub version: &'static str,
    /// `rank`, `consolidate` or `budget`.
    pub hook: &'static str,
    /// `dollars`, or `order` for a policy whose prices mean nothing.
    pub unit: &'static str,
    /// `true` if it has an order of its own for launch lists.
    pub orders: bool,
    /// `true` if it forbids offerings.
    pub vetoes: bool,
    /// Fuel that it asks for by row of a question; the host's default where it asks for none.
    pub fuel_per_row: Option<u32>,
    /// Signals it cannot do without.
    pub required: &'static [&'static str],
    /// Signals it uses where there are any.
    pub optional: &'static [&'static str],
    /// JSON Schema of its settings.
    pub settings: &'static str,
    /// Texts of its reasons, in the order of their codes, which count from 1.
    pub reasons: &'static [ReasonText],
}

impl Manifest {
    /// Length of the JSON, in bytes.
    pub const fn len(&self) -> usize {
        self.write(&mut [])
    }

    /// `true` if the JSON is empty, which it never is.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The JSON, where `N` is [`len`](Self::len).
    pub const fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.write(&mut bytes);
        bytes
    }

    const fn write(&self, bytes: &mut [u8]) -> usize {
        let mut out = Out { bytes, len: 0 };
        out.raw("{\"name\":");
        out.quoted(self.name);
        out.raw(",\"version\":");
        out.quoted(self.version);
        out.raw(",\"hook\":");
        out.quoted(self.hook);
        out.raw(",\"unit\":");
        out.quoted(self.unit);
        out.raw(",\"orders\":");
        out.raw(if self.orders { "true" } else { "false" });
        out.raw(",\"vetoes\":");
        out.raw(if self.vetoes { "true" } else { "false" });
        if let Some(fuel) = self.fuel_per_row {
            out.raw(",\"limits\":{\"fuel_per_row\":");
            out.number(fuel);
            out.raw("}");
        }
        out.raw(",\"columns\":{\"required\":");
        out.texts(self.required);
        out.raw(",\"optional\":");
        out.texts(self.optional);
        out.raw("},\"settings\":");
        out.raw(self.settings);
        out.raw(",\"reasons\":[");
        let mut row = 0;
        while row < self.reasons.len() {
            out.raw(if row == 0 {
                "{\"name\":"
            } else {
                ",{\"name\":"
            });
            out.quoted(self.reasons[row].name);
            out.raw(",\"text\":");
            out.quoted(self.reasons[row].text);
            out.raw("}");
            row += 1;
        }
        out.raw("],\"sdk\":");
        out.quoted(env!("CARGO_PKG_VERSION"));
        out.raw("}");
        out.len
    }
}

const DIGITS: &[u8; 10] = b"0123456789";

/// Counts all bytes, and keeps those it has room for.
struct Out<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl Out<'_> {
    const fn byte(&mut self, byte: u8) {
        if self.len < self.bytes.len() {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
    }

    const fn raw(&mut self, text: &str) {
        let mut index = 0;
        while index < text.len() {
            self.byte(text.as_bytes()[index]);
            index += 1;
        }
    }

    const fn number(&mut self, number: u32) {
        let mut unit = 1_000_000_000;
        while unit > 1 && number < unit {
            unit /= 10;
        }
        while unit > 0 {
            self.byte(DIGITS[(number / unit % 10) as usize]);
            unit /= 10;
        }
    }

    const fn quoted(&mut self, text: &str) {
        self.byte(b'"');
        let mut index = 0;
        while index < text.len() {
            match text.as_bytes()[index] {
                byte @ (b'"' | b'\\') => {
                    self.byte(b'\\');
                    self.byte(byte);
                }
                // Control characters have no place in a name or a reason.
                0..0x20 => self.byte(b' '),
                byte => self.byte(byte),
            }
            index += 1;
        }
        self.byte(b'"');
    }

    const fn texts(&mut self, texts: &[&str]) {
        self.byte(b'[');
        let mut index = 0;
        while index < texts.len() {
            if index > 0 {
                self.byte(b',');
            }
            self.quoted(texts[index]);
            index += 1;
        }
        self.byte(b']');
    }
}
