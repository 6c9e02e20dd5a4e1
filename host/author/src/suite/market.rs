//! Input and expectations of a ranking policy's case: offerings, the pools that may buy them, planned claims that they can hold.
//!
//! Fields are the columns of the interface by name; what is absent is as in the SDK's `testing::Market`. Rows stand in the host's
//! order: types by name, offerings by type, zone and capacity.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_hooks::rank::{
    Architecture, Capacity, Claims, Context, OfferingRow, OrderQuestion, PoolRow, Pools,
    PriceQuestion, TablesBuilder,
};

use super::answer::Names;
use super::columns;
use super::field::{Field, Fields, Problem};
use super::signal::Signals;

const CAPACITIES: [(&str, Capacity); 3] = [
    ("on-demand", Capacity::OnDemand),
    ("spot", Capacity::Spot),
    ("reserved", Capacity::Reserved),
];
const ARCHITECTURES: [(&str, Architecture); 3] = [
    ("amd64", Architecture::Amd64),
    ("arm64", Architecture::Arm64),
    ("other", Architecture::Other),
];

/// A ranking policy's questions of a case.
#[derive(Debug, Clone)]
pub(super) struct Market {
    pub(super) price: PriceQuestion,
    /// Nothing where the case plans no claim.
    pub(super) order: Option<OrderQuestion>,
    /// Names of the rows of prices: pool and offering.
    pub(super) candidates: Names,
    /// Names of the rows of scores: claim and offering.
    pub(super) slots: Names,
    /// Names of the claims.
    pub(super) claims: Vec<String>,
}

/// Capacity by the name that people use.
pub(super) fn capacity(fields: &Fields<'_>) -> Result<Capacity, Problem> {
    fields.or("capacity", Capacity::OnDemand, |field| {
        field.choice(&CAPACITIES)
    })
}

/// Architecture by the name that labels use.
pub(super) fn architecture(fields: &Fields<'_>) -> Result<Architecture, Problem> {
    fields.or("arch", Architecture::Amd64, |field| {
        field.choice(&ARCHITECTURES)
    })
}

/// An offering as it is read, before it has its row.
struct Offering<'v> {
    name: &'v str,
    type_name: &'v str,
    zone: &'v str,
    row: OfferingRow<'v>,
    field: Field<'v>,
    signals: Option<Field<'v>>,
}

impl Market {
    /// Fields that an input has besides the context.
    pub(super) const FIELDS: [&'static str; 4] = ["offerings", "types", "pools", "claims"];

    pub(super) fn read(fields: &Fields<'_>, context: Context) -> Result<Self, Problem> {
        let field = fields.need("offerings", "offerings by name, each with its price")?;
        let mut offerings = Vec::new();
        for (name, field) in field.named()? {
            offerings.push(offering(name, field)?);
        }
        if offerings.is_empty() {
            return Err(field.problem("is empty; expected at least one offering".to_owned()));
        }
        offerings.sort_by_key(|row| (row.type_name, row.zone, row.row.capacity, row.name));
        let mut builder = TablesBuilder::default();
        let types = add_types(&mut builder, fields.get("types"), &offerings)?;
        let mut signals = Signals::default();
        for offering in &offerings {
            let row = OfferingRow {
                instance_type: types[offering.type_name],
                ..offering.row
            };
            let added = builder.offering(&row);
            added.map_err(|error| offering.field.problem(format!("cannot be: {error}")))?;
            signals.add(&offering.field, offering.signals.as_ref())?;
        }
        let names: Vec<&str> = offerings.iter().map(|offering| offering.name).collect();
        let (pools, candidates) = pools(&mut builder, fields.get("pools"), &names)?;
        let planned = planned(&mut builder, fields.get("claims"), &candidates, &names)?;
        let mut tables = builder.finish();
        tables.catalogue.o_ext = signals.columns(&mut tables.symbols);
        let tables = Arc::new(tables);
        let order = (!planned.claims.is_empty()).then(|| OrderQuestion {
            context,
            tables: Arc::clone(&tables),
            claims: planned.rows,
        });
        Ok(Self {
            price: PriceQuestion {
                context,
                tables,
                pools,
            },
            order,
            candidates,
            slots: planned.slots,
            claims: planned.claims,
        })
    }
}

fn offering<'v>(name: &'v str, field: Field<'v>) -> Result<Offering<'v>, Problem> {
    let fields = field.object(&[&["type"], &columns::RANK_OFFERING[..], &["signals"]].concat())?;
    let type_name = fields.or("type", name, Field::text)?;
    let row = columns::rank_offering(&fields, 0)?;
    let signals = fields.get("signals");
    Ok(Offering {
        name,
        type_name,
        zone: row.zone,
        row,
        field,
        signals,
    })
}

/// Adds every type that an offering is of, in the order of names, and gives their rows.
fn add_types<'v>(
    builder: &mut TablesBuilder,
    described: Option<Field<'v>>,
    offerings: &[Offering<'v>],
) -> Result<BTreeMap<&'v str, u32>, Problem> {
    let mut types: BTreeMap<&str, Option<Fields<'_>>> = offerings
        .iter()
        .map(|offering| (offering.type_name, None))
        .collect();
    for (name, field) in described.map_or(Ok(Vec::new()), |field| field.named())? {
        let Some(known) = types.get_mut(name) else {
            return Err(field.problem("is the type of no offering".to_owned()));
        };
        *known = Some(field.object(&[&columns::RANK_TYPE[..], &["labels"]].concat())?);
    }
    let mut rows = BTreeMap::new();
    for (name, fields) in types {
        rows.insert(name, add_type(builder, name, fields.as_ref())?);
    }
    Ok(rows)
}

