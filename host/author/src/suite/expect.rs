//! Expectations of cases, read into things wanted of an answer. Names become rows here, so that one that is not there is told as such.

use plimsoll_policy::{Manifest, Unit};

use super::answer::{Names, Row, Wanted, What, reason};
use super::field::{Field, Fields, Problem};
use super::fleet::Fleet;
use super::market::Market;
use super::pools::Declared;

/// The expectations read so far.
struct Expected<'m> {
    manifest: &'m Manifest,
    wanted: Vec<Wanted>,
}

impl<'m> Expected<'m> {
    /// Expectations of rows of a column, as the field of that name gives them.
    fn of(
        fields: &Fields<'_>,
        manifest: &'m Manifest,
        name: &str,
        (rows, column): (&Names, &'static [&'static str; 1]),
    ) -> Result<Self, Problem> {
        let wanted = Vec::new();
        let mut expected = Self { manifest, wanted };
        for (name, field) in named(fields, name)? {
            let rows = rows.rows(&field, name)?;
            expected.valued(&field, column, "reason", &rows)?;
        }
        Ok(expected)
    }
}

impl Expected<'_> {
    fn want(&mut self, field: &Field<'_>, what: What) {
        let field = field.path().to_owned();
        self.wanted.push(Wanted { field, what });
    }

    /// Rows have a number in each of the columns.
    fn number(
        &mut self,
        field: &Field<'_>,
        columns: &'static [&'static str],
        rows: &[Row],
        number: f64,
    ) {
        self.want(field, What::Number(columns, rows.to_vec(), number));
    }

    /// Rows of columns have the reason that the field names, where there is a field.
    fn reason(
        &mut self,
        field: Option<&Field<'_>>,
        columns: &[&'static str],
        rows: &[Row],
    ) -> Result<(), Problem> {
        let Some(field) = field else { return Ok(()) };
        let code = reason(self.manifest, field)?;
        for column in columns {
            self.want(field, What::Reason(column, rows.to_vec(), code));
        }
        Ok(())
    }

    /// A number of a column, or an object with the number under the column's name and a reason.
    fn valued(
        &mut self,
        field: &Field<'_>,
        column: &'static [&'static str; 1],
        reason: &'static str,
        rows: &[Row],
    ) -> Result<(), Problem> {
        let [name] = *column;
        if field.is_number() {
            self.number(field, column, rows, field.number()?);
            return Ok(());
        }
        let fields = field.object(&[name, "reason"])?;
        if let Some(field) = fields.get(name) {
            self.number(&field, column, rows, field.number()?);
        }
        self.reason(fields.get("reason").as_ref(), &[reason], rows)
    }
}

/// Expectations of a ranking policy.
pub(super) fn rank(
    fields: &Fields<'_>,
    market: &Market,
    manifest: &Manifest,
) -> Result<Vec<Wanted>, Problem> {
    only_what_is_asked(fields, manifest)?;
    let wanted = Vec::new();
    let mut expected = Expected { manifest, wanted };
    for (name, field) in named(fields, "prices")? {
        let rows = market.candidates.rows(&field, name)?;
        price(&mut expected, &field, &rows)?;
    }
    if let Some(field) = fields.get("cheaper") {
        let mut order = Vec::new();
        for item in field.list()? {
            order.push(market.candidates.rows(&item, item.text()?)?);
        }
        if order.len() < 2 {
            return Err(field.expected("at least two rows, the cheaper first"));
        }
        for pair in order.windows(2) {
            expected.want(
                &field,
                What::Below("price", pair[0].clone(), pair[1].clone()),
            );
        }
    }
    for (name, field) in named(fields, "vetoes")? {
        let rows = market.candidates.rows(&field, name)?;
        expected.number(&field, &["first", "then"], &rows, f64::INFINITY);
        expected.reason(Some(&field), &["then-reason"], &rows)?;
    }
    for (name, field) in named(fields, "scores")? {
        let rows = market.slots.rows(&field, name)?;
        expected.valued(&field, &["score"], "score-reason", &rows)?;
    }
    for (name, field) in named(fields, "lists")? {
        if !market.claims.iter().any(|claim| claim == name) {
            let known = market.claims.iter().map(String::as_str);
            return Err(field.problem(super::field::stranger("claim", name, known)));
        }
        let mut items = Vec::new();
        for item in field.list()? {
            let text = item.text()?;
            market.slots.rows(&item, &format!("{name}/{text}"))?;
            items.push(text.to_owned());
        }
        expected.want(&field, What::List(name.to_owned(), items));
    }
    Ok(expected.wanted)
}

