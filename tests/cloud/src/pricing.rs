//! Pricing: on-demand list prices, each product a text of JSON.

use plimsoll_ec2_facts::InstanceType;
use plimsoll_model::catalogue::CapacityType;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::world::{CapacityPool, World, dollars};

/// Products of an answer at most.
const PAGE: usize = 100;
/// Family of whole machines.
const BARE_METAL: &str = "Compute Instance (bare metal)";

pub(crate) fn answer(world: &World, operation: &str, input: &Value) -> Result<Value, Fault> {
    if operation != "GetProducts" {
        return Err(Fault::unknown(operation));
    }
    if input["ServiceCode"] != "AmazonEC2" {
        let message = "Unknown service code";
        return Err(Fault::new("InvalidParameterException", message));
    }
    let from = match input["NextToken"].as_str() {
        None => 0,
        Some(token) => token.parse().map_err(|_| {
            let message = "Invalid pagination token";
            Fault::new("InvalidNextTokenException", message)
        })?,
    };
    let most = match &input["MaxResults"] {
        Value::Null => PAGE,
        asked => {
            let most = asked.as_u64().and_then(|most| usize::try_from(most).ok());
            let most = most.filter(|most| (1..=PAGE).contains(most));
            most.ok_or_else(|| {
                let message = format!("MaxResults is {asked}; expected 1 to {PAGE}");
                Fault::new("InvalidParameterException", message)
            })?
        }
    };
    let mut found = items(world, &input["Filters"]).into_iter();
    let texts: Vec<String> = found.by_ref().skip(from).take(most).collect();
    let is_more = found.next().is_some();
    let mut answer = json!({"FormatVersion": "aws_v1", "PriceList": texts});
    if is_more {
        answer["NextToken"] = json!((from + most).to_string());
    }
    Ok(answer)
}

/// Items that filters choose. Texts that a test has put in their place need not be JSON: the family that is asked for chooses among them.
fn items(world: &World, filters: &Value) -> Vec<String> {
    if let Some([machines, bare_metal]) = &world.price_items {
        let metal = json!({"productFamily": BARE_METAL, "attributes": {}});
        let family = filters.as_array().into_iter().flatten();
        let family: Vec<&Value> = family
            .filter(|filter| filter["Field"] == "productFamily")
            .collect();
        let is_metal = passes(&metal, &json!(family));
        return if is_metal { bare_metal } else { machines }.clone();
    }
    let products = world.instance_types().filter_map(|own| product(world, own));
    let found = products.filter(|product| passes(&product["product"], filters));
    found.map(|product| product.to_string()).collect()
}

/// A type as a product; `None` if it has no price. Bare metal is listed for dedicated tenancy.
fn product(world: &World, own: &InstanceType) -> Option<Value> {
    let pool = CapacityPool::new(own.name, "", CapacityType::OnDemand);
    let price = dollars(world.price(&pool)?);
    let (family, tenancy) = if own.is_bare_metal() {
        (BARE_METAL, "Dedicated")
    } else {
        ("Compute Instance", "Shared")
    };
    let (sku, rate) = (own.name, "JRTCKXETXF.6YS6EN2CT7");
    Some(json!({
        "serviceCode": "AmazonEC2",
        "product": {
            "sku": sku,
            "productFamily": family,
            "attributes": {
                "instanceType": own.name,
                "regionCode": world.region,
                "servicecode": "AmazonEC2",
                "tenancy": tenancy,
                "operatingSystem": "Linux",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
            },
        },
        "terms": {"OnDemand": {format!("{sku}.JRTCKXETXF"): {
            "sku": sku,
            "offerTermCode": "JRTCKXETXF",
            "priceDimensions": {format!("{sku}.{rate}"): {
                "unit": "Hrs",
                "pricePerUnit": {"USD": price},
            }},
        }}},
    }))
}

