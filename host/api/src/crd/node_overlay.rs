//! The schema of [`crate::kinds::NodeOverlay`].

use serde_json::Value;

use super::schema::{conditions, integer, object, pattern, quantities, requirements, with_rules};
use super::{AGE, Column, READY, WEIGHT};

pub(super) const COLUMNS: [Column; 3] = [READY, AGE, WEIGHT];

const ADJUSTMENT: &str =
    r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$";

pub(super) fn schema() -> Value {
    let own = "self.all(x, !(x in ['cpu', 'memory', 'ephemeral-storage', 'pods']))";
    let spec = object(
        &["requirements"],
        vec![
            (
                "capacity",
                with_rules(
                    quantities(),
                    &[(own, "this resource is the provider's to say")],
                ),
            ),
            ("price", pattern(r"^\d+(\.\d+)?$")),
            ("priceAdjustment", pattern(ADJUSTMENT)),
            ("requirements", requirements(false)),
            ("weight", integer(1, Some(10_000))),
        ],
    );
    let one_price = "!has(self.price) || !has(self.priceAdjustment)";
    let spec = with_rules(
        spec,
        &[(one_price, "expected price or priceAdjustment, not both")],
    );
    object(
        &["spec"],
        vec![
            ("spec", spec),
            ("status", object(&[], vec![("conditions", conditions())])),
        ],
    )
}