/// A type of 2 CPUs, 8 GiB and 29 pods where the case says nothing else.
fn add_type(
    builder: &mut TablesBuilder,
    name: &str,
    fields: Option<&Fields<'_>>,
) -> Result<u32, Problem> {
    let none = Fields::none();
    let fields = fields.unwrap_or(&none);
    let mut labels = Vec::new();
    if let Some(field) = fields.get("labels") {
        for (key, value) in field.named()? {
            labels.push((key, value.text()?));
        }
    }
    let row = columns::rank_type(fields, name, &labels)?;
    Ok(builder.instance_type(&row))
}

/// Pools by name; one called `general` that may buy everything where the case names none.
fn pools(
    builder: &mut TablesBuilder,
    field: Option<Field<'_>>,
    offerings: &[&str],
) -> Result<(Pools, Names), Problem> {
    let (mut pools, mut names) = (Pools::default(), Names::default());
    let everything: Vec<u32> = (0_u32..).zip(offerings).map(|(row, _)| row).collect();
    let mut push = |pool: &str, row: PoolRow, may_buy: &[u32]| {
        let named = may_buy.iter().map(|&row| offerings[row as usize]);
        let named = named.map(|item| (pool.to_owned(), item.to_owned()));
        names.0.extend(named);
        pools.push(row, may_buy);
    };
    let Some(field) = field else {
        let row = columns::rank_pool(&Fields::none(), builder.symbol("general"))?;
        push("general", row, &everything);
        return Ok((pools, names));
    };
    for (pool, field) in field.named()? {
        let fields = field.object(&[&columns::RANK_POOL[..], &["may-buy"]].concat())?;
        let row = columns::rank_pool(&fields, builder.symbol(pool))?;
        let may_buy = fields.or("may-buy", everything.clone(), |field| {
            chosen(field, offerings)
        })?;
        push(pool, row, &may_buy);
    }
    Ok((pools, names))
}

/// Claims of a case, and the names of their rows.
struct Planned {
    rows: Claims,
    slots: Names,
    claims: Vec<String>,
}

fn planned(
    builder: &mut TablesBuilder,
    field: Option<Field<'_>>,
    candidates: &Names,
    offerings: &[&str],
) -> Result<Planned, Problem> {
    let mut planned = Planned {
        rows: Claims::default(),
        slots: Names::default(),
        claims: Vec::new(),
    };
    for (claim, field) in field.map_or(Ok(Vec::new()), |field| field.named())? {
        let known = [&["pool"], &columns::RANK_CLAIM[..], &["held-by"]].concat();
        let fields = field.object(&known)?;
        let first = candidates
            .0
            .first()
            .map_or("general", |(pool, _)| pool.as_str());
        let pool = fields.or("pool", first, |field| {
            let pool = field.text()?;
            candidates.rows(field, pool).map(|_| pool)
        })?;
        let row = columns::rank_claim(&fields, builder.symbol(pool))?;
        let of_pool = candidates.0.iter().filter(|(owner, _)| owner == pool);
        let place = |name: &String| offerings.iter().position(|known| known == name);
        let of_pool = of_pool.filter_map(|(_, item)| place(item));
        let of_pool = of_pool
            .filter_map(|place| u32::try_from(place).ok())
            .collect();
        let held_by = fields.or("held-by", of_pool, |field| chosen(field, offerings))?;
        let named = held_by.iter().map(|&row| offerings[row as usize]);
        let named = named.map(|item| (claim.to_owned(), item.to_owned()));
        planned.slots.0.extend(named);
        planned.rows.push(row, &held_by);
        planned.claims.push(claim.to_owned());
    }
    Ok(planned)
}

/// Rows of the offerings that a list names, in the order of rows.
fn chosen(field: &Field<'_>, offerings: &[&str]) -> Result<Vec<u32>, Problem> {
    let mut rows = Vec::new();
    for field in field.list()? {
        rows.push(super::place(&field, "offering", offerings)?);
    }
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}
