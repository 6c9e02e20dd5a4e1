//! Reads the tables compiled into this crate: one comment line, one line of column names, then tab-separated rows.
//!
//! A cell `-` says that the source does not state the value. The readers check what they read, so a table that was
//! edited by hand fails with line and column; the crate's own tests read every row of every table.

use std::str::FromStr;

use thiserror::Error;

/// A cell of a compiled-in table that is not what its column promises.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("table {table}, line {line}: {column} is {value:?}, expected {expected}")]
pub(crate) struct TableError {
    table: &'static str,
    line: usize,
    column: &'static str,
    value: String,
    expected: &'static str,
}

/// A table with its name (for errors) and its text.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Table {
    /// The column names, in order; none if the table has no such line.
    pub(crate) fn columns(self) -> impl Iterator<Item = &'static str> {
        self.text.lines().nth(1).unwrap_or_default().split('\t')
    }

    /// The rows below the line of column names.
    pub(crate) fn rows(self) -> impl Iterator<Item = Row> {
        let numbered = self.text.lines().zip(1..).skip(2);
        numbered.map(move |(text, line)| Row {
            table: self.name,
            line,
            cells: text.split('\t'),
        })
    }
}

/// One row, whose cells are taken from left to right.
pub(crate) struct Row {
    table: &'static str,
    line: usize,
    cells: std::str::Split<'static, char>,
}

impl Row {
    /// The next cell as it stands.
    pub(crate) fn text(&mut self, column: &'static str) -> Result<&'static str, TableError> {
        match self.cells.next() {
            Some(cell) if !cell.is_empty() => Ok(cell),
            _ => Err(self.wrong(column, "", "a cell")),
        }
    }

    /// The next cell, or `None` where the source does not state it.
    pub(crate) fn stated(
        &mut self,
        column: &'static str,
    ) -> Result<Option<&'static str>, TableError> {
        Ok(Some(self.text(column)?).filter(|cell| *cell != "-"))
    }

    /// The next cell read as `T`.
    pub(crate) fn value<T: FromStr>(&mut self, column: &'static str) -> Result<T, TableError> {
        let cell = self.text(column)?;
        cell.parse()
            .map_err(|_| self.wrong(column, cell, std::any::type_name::<T>()))
    }

    /// The next cell read as `T`, or `None` where the source does not state it.
    pub(crate) fn stated_value<T: FromStr>(
        &mut self,
        column: &'static str,
    ) -> Result<Option<T>, TableError> {
        let Some(cell) = self.stated(column)? else {
            return Ok(None);
        };
        cell.parse()
            .map(Some)
            .map_err(|_| self.wrong(column, cell, std::any::type_name::<T>()))
    }

    /// Everything was read: a further cell is an error.
    pub(crate) fn end(mut self) -> Result<(), TableError> {
        match self.cells.next() {
            None => Ok(()),
            Some(cell) => Err(self.wrong("after the last column", cell, "the end of the row")),
        }
    }

    /// The error for columns that are stated together or not at all, by the first of them.
    pub(crate) fn partial(
        &self,
        column: &'static str,
        stated: Option<&str>,
        expected: &'static str,
    ) -> TableError {
        self.wrong(column, stated.unwrap_or("-"), expected)
    }

    /// The error for a cell of this row.
    pub(crate) fn wrong(
        &self,
        column: &'static str,
        value: &str,
        expected: &'static str,
    ) -> TableError {
        TableError {
            table: self.table,
            line: self.line,
            column,
            value: value.to_owned(),
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table {
        name: "things",
        text: "# source\nname\tcount\nrope\t3\nanchor\t-\nbuoy\tmany\textra\n",
    };

    #[test]
    fn cells_are_read_in_order_and_a_dash_is_nothing() {
        let mut rows = TABLE.rows();
        let mut rope = rows.next().unwrap();
        assert_eq!(rope.text("name"), Ok("rope"));
        assert_eq!(rope.stated_value::<u32>("count"), Ok(Some(3)));
        assert_eq!(rope.end(), Ok(()));
        let mut anchor = rows.next().unwrap();
        assert_eq!(anchor.text("name"), Ok("anchor"));
        assert_eq!(anchor.stated_value::<u32>("count"), Ok(None));
    }

    #[test]
    fn a_wrong_cell_is_named_by_line_and_column() {
        let mut buoy = TABLE.rows().nth(2).unwrap();
        buoy.text("name").unwrap();
        let error = buoy.value::<u32>("count").unwrap_err();
        assert_eq!(
            error.to_string(),
            "table things, line 5: count is \"many\", expected u32"
        );
        assert!(buoy.end().is_err(), "a surplus cell is refused");
    }

    #[test]
    fn columns_are_the_second_line() {
        assert_eq!(TABLE.columns().collect::<Vec<_>>(), ["name", "count"]);
    }
}
