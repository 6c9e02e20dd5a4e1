//! Log lines of the controller: one JSON object each, in Karpenter's words for the same things.
//!
//! `level`, `time`, `logger`, `message` and `commit` come first, then the fields of the event. A field in Pascal case names an object
//! (`NodeClaim`, `Pod`) and becomes one: `"NodeClaim":{"name":"general-x"}`, with `namespace` where the name has one.

use std::fmt::{self, Debug, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use anyhow::Result;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::failure::Environment;

/// Short hash of the commit that the program was built of, see `build.rs`; its version where it was built of no checkout.
pub(crate) const COMMIT: &str = match option_env!("PLIMSOLL_COMMIT") {
    Some(commit) => commit,
    None => env!("CARGO_PKG_VERSION"),
};

/// Begin of the names of our crates.
const OURS: &str = "plimsoll";

/// The least urgent lines that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Debug,
    Info,
    Error,
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "debug" => Ok(Self::Debug),
            "info" => Ok(Self::Info),
            "error" => Ok(Self::Error),
            _ => Err("expected debug, info or error".to_owned()),
        }
    }
}

/// Writes log lines from now on to these places: `stdout`, `stderr` or files, separated by commas.
pub(crate) fn begin(level: Level, places: &str) -> Result<(), Environment> {
    let mut outputs = Vec::new();
    for place in places.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        outputs.push(output(place)?);
    }
    if outputs.is_empty() {
        return Err(Environment(format!(
            "--log-output-paths is \"{places}\"; expected stdout, stderr or files, separated by commas"
        )));
    }
    let outputs = std::sync::Mutex::new(Outputs(outputs));
    let lines = tracing_subscriber::fmt()
        .with_writer(outputs)
        .with_max_level(filter(level))
        .event_format(JsonLines);
    lines.init();
    Ok(())
}

fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Error => LevelFilter::ERROR,
    }
}

fn output(place: &str) -> Result<Box<dyn Write + Send>, Environment> {
    match place {
        "stdout" => Ok(Box::new(io::stdout())),
        "stderr" => Ok(Box::new(io::stderr())),
        path => {
            let file = File::options()
                .append(true)
                .create(true)
                .open(Path::new(path));
            let file = file.map_err(|error| {
                Environment(format!(
                    "--log-output-paths names {path}: {error}; expected stdout, stderr or a file that can be written"
                ))
            })?;
            Ok(Box::new(file))
        }
    }
}

/// The least urgent level of lines that are written of a module. Libraries say much about every request below level info, and a region that the
/// instance does not tell is part of the error that ends the process.
fn least_urgent(target: &str) -> tracing::Level {
    match target {
        own if own.starts_with(OURS) => tracing::Level::TRACE,
        "aws_config::imds::region" => tracing::Level::ERROR,
        _ => tracing::Level::INFO,
    }
}

/// All places that lines are written to.
struct Outputs(Vec<Box<dyn Write + Send>>);

impl Write for Outputs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for output in &mut self.0 {
            output.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(Write::flush)
    }
}

struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        if *metadata.level() > least_urgent(metadata.target()) {
            return Ok(());
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let head = [
            ("level", metadata.level().to_string()),
            ("time", now()),
            ("logger", "controller".to_owned()),
            ("message", fields.message),
            ("commit", COMMIT.to_owned()),
        ];
        let mut separator = '{';
        for (key, text) in head {
            write!(writer, "{separator}\"{key}\":{}", Value::from(text))?;
            separator = ',';
        }
        for (key, value) in fields.rest {
            write!(writer, ",{}:{value}", Value::from(key))?;
        }
        writer.write_str("}\n")
    }
}

/// Fields of an event.
#[derive(Default)]
struct Fields {
    message: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        let name = field.name();
        if name == "message" {
            self.message = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            return;
        }
        let is_object = name.starts_with(|first: char| first.is_ascii_uppercase());
        let value = match value {
            Value::String(text) if is_object && name != "Pods" => object(&text),
            value => value,
        };
        self.rest.insert(name.to_owned(), value);
    }
}

/// An object by its name, or by namespace and name with a slash between.
fn object(text: &str) -> Value {
    match text.split_once('/') {
        Some((namespace, name)) => json!({"name": name, "namespace": namespace}),
        None => json!({"name": text}),
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = write!(text, "{value:?}");
        self.put(field, text.into());
    }
}

/// The time of day in UTC, with milliseconds.
fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(level: Level, log: impl FnOnce()) -> Vec<Value> {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(filter(level))
            .event_format(JsonLines)
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        let text = kept.0.lock().unwrap().clone();
        let text = String::from_utf8(text).unwrap();
        let read = |line| serde_json::from_str(line).unwrap();
        text.lines().map(read).collect()
    }

    #[test]
    fn a_line_is_one_object_with_the_words_before_the_fields() {
        let lines = lines(Level::Info, || {
            tracing::info!(
                NodeClaim = "general-x",
                Pod = "shop/web-1",
                "instance-type" = "c5.large",
                pods = 3,
                "created nodeclaim"
            );
            tracing::warn!("a \"quoted\" word");
            tracing::debug!("not this");
        });
        assert_eq!(lines.len(), 2);
        let first = &lines[0];
        assert_eq!(first["level"], "INFO");
        assert_eq!(first["logger"], "controller");
        assert_eq!(first["message"], "created nodeclaim");
        assert_eq!(first["NodeClaim"], json!({"name": "general-x"}));
        let pod = json!({"name": "web-1", "namespace": "shop"});
        assert_eq!(first["Pod"], pod);
        assert_eq!(
            (&first["pods"], &first["instance-type"]),
            (&json!(3), &json!("c5.large"))
        );
        let time = first["time"].as_str().unwrap();
        assert_eq!((time.len(), &time[23..]), (24, "Z"), "{time}");
        assert_eq!(lines[1]["message"], "a \"quoted\" word");
    }

    #[test]
    fn libraries_are_heard_from_level_info_on() {
        let lines = lines(Level::Debug, || {
            tracing::debug!("ours");
            tracing::debug!(target: "hyper_util", "pooling idle connection");
            tracing::info!(target: "hyper_util", "heard");
            tracing::warn!(target: "aws_config::imds::region", "failed to load region from IMDS");
            tracing::warn!(target: "aws_config::web_identity_token", "STS returned an error");
        });
        let said: Vec<&Value> = lines.iter().map(|line| &line["message"]).collect();
        assert_eq!(said, ["ours", "heard", "STS returned an error"]);
    }

    #[test]
    fn levels_are_karpenters_and_a_place_that_cannot_be_written_is_named() {
        assert_eq!("debug".parse(), Ok(Level::Debug));
        assert!("verbose".parse::<Level>().is_err());
        let error = output("/nowhere/log").err().unwrap().to_string();
        assert!(
            error.starts_with("--log-output-paths names /nowhere/log: "),
            "{error}"
        );
    }
}
