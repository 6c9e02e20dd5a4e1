//! Interned names of one question: every text a policy may see, once, in one blob.
//!
//! Canonical order is order of first use, and symbol 0 is always the empty text. Rows enter a question in the
//! host's canonical order, so equal questions have equal tables, byte for byte.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Index of a text in the [`Symbols`] of the same question. It means nothing outside of that question.
pub type Sym = u32;

/// The symbol of the empty text: "has none" in columns such as the accelerator kind.
pub const NO_SYMBOL: Sym = 0;

/// The texts of one question: one UTF-8 blob and the end offset of each text in it. Written down as the list of its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<String>", from = "Vec<String>")]
pub struct Symbols {
    /// All texts, joined without separator.
    pub blob: Vec<u8>,
    /// End offset of each text, ascending; a text starts where the one before it ends.
    pub ends: Vec<u32>,
}

impl Symbols {
    /// The text of a symbol, or `None` where the table has no such symbol.
    pub fn get(&self, symbol: Sym) -> Option<&str> {
        let index = usize::try_from(symbol).ok()?;
        let end = usize::try_from(*self.ends.get(index)?).ok()?;
        let start = match index {
            0 => 0,
            _ => usize::try_from(self.ends[index - 1]).ok()?,
        };
        std::str::from_utf8(self.blob.get(start..end)?).ok()
    }

    /// The text of a row of a column; empty for a row that is not there.
    pub fn of_row(&self, column: &[Sym], row: u32) -> &str {
        let symbol = column.get(row as usize);
        symbol
            .and_then(|&symbol| self.get(symbol))
            .unwrap_or_default()
    }

    /// How many texts the table has, the empty one included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// `true` if the table has no text at all; one from a builder always has the empty text.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl From<Symbols> for Vec<String> {
    fn from(symbols: Symbols) -> Self {
        let all = 0..offset(symbols.len());
        let text = |symbol| symbols.get(symbol).unwrap_or_default().to_owned();
        all.map(text).collect()
    }
}

impl From<Vec<String>> for Symbols {
    fn from(texts: Vec<String>) -> Self {
        let mut symbols = Self {
            blob: Vec::new(),
            ends: Vec::with_capacity(texts.len()),
        };
        for text in texts {
            symbols.blob.extend_from_slice(text.as_bytes());
            symbols.ends.push(offset(symbols.blob.len()));
        }
        symbols
    }
}

/// Gives each text its symbol, in order of first use.
#[derive(Debug, Clone)]
pub struct SymbolsBuilder {
    known: BTreeMap<String, Sym>,
    symbols: Symbols,
}

impl Default for SymbolsBuilder {
    fn default() -> Self {
        Self {
            known: BTreeMap::from([(String::new(), NO_SYMBOL)]),
            symbols: Symbols {
                blob: Vec::new(),
                ends: vec![0],
            },
        }
    }
}

impl SymbolsBuilder {
    /// The symbol of `text`, the same one every time it is asked for.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(&symbol) = self.known.get(text) {
            return symbol;
        }
        let symbol = offset(self.symbols.ends.len());
        self.symbols.blob.extend_from_slice(text.as_bytes());
        self.symbols.ends.push(offset(self.symbols.blob.len()));
        self.known.insert(text.to_owned(), symbol);
        symbol
    }

    /// The text of a symbol given out before; the empty text for any other.
    pub fn text(&self, symbol: Sym) -> &str {
        self.symbols.get(symbol).unwrap_or_default()
    }

    /// The finished table.
    pub fn finish(self) -> Symbols {
        self.symbols
    }
}

fn offset(length: usize) -> u32 {
    u32::try_from(length).expect("the names of one question fit in 4 GiB")
}
