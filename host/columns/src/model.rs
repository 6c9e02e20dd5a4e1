//! The words of a list: tables of a hook, lists of one length within a table, columns and signals of such a list.

/// A hook: the tables that its policies are shown.
#[derive(Debug, Clone, Copy)]
pub struct Hook {
    /// Module of the core, for instance `score`.
    pub module: &'static str,
    /// Interface of `wit/0.1`, for instance `consolidator`.
    pub interface: &'static str,
    /// Module of the SDK, for instance `consolidation`.
    pub sdk: &'static str,
    /// Its tables.
    pub tables: &'static [Table],
}

/// A record of columns.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its type in the core.
    pub name: &'static str,
    /// Its type in bindings of the interface; the record there has the same name in kebab case.
    pub wire: &'static str,
    /// Names a column of it in messages, for instance `nodes.`; empty where columns have a prefix of their own.
    pub prefix: &'static str,
    /// A sentence about it.
    pub doc: &'static str,
    /// Its lists: columns of one length each.
    pub lists: &'static [List],
}

/// Columns of one length: a row each for the same thing. The first column counts the rows.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// A row in words, for instance `node`; functions are named after it.
    pub of: &'static str,
    /// The columns that the interface has as fields, in its order.
    pub columns: &'static [Column],
    /// The field that signals travel in; empty where the list has none.
    pub ext: &'static str,
    /// Signals that the host sends, in the order in which they stand in `ext`.
    pub signals: &'static [Signal],
    /// How a row enters a question.
    pub row: Option<Row>,
    /// How policies in Rust look at a row.
    pub view: Option<View>,
    /// `true` if laws ask about the same rows in another order.
    pub shuffled: bool,
    /// `true` if cases of suites give such rows; what is absent there is what tests of the SDK have by default.
    pub in_suites: bool,
}

/// The struct of the core that a row is given as.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name, for instance `NodeRow`.
    pub name: &'static str,
    /// A sentence about it.
    pub doc: &'static str,
    /// Traits that are derived besides `Debug`, `Clone` and `Copy`.
    pub derives: &'static str,
    /// Fields that become no column by themselves: name, type and meaning.
    pub besides: &'static [(&'static str, &'static str, &'static str)],
}

/// The view of the SDK whose methods read a row.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Its type, for instance `Node`.
    pub name: &'static str,
    /// Reads a column of the row; `$` stands for the column's name.
    pub read: &'static str,
    /// The texts of the call.
    pub texts: &'static str,
}

/// One value per row.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in `wit/0.1`.
    pub name: &'static str,
    /// The values.
    pub values: Values,
    /// The meaning, without a full stop.
    pub doc: &'static str,
    /// The unit, where it is not part of the meaning; a duration's is left out where it is read as one.
    pub unit: &'static str,
    /// Name of the field of the row, where it is another one.
    pub row: &'static str,
    /// Name in suites, where it is another one.
    pub key: &'static str,
    /// Source of its values in suites and in tests of the SDK.
    pub given: Given,
    /// How policies in Rust read it.
    pub reads: &'static [Read],
}

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Texts, which are given as texts.
    Text,
    /// Texts, which are given as symbols.
    Symbol,
    /// Codes: type that is given, and what makes a code of it; `$` stands for the value.
    Code(&'static str, &'static str),
    /// Counts.
    U32,
    /// Shares and rates.
    F32,
    /// Money.
    F64,
    /// Where the part of each row ends in the list of that name.
    Ends(&'static str),
}

/// Value of a column where a suite's case or a test of a policy gives none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// It is not read from a case: the code that adds the row says it.
    ByCaller,
    /// It must be given; what is expected, in words.
    Needed(&'static str),
    /// This, an expression over the columns before it.
    Or(&'static str),
    /// A code, read by an expression over `fields`, which is this by default.
    Code(&'static str, &'static str),
}

/// A method of a view.
#[derive(Debug, Clone, Copy)]
pub struct Read {
    /// Its name.
    pub name: &'static str,
    /// Type of the value that it returns.
    pub kind: Kind,
    /// Its meaning, where that differs from the column's.
    pub doc: &'static str,
}

/// Type of the value that a method of a view returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The number or the text.
    Value,
    /// The number of a text.
    Key,
    /// A number of seconds as a duration.
    Duration,
    /// A code as what it stands for: the type, and what makes it of a code; `$` stands for the code.
    Code(&'static str, &'static str),
}