/// Refuses expectations of answers that a host does not ask this policy for.
fn only_what_is_asked(fields: &Fields<'_>, manifest: &Manifest) -> Result<(), Problem> {
    let prices = ["prices", "cheaper", "vetoes"].map(|name| (name, manifest.unit == Unit::Dollars));
    let orders = ["scores", "lists"].map(|name| (name, manifest.orders));
    let mut unasked = prices.iter().chain(&orders).filter(|(_, asked)| !asked);
    match unasked.find_map(|(name, _)| fields.get(name)) {
        None => Ok(()),
        Some(field) => Err(field.problem(
            "is nothing that this policy is asked for: its manifest says whether it prices, orders, or both"
                .to_owned(),
        )),
    }
}

/// One price: a number for every node, or what the first nodes cost and what the rest does.
fn price(expected: &mut Expected<'_>, field: &Field<'_>, rows: &[Row]) -> Result<(), Problem> {
    if field.is_number() {
        expected.number(field, &["price", "then"], rows, field.amount()?);
        return Ok(());
    }
    let fields = field.object(&[
        "price",
        "reason",
        "first",
        "first-count",
        "first-reason",
        "then",
        "then-reason",
    ])?;
    let columns: [(&str, &'static [&'static str]); 4] = [
        ("price", &["price", "then"]),
        ("first", &["first"]),
        ("first-count", &["first-count"]),
        ("then", &["then"]),
    ];
    for (name, columns) in columns {
        if let Some(field) = fields.get(name) {
            let number = match field.as_text() {
                Some("veto") => f64::INFINITY,
                _ => field.amount()?,
            };
            expected.number(&field, columns, rows, number);
        }
    }
    expected.reason(
        fields.get("reason").as_ref(),
        &["first-reason", "then-reason"],
        rows,
    )?;
    expected.reason(fields.get("first-reason").as_ref(), &["first-reason"], rows)?;
    expected.reason(fields.get("then-reason").as_ref(), &["then-reason"], rows)
}

/// Expectations of a consolidation policy.
pub(super) fn consolidate(
    fields: &Fields<'_>,
    fleet: &Fleet,
    manifest: &Manifest,
) -> Result<Vec<Wanted>, Problem> {
    let mut expected = Expected::of(fields, manifest, "values", (&fleet.moves, &["value"]))?;
    for (name, field) in named(fields, "refuses")? {
        let rows = fleet.moves.rows(&field, name)?;
        expected.want(&field, What::AtMost("value", rows.clone(), 0.0));
        expected.reason(Some(&field), &["reason"], &rows)?;
    }
    if let Some(field) = fields.get("does") {
        let mut moves = Vec::new();
        for item in field.list()? {
            let name = item.text()?;
            fleet.moves.rows(&item, name)?;
            moves.push(name.to_owned());
        }
        expected.want(&field, What::List("does".to_owned(), moves));
    }
    Ok(expected.wanted)
}

/// Expectations of a budget policy.
pub(super) fn budget(
    fields: &Fields<'_>,
    declared: &Declared,
    manifest: &Manifest,
) -> Result<Vec<Wanted>, Problem> {
    let mut expected = Expected::of(fields, manifest, "allowed", (&declared.rows, &["nodes"]))?;
    if let Some(field) = fields.get("recheck-after-s") {
        let whole = Names(vec![(String::new(), "answer".to_owned())]);
        let rows = whole.rows(&field, "answer")?;
        expected.number(
            &field,
            &["recheck-after-s"],
            &rows,
            f64::from(field.count()?),
        );
    }
    Ok(expected.wanted)
}

fn named<'v>(fields: &Fields<'v>, name: &str) -> Result<Vec<(&'v str, Field<'v>)>, Problem> {
    fields
        .get(name)
        .map_or(Ok(Vec::new()), |field| field.named())
}
