//! Verdicts of an API server with our definitions on a table of cases, and what validation of files says to the same objects.
//!
//! One table of cases for each kind stands in `cases`: a smallest object, and what each case sets in it, by the path of a field; `null`
//! takes the field away. `layer` says who refuses: `schema`, `cel` (a rule), `cel-aws` (a rule for label keys of AWS alone), `unknown` (a
//! field without a schema), `unserved` (a kind or version that is not there), `update` (a rule about the object before); `accepted`,
//! `updated` and `runtime` (a controller's to refuse) are taken. A refusal names the field `at` and says `words`. Cases of Karpenter's kinds
//! were derived by `derive.py` from manifests for its API of version 1.14, for which they cover each rule and each form.

mod cases;
mod server;

use plimsoll_api::crd::{self, Provider};
use plimsoll_api::{Severity, validate};
use plimsoll_lab::{Lab, Options, until};
use serde_json::{Value, json};

use cases::{Case, Layer};
use server::{Answer, Server, Unknown};

/// The definitions of every kind, with the rules of a provider.
fn definitions(provider: Provider) -> Vec<Value> {
    let other = match provider {
        Provider::Aws => Provider::Kwok,
        Provider::Kwok => Provider::Aws,
    };
    let mut all = crd::definitions(provider);
    let missing = crd::definitions(other).into_iter().filter(|definition| {
        !all.iter()
            .any(|known| known["metadata"] == definition["metadata"])
    });
    let missing: Vec<Value> = missing.collect();
    all.extend(missing);
    all
}

async fn lab(provider: Provider) -> (Lab, Server) {
    let lab = Lab::start(Options {
        definitions: definitions(provider),
        ..Options::default()
    });
    let lab = lab.await.expect("a lab");
    let server = Server::new(lab.client());
    (lab, server)
}

/// A refusal by the schema or a rule is looked at without other fields, which alone would be refused before.
fn unknown(layer: Layer) -> Unknown {
    match layer {
        Layer::Schema | Layer::Cel | Layer::CelAws => Unknown::Dropped,
        _ => Unknown::Refused,
    }
}

/// A fault of an answer to a case, if it has one.
fn fault(case: &Case, answer: &Answer) -> Option<String> {
    let words = case.words.as_deref().unwrap_or_default();
    let at = case.at.as_deref().unwrap_or_default();
    let is_right = match (case.layer, answer) {
        (Layer::Accepted | Layer::Updated | Layer::Runtime, Answer::Taken(stored)) => {
            return lost(&case.object, stored, "").map(|path| format!("{path} is not kept"));
        }
        (Layer::Unserved, Answer::NotServed) => true,
        (Layer::Unknown, Answer::Refused(causes)) => causes
            .iter()
            .any(|cause| cause.words.contains(&format!("unknown field \"{at}\""))),
        (Layer::Schema | Layer::Cel | Layer::CelAws | Layer::Update, Answer::Refused(causes)) => {
            !words.is_empty()
                && causes
                    .iter()
                    .any(|cause| cause.field == at && cause.words.contains(words))
        }
        _ => false,
    };
    (!is_right).then(|| format!("expected \"{words}\" at {at}, got {answer:?}"))
}

/// The path of a value that an object has and what is stored has not, or not so.
fn lost(written: &Value, stored: &Value, path: &str) -> Option<String> {
    match (written, stored) {
        (Value::Object(written), Value::Object(stored)) => {
            written.iter().find_map(|(name, value)| {
                let path = format!("{path}.{name}");
                lost(value, stored.get(name).unwrap_or(&Value::Null), &path)
            })
        }
        (Value::Array(written), Value::Array(stored)) if written.len() == stored.len() => written
            .iter()
            .zip(stored)
            .enumerate()
            .find_map(|(at, (value, stored))| lost(value, stored, &format!("{path}[{at}]"))),
        _ => (written != stored).then(|| path.to_owned()),
    }
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_takes_and_refuses_as_the_cases_say() {
    let (_lab, server) = lab(Provider::Aws).await;
    let mut faults = Vec::new();
    for case in cases::all() {
        let answer = match &case.before {
            Some(before) => server.update(before, &case.object).await,
            None => server.create(&case.object, unknown(case.layer)).await,
        };
        if let Some(fault) = fault(&case, &answer) {
            faults.push(format!("{} {}: {fault}", case.kind, case.id));
        }
    }
    assert_none(&faults);
}

/// Objects that the API takes and of which files are told a fault all the same: a class whose kubelet settings are expressions, which our
/// controller does not serve, and a pool with a budget whose empty list of reasons makes it limit nothing.
fn has_fault(case: &Case) -> bool {
    ["kubelet-expressions", "budget-for-nothing"].contains(&&*case.id)
}

#[test]
fn files_are_refused_for_what_an_api_server_refuses() {
    let mut faults = Vec::new();
    for case in cases::all() {
        let object = &case.object;
        let text = |name: &str| object[name].as_str().unwrap_or_default();
        let found = validate(text("apiVersion"), text("kind"), object);
        let at = case.at.as_deref().unwrap_or_default();
        let names = |severity: Severity| {
            found
                .iter()
                .any(|finding| finding.severity == severity && finding.path.starts_with(at))
        };
        let is_right = match case.layer {
            Layer::Schema | Layer::Cel | Layer::CelAws | Layer::Unserved => names(Severity::Error),
            Layer::Unknown => names(Severity::Fault),
            // A file does not say what was before: the object itself is fine, or is not for its own sake.
            Layer::Update => true,
            Layer::Accepted if has_fault(&case) => names(Severity::Fault),
            Layer::Accepted | Layer::Updated => found
                .iter()
                .all(|finding| finding.severity == Severity::Advice),
            Layer::Runtime => found
                .iter()
                .all(|finding| finding.severity != Severity::Error),
        };
        if !is_right {
            let words: Vec<String> = found.iter().map(ToString::to_string).collect();
            faults.push(format!(
                "{} {}: expected {:?} at {at}, got {words:?}",
                case.kind, case.id, case.layer
            ));
        }
    }
    assert_none(&faults);
}

/// Every field of every definition, by the path that tables of fields give it.
fn fields(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        fields(field, &path, found);
        found.push(path);
    }
    if let Some(items) = schema.get("items") {
        fields(items, &format!("{path}[]"), found);
    }
}