/// A column that travels by its name. This is how the interface grows: its records never change.
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    /// Its name, as manifests ask for it.
    pub name: &'static str,
    /// The values: [`Values::U32`] or [`Values::F64`].
    pub values: Values,
    /// The meaning, without a full stop.
    pub doc: &'static str,
    /// The unit, as of a [`Column`].
    pub unit: &'static str,
    /// When a row holds 0 for want of anything to say, for instance `where none runs`.
    pub zero: &'static str,
    /// How policies in Rust read it.
    pub read: Read,
}

impl Column {
    /// A column that nothing but its caller gives and that no view reads by itself.
    pub const fn new(name: &'static str, values: Values, doc: &'static str) -> Self {
        Self {
            name,
            values,
            doc,
            unit: "",
            row: "",
            key: "",
            given: Given::ByCaller,
            reads: &[],
        }
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Another name of the field of the row.
    #[must_use]
    pub const fn row(self, row: &'static str) -> Self {
        Self { row, ..self }
    }

    /// Another name in suites.
    #[must_use]
    pub const fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Suites must give it.
    #[must_use]
    pub const fn needed(self, expected: &'static str) -> Self {
        let given = Given::Needed(expected);
        Self { given, ..self }
    }

    /// Value where suites say nothing.
    #[must_use]
    pub const fn or(self, absent: &'static str) -> Self {
        let given = Given::Or(absent);
        Self { given, ..self }
    }

    /// How suites read a code, and the code where they say nothing.
    #[must_use]
    pub const fn code(self, read: &'static str, absent: &'static str) -> Self {
        let given = Given::Code(read, absent);
        Self { given, ..self }
    }

    /// The methods that read it.
    #[must_use]
    pub const fn reads(self, reads: &'static [Read]) -> Self {
        Self { reads, ..self }
    }

    /// Its name as a field of Rust.
    pub fn field(&self) -> String {
        snake(self.name)
    }

    /// The field of the row.
    pub fn row_field(&self) -> String {
        if self.row.is_empty() {
            self.field()
        } else {
            self.row.to_owned()
        }
    }

    /// Its name in suites.
    pub fn suite_key(&self) -> &'static str {
        if self.key.is_empty() {
            self.name
        } else {
            self.key
        }
    }

    /// The type of the field of the row; `None` where rows have none.
    pub fn row_type(&self) -> Option<&'static str> {
        match self.values {
            Values::Text => Some("&'a str"),
            Values::Symbol => Some("Sym"),
            Values::Code(given, _) => Some(given),
            Values::U32 => Some("u32"),
            Values::F32 => Some("f32"),
            Values::F64 => Some("f64"),
            Values::Ends(_) => None,
        }
    }

    /// The type of one value in the column.
    pub fn value_type(&self) -> &'static str {
        match self.values {
            Values::Text | Values::Symbol => "Sym",
            Values::Code(..) => "u8",
            Values::U32 | Values::Ends(_) => "u32",
            Values::F32 => "f32",
            Values::F64 => "f64",
        }
    }
}

impl Read {
    /// A method that gives the value, with the column's meaning.
    pub const fn value(name: &'static str) -> Self {
        Self::of(name, Kind::Value)
    }

    /// A method of that kind, with the column's meaning.
    pub const fn of(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            doc: "",
        }
    }

    /// A meaning of its own.
    #[must_use]
    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

impl Signal {
    /// A sentence about it, with its unit and the rows that have nothing to say.
    pub fn meaning(&self) -> String {
        let sentence = sentence(self.doc, self.unit);
        let sentence = sentence.trim_end_matches('.');
        format!("{sentence}; 0 {}.", self.zero)
    }
}

impl List {
    /// The column that counts the rows.
    pub fn counted_by(&self) -> String {
        self.columns[0].field()
    }
}

impl Table {
    /// Columns of all its lists.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.lists.iter().flat_map(|list| list.columns)
    }

    /// Its lists whose rows may carry optional signals.
    pub fn with_signals(&self) -> impl Iterator<Item = &List> {
        self.lists.iter().filter(|list| !list.ext.is_empty())
    }

    /// A list by the word for its rows.
    pub fn list(&self, of: &str) -> &List {
        let mut lists = self.lists.iter();
        let found = lists.find(|list| list.of == of);
        found.expect("columns that end parts name a list of their table")
    }
}

/// `age-s` as a field of Rust.
pub fn snake(name: &str) -> String {
    name.replace('-', "_")
}

/// A sentence: the meaning, with the unit where there is one.
pub fn sentence(doc: &str, unit: &str) -> String {
    if unit.is_empty() {
        format!("{doc}.")
    } else {
        format!("{doc}, {unit}.")
    }
}
