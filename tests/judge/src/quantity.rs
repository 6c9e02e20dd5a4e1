//! Quantities as the generator writes them: whole numbers with the suffixes m, Ki, Mi and Gi.

use serde_json::Value;

/// Thousandths for CPU, whole units for everything else; 0 for what is no quantity of that form.
pub fn read(resource: &str, written: &Value) -> i64 {
    let scale = if resource == "cpu" { 1000 } else { 1 };
    if let Some(whole) = written.as_i64() {
        return whole * scale;
    }
    let text = written.as_str().unwrap_or_default();
    let number = |digits: &str| digits.parse::<i64>().unwrap_or_default();
    for (suffix, factor) in [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)] {
        if let Some(digits) = text.strip_suffix(suffix) {
            return number(digits) * factor * scale;
        }
    }
    match text.strip_suffix('m') {
        Some(digits) => number(digits) * scale / 1000,
        None => number(text) * scale,
    }
}

/// The text of an amount.
pub fn write(resource: &str, amount: i64) -> String {
    if resource == "cpu" {
        format!("{amount}m")
    } else {
        amount.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_read() {
        let cpu: Vec<i64> = ["2", "250m"]
            .iter()
            .map(|text| read("cpu", &Value::from(*text)))
            .collect();
        assert_eq!(cpu, [2000, 250]);
        assert_eq!(read("memory", &Value::from("3Gi")), 3 << 30);
        assert_eq!(read("pods", &Value::from(110)), 110);
    }
}
