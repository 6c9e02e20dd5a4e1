//! EC2NodeClasses at random: of every object, each field is left out, is empty or has a value. The same seed gives the same text everywhere.

mod draw;
mod values;
mod written;

use serde_json::{Map, Value, json};

use draw::Draw;
use values::{anything, expression, flag, large, number, size, small, text, texts};

/// Fields that an object may have.
pub(crate) type Fields = &'static [(&'static str, fn(&mut Draw) -> Value)];

/// Fields that are hashed.
pub(crate) const HASHED: Fields = &[
    ("placementGroupSelector", |draw| object(draw, PLACEMENT)),
    ("associatePublicIPAddress", flag),
    ("userData", text),
    ("role", text),
    ("instanceProfile", text),
    ("tags", texts),
    ("kubelet", |draw| object(draw, KUBELET)),
    ("blockDeviceMappings", |draw| list(draw, 50, DISK)),
    ("instanceStorePolicy", |draw| {
        draw.pick(&["RAID0", "RAID0", "RAID10", ""]).into()
    }),
    ("networkInterfaces", |draw| list(draw, 150, INTERFACE)),
    ("detailedMonitoring", flag),
    ("metadataOptions", |draw| object(draw, METADATA)),
    ("connectionTracking", |draw| object(draw, TRACKING)),
    ("context", text),
    ("cpuOptions", |draw| object(draw, PROCESSORS)),
    ("enclaveOptions", |draw| object(draw, ENCLAVES)),
];

/// Fields that are not.
const OTHERS: Fields = &[
    ("subnetSelectorTerms", |draw| json!([{"tags": texts(draw)}])),
    (
        "securityGroupSelectorTerms",
        |draw| json!([{"name": text(draw)}]),
    ),
    (
        "capacityReservationSelectorTerms",
        |draw| json!([{"ownerID": text(draw)}]),
    ),
    ("ipPrefixCount", small),
];

const PLACEMENT: Fields = &[("name", text), ("id", text)];

const DISK: Fields = &[
    ("deviceName", |draw| {
        draw.pick(&["/dev/xvda", "/dev/xvdb", ""]).into()
    }),
    ("ebs", |draw| object(draw, VOLUME)),
    ("rootVolume", flag),
];

/// Fields of a volume.
pub(crate) const VOLUME: Fields = &[
    ("deleteOnTermination", flag),
    ("encrypted", flag),
    ("iops", large),
    ("kmsKeyID", text),
    ("snapshotID", text),
    ("throughput", large),
    ("volumeInitializationRate", small),
    ("volumeSize", size),
    ("volumeType", |draw| draw.pick(&["gp3", "io2", ""]).into()),
];

const INTERFACE: Fields = &[
    ("networkCardIndex", small),
    ("deviceIndex", small),
    ("interfaceType", |draw| {
        draw.pick(&["interface", "efa-only", ""]).into()
    }),
];

const METADATA: Fields = &[
    ("httpEndpoint", text),
    ("httpProtocolIPv6", text),
    ("httpPutResponseHopLimit", large),
    ("httpTokens", text),
];

const TRACKING: Fields = &[
    ("tcpEstablishedTimeout", small),
    ("udpStreamTimeout", small),
    ("udpTimeout", small),
];

const PROCESSORS: Fields = &[("nestedVirtualization", text)];

const ENCLAVES: Fields = &[("enabled", flag)];

/// Settings of all kinds that kubelets have, and one that none has.
const KUBELET: Fields = &[
    ("maxPods", expression),
    ("kubeReserved", |draw| object(draw, RESERVED)),
    ("systemReserved", |draw| object(draw, RESERVED)),
    ("evictionHard", texts),
    ("clusterDNS", |draw| {
        (0..draw.length(3)).map(|_| text(draw)).collect()
    }),
    ("cpuCFSQuota", flag),
    ("memoryThrottlingFactor", number),
    ("featureGates", |draw| anything(draw, 2)),
    ("<größe & farbe>", |draw| anything(draw, 4)),
];

const RESERVED: Fields = &[
    ("cpu", expression),
    ("memory", expression),
    ("ephemeral-storage", expression),
    ("pid", expression),
];

/// Families, with the names by which aliases know them; `Custom` has none.
pub(crate) const FAMILIES: [(&str, &str); 7] = [
    ("AL2", "al2"),
    ("AL2023", "al2023"),
    ("Bottlerocket", "bottlerocket"),
    ("Windows2019", "windows2019"),
    ("Windows2022", "windows2022"),
    ("Windows2025", "windows2025"),
    ("Custom", ""),
];

/// A class as one line of JSON: its `spec`, and `caBundle` where a certificate authority is known.
pub(crate) fn drawn(seed: u64) -> String {
    let draw = &mut Draw::new(seed);
    let often = draw.pick(&[1, 2, 2, 3, 3, 4]);
    let mut spec = fields(draw, often, HASHED);
    spec.append(&mut fields(draw, 1, OTHERS));
    spec.append(&mut images(draw));
    let mut class = Map::from_iter([("spec".to_owned(), Value::Object(spec))]);
    if !draw.once_in(4) {
        class.insert("caBundle".to_owned(), text(draw));
    }
    written::written(&Value::Object(class), draw)
}

/// Family by its name, by an alias, or by both, which may differ where the name is `Custom`.
fn images(draw: &mut Draw) -> Map<String, Value> {
    let (family, alias) = draw.pick(&FAMILIES);
    let mut images = Map::new();
    let named = alias.is_empty() || draw.once_in(2);
    if named {
        let family = draw.pick(&[family, family, "Custom"]);
        images.insert("amiFamily".to_owned(), family.into());
    }
    let terms = if alias.is_empty() || named && draw.once_in(2) {
        json!([{"id": "ami-1"}, {"tags": texts(draw)}])
    } else {
        json!([{"alias": format!("{alias}@latest")}])
    };
    images.insert("amiSelectorTerms".to_owned(), terms);
    images
}

/// Of four fields, `often` on average.
fn fields(draw: &mut Draw, often: usize, of: Fields) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in of {
        if draw.below(4) < often {
            fields.insert((*name).to_owned(), value(draw));
        }
    }
    fields
}

/// An object with none, some or all of the fields.
fn object(draw: &mut Draw, of: Fields) -> Value {
    let often = draw.below(5);
    Value::Object(fields(draw, often, of))
}

/// Objects in any order, some of them more than once.
fn list(draw: &mut Draw, most: usize, of: Fields) -> Value {
    let mut list: Vec<Value> = (0..draw.length(most)).map(|_| object(draw, of)).collect();
    if draw.once_in(4) {
        list.extend_from_within(list.len() / 2..);
        list.truncate(most);
        draw.shuffle(&mut list);
    }
    list.into()
}
