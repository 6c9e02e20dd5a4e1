//! STS: who calls, and roles that a service account takes by its token.
//!
//! A token's claims are read and its signature is not: what a test hands in is taken for what the cluster has signed.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::call::Service;
use crate::clock::rfc3339;
use crate::fault::Fault;
use crate::form;
use crate::world::World;

/// The one operation that is not signed: the token says who calls.
pub(crate) const BY_TOKEN: &str = "AssumeRoleWithWebIdentity";
/// Credentials of a role last so long.
const SESSION: Duration = Duration::from_hours(1);

/// Whom a role lets in, as the conditions of its trust policy say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The audience that a token has to be for.
    pub audience: String,
    /// The subject of the token, such as `system:serviceaccount:kube-system:plimsoll`.
    pub subject: String,
}

pub(crate) fn answer(world: &World, operation: &str, input: &Value) -> Result<Value, Fault> {
    match operation {
        "GetCallerIdentity" => Ok(json!({
            "Account": world.account,
            "Arn": format!("arn:aws:sts::{}:assumed-role/plimsoll/test", world.account),
            "UserId": "AROA00000000000000000:test",
        })),
        BY_TOKEN => take_role(world, input),
        other => Err(Fault::unknown(other)),
    }
}

/// The service that a request without a signature is for; `None` where it has to have one.
pub(crate) fn unsigned(body: &[u8]) -> Option<(Service, &'static str)> {
    (form::tree(body)["Action"] == BY_TOKEN).then_some((Service::Sts, ""))
}

fn take_role(world: &World, input: &Value) -> Result<Value, Fault> {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let (arn, session) = (text("RoleArn"), text("RoleSessionName"));
    let refused = || {
        let message = "Not authorized to perform sts:AssumeRoleWithWebIdentity";
        Fault::new("AccessDenied", message).with_status(403)
    };
    let claims = claims(text("WebIdentityToken")).ok_or_else(|| {
        let message = "The ID Token provided is not a valid JWT.";
        Fault::new("InvalidIdentityToken", message)
    })?;
    let name = arn.rsplit('/').next().unwrap_or_default();
    let trust = world.trusts.get(name).ok_or_else(refused)?;
    let expires = claims["exp"].as_u64().map(Duration::from_secs);
    if expires.is_some_and(|expires| UNIX_EPOCH + expires <= world.now()) {
        let message = "Token expired: current date/time must be before the expiration date/time";
        return Err(Fault::new("ExpiredTokenException", message));
    }
    if !audiences(&claims).contains(&trust.audience.as_str()) {
        let message = "Incorrect token audience";
        return Err(Fault::new("InvalidIdentityToken", message));
    }
    if claims["sub"] != trust.subject {
        return Err(refused());
    }
    let account = &world.account;
    Ok(json!({
        "SubjectFromWebIdentityToken": trust.subject,
        "Audience": trust.audience,
        "AssumedRoleUser": {
            "Arn": format!("arn:aws:sts::{account}:assumed-role/{name}/{session}"),
            "AssumedRoleId": format!("AROA00000000000000000:{session}"),
        },
        "Credentials": {
            "AccessKeyId": "ASIA0000000000000001",
            "SecretAccessKey": "secret",
            "SessionToken": "token",
            "Expiration": rfc3339(world.now() + SESSION),
        },
    }))
}

/// Audiences of a token: one, or a list.
fn audiences(claims: &Value) -> Vec<&str> {
    match &claims["aud"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Claims of a JWT; `None` for another text.
fn claims(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    serde_json::from_slice(&decoded(claims)?).ok()
}

/// Bytes of a text in base64 for URLs; `None` where it is none.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0_u32);
    for mark in text.trim_end_matches('=').bytes() {
        let six = match mark {
            b'A'..=b'Z' => mark - b'A',
            b'a'..=b'z' => mark - b'a' + 26,
            b'0'..=b'9' => mark - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_for_urls_is_read_and_other_texts_are_not() {
        assert_eq!(decoded("eyJzdWIiOiJhIn0"), Some(br#"{"sub":"a"}"#.to_vec()));
        assert_eq!(decoded("-_8="), Some(vec![0xfb, 0xff]));
        assert_eq!(decoded("a+b"), None);
        assert_eq!(claims("a.b"), None);
    }

    #[test]
    fn a_role_is_taken_by_the_account_and_for_the_audience_that_it_trusts() {
        let mut world = World::new();
        let trust = Trust {
            audience: "sts.amazonaws.com".to_owned(),
            subject: "a".to_owned(),
        };
        world.trusts.insert("own".to_owned(), trust);
        // {"sub":"a","aud":"sts.amazonaws.com"}, {"sub":"b", the same}, {"sub":"a","aud":["other"]}, {"sub":"a","exp":1}
        for (token, role, code) in [
            (
                "e30.eyJzdWIiOiJhIiwiYXVkIjoic3RzLmFtYXpvbmF3cy5jb20ifQ.x",
                "own",
                "",
            ),
            (
                "e30.eyJzdWIiOiJhIiwiYXVkIjoic3RzLmFtYXpvbmF3cy5jb20ifQ.x",
                "other",
                "AccessDenied",
            ),
            (
                "e30.eyJzdWIiOiJiIiwiYXVkIjoic3RzLmFtYXpvbmF3cy5jb20ifQ.x",
                "own",
                "AccessDenied",
            ),
            (
                "e30.eyJzdWIiOiJhIiwiYXVkIjpbIm90aGVyIl19.x",
                "own",
                "InvalidIdentityToken",
            ),
            (
                "e30.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x",
                "own",
                "ExpiredTokenException",
            ),
            ("none", "own", "InvalidIdentityToken"),
        ] {
            let arn = format!("arn:aws:iam::111122223333:role/{role}");
            let input = json!({"RoleArn": arn, "WebIdentityToken": token, "RoleSessionName": "s"});
            let told = answer(&world, BY_TOKEN, &input);
            let told = told.map_err(|fault| fault.code).err().unwrap_or_default();
            assert_eq!(told, code, "{token} {role}");
        }
    }
}