/// Marks the fields that a value has.
fn cross_off(value: &Value, path: &str, fields: &mut Vec<String>) {
    match value {
        Value::Object(values) => {
            for (name, value) in values {
                let path = format!("{path}.{name}");
                fields.retain(|field| *field != path);
                cross_off(value, &path, fields);
            }
        }
        Value::Array(items) => {
            for item in items {
                cross_off(item, &format!("{path}[]"), fields);
            }
        }
        _ => {}
    }
}

#[test]
fn every_field_is_in_an_object_that_is_taken() {
    let mut faults = Vec::new();
    for table in cases::tables() {
        let definitions = definitions(Provider::Aws);
        let definition = definitions
            .iter()
            .find(|definition| definition["spec"]["names"]["kind"] == table.kind.as_str());
        let version = &definition.expect("a definition")["spec"]["versions"][0];
        let mut left = Vec::new();
        fields(&version["schema"]["openAPIV3Schema"], "", &mut left);
        cross_off(&json!({"status": table.status}), "", &mut left);
        for case in table
            .cases
            .iter()
            .filter(|case| case.layer == Layer::Accepted)
        {
            cross_off(&case.object, "", &mut left);
        }
        faults.extend(left.iter().map(|path| format!("{}{path}", table.kind)));
    }
    assert_none(&faults);
}

/// The rules for keys of AWS come and go with their definitions; objects that were stored before stay as they are, also when they are
/// written again.
#[tokio::test(flavor = "multi_thread")]
async fn objects_outlive_the_exchange_of_definitions() {
    let (_lab, server) = lab(Provider::Aws).await;
    let kept = |stored: &Value| json!({"spec": stored["spec"], "status": stored["status"]});
    let mut objects = Vec::new();
    for table in cases::tables() {
        let accepted = table.cases.into_iter();
        for case in accepted.filter(|case| case.layer == Layer::Accepted) {
            let made = server.create(&case.object, Unknown::Refused).await;
            assert!(matches!(made, Answer::Taken(_)), "{}: {made:?}", case.id);
            let change = json!({"status": table.status});
            let Answer::Taken(stored) = server.merge(&case.object, "/status", &change).await else {
                panic!("{}: its status is refused", case.id);
            };
            assert_eq!(
                lost(&table.status, &stored["status"], ""),
                None,
                "{}",
                case.id
            );
            objects.push((case, kept(&stored)));
        }
    }
    let mut of_aws = cases::all();
    of_aws.retain(|case| case.layer == Layer::CelAws);
    assert!(!of_aws.is_empty());
    for provider in [Provider::Kwok, Provider::Aws] {
        for definition in definitions(provider) {
            let replaced = server.replace_definition(&definition).await;
            assert!(matches!(replaced, Answer::Taken(_)), "{replaced:?}");
        }
        for case in &of_aws {
            // A definition is served a moment after it is written.
            let answered = until("other rules to be served", server::PATIENCE, async || {
                let answer = server.try_out(&case.object).await;
                let is_taken = matches!(answer, Answer::Taken(_));
                Ok((is_taken == (provider == Provider::Kwok)).then_some(()))
            });
            if answered.await.is_err() {
                let answer = server.try_out(&case.object).await;
                panic!("{} under {provider:?}: {answer:?}", case.id);
            }
        }
        for (case, before) in &objects {
            let change = json!({"metadata": {"annotations": {"touched": format!("{provider:?}")}}});
            let Answer::Taken(stored) = server.merge(&case.object, "", &change).await else {
                panic!("{} under {provider:?}: it cannot be written again", case.id);
            };
            assert_eq!(kept(&stored), *before, "{} under {provider:?}", case.id);
        }
    }
}