/// `true` if a product has all that the filters ask for; names of attributes are read in any case.
fn passes(product: &Value, filters: &Value) -> bool {
    let value = |name: &str| {
        if name.eq_ignore_ascii_case("productFamily") {
            return product["productFamily"].as_str();
        }
        let mut attributes = product["attributes"].as_object()?.iter();
        let found = attributes.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| value.as_str())
    };
    let mut filters = filters.as_array().into_iter().flatten();
    filters.all(|filter| {
        let field = filter["Field"].as_str().unwrap_or_default();
        value(field) == filter["Value"].as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(filters: &[(&str, &str)]) -> Value {
        let filter = |(field, value): &(&str, &str)| json!({"Type": "TERM_MATCH", "Field": field, "Value": value});
        let filters: Vec<Value> = filters.iter().map(filter).collect();
        json!({"ServiceCode": "AmazonEC2", "Filters": filters})
    }

    fn products(answer: &Value) -> Vec<Value> {
        let texts = answer["PriceList"].as_array().into_iter().flatten();
        let texts = texts.filter_map(Value::as_str);
        texts
            .map(|text| serde_json::from_str(text).expect("JSON"))
            .collect()
    }

    #[test]
    fn products_are_texts_of_json_with_their_price() {
        let mut world = World::new();
        world.types = ["m5.large", "m5.metal"].map(str::to_owned).into();
        let shared = [
            ("tenancy", "Shared"),
            ("serviceCode", "AmazonEC2"),
            ("productFamily", "Compute Instance"),
        ];
        let told = answer(&world, "GetProducts", &asked(&shared)).expect("products");
        let products = products(&told);
        assert_eq!(products.len(), 1);
        let attributes = &products[0]["product"]["attributes"];
        assert_eq!(attributes["instanceType"], "m5.large");
        let prices = products[0]["terms"]["OnDemand"].as_object().expect("terms");
        let (_, term) = prices.iter().next().expect("a term");
        let dimensions = term["priceDimensions"].as_object().expect("dimensions");
        let (_, dimension) = dimensions.iter().next().expect("a dimension");
        assert_eq!(dimension["pricePerUnit"], json!({"USD": "0.096000"}));
        let other = [("regionCode", "us-west-2")];
        let told = answer(&world, "GetProducts", &asked(&other)).expect("products");
        assert_eq!(told["PriceList"], json!([]));
    }

    #[test]
    fn bare_metal_is_a_family_of_its_own() {
        let mut world = World::new();
        world.types = ["m5.large", "m5.metal"].map(str::to_owned).into();
        let metal = [
            ("tenancy", "Dedicated"),
            ("productFamily", "Compute Instance (bare metal)"),
        ];
        let told = answer(&world, "GetProducts", &asked(&metal)).expect("products");
        let products = products(&told);
        assert_eq!(products.len(), 1);
        assert_eq!(
            products[0]["product"]["attributes"]["instanceType"],
            "m5.metal"
        );
    }

    #[test]
    fn texts_of_a_test_come_page_by_page_as_they_are() {
        let mut world = World::new();
        let machines = (0..101).map(|number| format!("{{{number}")).collect();
        world.price_items = Some([machines, vec!["bare".to_owned()]]);
        let mut input = asked(&[("productFamily", "Compute Instance")]);
        input["MaxResults"] = json!(100);
        let told = answer(&world, "GetProducts", &input).expect("products");
        assert_eq!(told["PriceList"].as_array().map(Vec::len), Some(100));
        input["NextToken"] = told["NextToken"].clone();
        let told = answer(&world, "GetProducts", &input).expect("products");
        assert_eq!(told["PriceList"], json!(["{100"]));
        assert!(told["NextToken"].is_null());
        let metal = asked(&[("productFamily", BARE_METAL)]);
        let told = answer(&world, "GetProducts", &metal).expect("products");
        assert_eq!(told["PriceList"], json!(["bare"]));
        input["MaxResults"] = json!(101);
        let refused = answer(&world, "GetProducts", &input).expect_err("too many");
        assert_eq!(refused.code, "InvalidParameterException");
    }

    #[test]
    fn pages_give_every_product_once() {
        let world = World::new();
        let (mut input, mut seen) = (asked(&[]), Vec::new());
        loop {
            let told = answer(&world, "GetProducts", &input).expect("products");
            let page = products(&told);
            assert!(page.len() <= PAGE);
            seen.extend(page.iter().map(|own| own["product"]["sku"].to_string()));
            match &told["NextToken"] {
                Value::Null => break,
                token => input["NextToken"] = token.clone(),
            }
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert!(count > 1_000 && seen.len() == count, "{count}");
    }
}
