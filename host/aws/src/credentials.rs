//! Calls for which AWS does not take the controller for who it says it is: a clock that is off, credentials that have expired or are
//! unknown, a role that does not let its service account in. Each in a sentence with the way out.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// Audience of tokens that trust policies of service accounts ask for.
const AUDIENCE: &str = "sts.amazonaws.com";
/// The call by which a service account takes its role.
const BY_TOKEN: &str = "sts:AssumeRoleWithWebIdentity";

/// A mark of an error, and the way out of it.
struct Known {
    /// Codes of it.
    codes: &'static [&'static str],
    /// One of these is in its text; no words stand for any text.
    words: &'static [&'static str],
    way_out: &'static str,
}

const CLOCK: &str = "set the clock of this machine, which is more than five minutes off that of AWS: by chrony and 169.254.169.123, or any other server of NTP";
const KNOWN: &[Known] = &[
    Known {
        codes: &[
            "RequestTimeTooSkewed",
            "RequestInTheFuture",
            "RequestTimeTooSkewedException",
        ],
        words: &[],
        way_out: CLOCK,
    },
    Known {
        codes: &["SignatureDoesNotMatch", "InvalidSignatureException"],
        words: &["Signature expired", "Signature not yet current"],
        way_out: CLOCK,
    },
    Known {
        codes: &["RequestExpired"],
        words: &[],
        way_out: "the clock of this machine is more than five minutes off that of AWS, or the credentials have expired: set the clock, or renew the credentials",
    },
    Known {
        codes: &["SignatureDoesNotMatch", "InvalidSignatureException"],
        words: &[],
        way_out: "the secret key is not that of the access key: correct AWS_SECRET_ACCESS_KEY, or have a role in their place",
    },
    Known {
        codes: &["ExpiredToken", "ExpiredTokenException"],
        words: &[],
        way_out: "the credentials have expired: renew them, or have a role that is renewed by itself (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, as EKS sets them for a service account)",
    },
    Known {
        codes: &[
            "InvalidClientTokenId",
            "UnrecognizedClientException",
            "InvalidAccessKeyId",
        ],
        words: &[],
        way_out: "AWS does not know the access key: correct AWS_ACCESS_KEY_ID, and look whether it is of this partition and not deleted",
    },
    // EC2's word for a key that it does not know as well as for a signature that is too old.
    Known {
        codes: &["AuthFailure"],
        words: &["not able to validate the provided access credentials"],
        way_out: "AWS does not know the access key, or the clock of this machine is off that of AWS: correct AWS_ACCESS_KEY_ID, or set the clock",
    },
];

/// The role that a service account takes by a token, as the environment names both.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WebIdentity {
    role: String,
    token: Result<Token, String>,
}

/// Claims of a service account's token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Token {
    #[serde(rename = "iss", default)]
    issuer: String,
    #[serde(rename = "sub")]
    subject: String,
    #[serde(rename = "aud", default)]
    audiences: Audiences,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Audiences {
    One(String),
    All(Vec<String>),
}

impl Default for Audiences {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

/// Text of an error of the SDK where no place that it looks in has credentials, whichever places it then lists.
const NOT_LOADED: &str = "the credential provider was not enabled";
const MISSING: &str = "no AWS credentials; expected a role for the service account (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or EKS Pod Identity), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile of AWS_PROFILE, or the instance's role";

/// The sentence about a call that was not made for lack of credentials, by the text of its error; `None` for other errors.
pub(crate) fn missing(text: &str) -> Option<&'static str> {
    text.contains(NOT_LOADED).then_some(MISSING)
}

/// The way out of an error by its code, which is empty where the call was not made, and its text; `None` for errors of other kinds.
pub(crate) fn way_out(code: &str, text: &str) -> Option<String> {
    way_out_as(code, text, WebIdentity::of_environment)
}

fn way_out_as(
    code: &str,
    text: &str,
    identity: impl FnOnce() -> Option<WebIdentity>,
) -> Option<String> {
    let is_of = |known: &&Known| {
        let mut words = known.words.iter();
        let is_worded = known.words.is_empty() || words.any(|own| text.contains(own));
        known.codes.contains(&code) && is_worded
    };
    if let Some(known) = KNOWN.iter().find(is_of) {
        return Some(known.way_out.to_owned());
    }
    // Credentials are asked for before the call is made.
    let is_of_role = code.is_empty() && REFUSALS.iter().any(|word| text.contains(word));
    is_of_role.then(identity)?.map(|own| own.way_out())
}

/// Codes by which STS refuses a token.
const REFUSALS: [&str; 4] = [
    "AccessDenied",
    "InvalidIdentityToken",
    "IDPRejectedClaim",
    "ExpiredToken",
];

impl WebIdentity {
    fn of_environment() -> Option<Self> {
        let said = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let (role, path) = (said("AWS_ROLE_ARN")?, said("AWS_WEB_IDENTITY_TOKEN_FILE")?);
        let read = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"));
        let token = read.and_then(|text| {
            let token = Token::read(&text);
            token.ok_or_else(|| {
                format!("{path} holds no token of a service account; expected a JWT with a subject")
            })
        });
        Some(Self { role, token })
    }

    /// A sentence: who is not let in, and the trust policy that would.
    fn way_out(&self) -> String {
        let role = &self.role;
        match &self.token {
            Err(words) => format!("role {role} cannot be taken: {words}"),
            Ok(token) => {
                let (subject, audiences) = (&token.subject, token.audiences());
                let provider = token.issuer.trim_start_matches("https://");
                format!(
                    "role {role} does not let service account \"{subject}\" with audience \"{audiences}\" in: expected its trust policy to allow {BY_TOKEN} where {provider}:sub is {subject} and {provider}:aud is {AUDIENCE}, as charts/aws/trust-policy.json says, and that provider to be registered with IAM"
                )
            }
        }
    }
}

impl Token {
    /// Claims of a JWT; `None` for another text. Its signature is for AWS to check.
    fn read(text: &str) -> Option<Self> {
        let claims = text.trim().split('.').nth(1)?;
        let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
        serde_json::from_slice(&claims).ok()
    }

    fn audiences(&self) -> String {
        match &self.audiences {
            Audiences::One(one) => one.clone(),
            Audiences::All(all) => all.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn token(claims: &Value) -> String {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.x", part("{}"), part(&claims.to_string()))
    }

    fn nobody() -> Option<WebIdentity> {
        None
    }

    #[test]
    fn a_call_that_is_not_taken_for_ours_is_told_with_the_way_out() {
        for (code, text, way_out) in [
            (
                "SignatureDoesNotMatch",
                "Signature expired: 20260101T000000Z is now earlier than 20260101T005500Z",
                "set the clock of this machine",
            ),
            (
                "InvalidSignatureException",
                "Signature not yet current: 20260101T010000Z is still later than",
                "set the clock of this machine",
            ),
            (
                "RequestTimeTooSkewed",
                "The difference between the request time and the current time is too large",
                "set the clock of this machine",
            ),
            (
                "RequestExpired",
                "Request has expired.",
                "set the clock, or renew the credentials",
            ),
            (
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided.",
                "AWS_SECRET_ACCESS_KEY",
            ),
            (
                "ExpiredTokenException",
                "The security token included in the request is expired",
                "the credentials have expired",
            ),
            (
                "UnrecognizedClientException",
                "The security token included in the request is invalid.",
                "AWS_ACCESS_KEY_ID",
            ),
            (
                "AuthFailure",
                "AWS was not able to validate the provided access credentials",
                "or set the clock",
            ),
        ] {
            let told = way_out_as(code, text, nobody).unwrap_or_default();
            assert!(told.contains(way_out), "{code}: {told}");
        }
    }

    #[test]
    fn a_call_without_credentials_is_one_sentence() {
        let sdk = "dispatch failure: other: an error occurred while loading credentials: the credential provider was not enabled: no providers in chain provided credentials: Attempted: Environment";
        assert_eq!(missing(sdk), Some(MISSING));
        assert_eq!(way_out_as("", MISSING, nobody), None);
        assert_eq!(missing("dispatch failure: no answer in time"), None);
    }

    #[test]
    fn errors_of_other_kinds_are_left_to_others() {
        for (code, text) in [
            ("AuthFailure", "Not authorized for images: [ami-1]"),
            ("AccessDenied", "User is not authorized to perform"),
            ("", "no answer in time"),
            ("", "AccessDenied"),
        ] {
            assert_eq!(way_out_as(code, text, nobody), None, "{code} {text}");
        }
    }

    #[test]
    fn a_role_that_is_refused_is_told_with_the_subject_that_it_has_to_trust() {
        let issuer = "https://oidc.eks.us-east-1.amazonaws.com/id/AB";
        let subject = "system:serviceaccount:nodes:plimsoll";
        for (audience, shown) in [
            (json!(["sts.amazonaws.com"]), "\"sts.amazonaws.com\""),
            (json!("https://kubernetes"), "\"https://kubernetes\""),
        ] {
            let own = token(&json!({"iss": issuer, "sub": subject, "aud": audience}));
            let identity = WebIdentity {
                role: "arn:aws:iam::111122223333:role/r".to_owned(),
                token: Ok(Token::read(&own).expect("a token")),
            };
            let refused = "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity";
            let told = way_out_as("", refused, || Some(identity)).expect("a way out");
            let words = format!(
                "role arn:aws:iam::111122223333:role/r does not let service account \"{subject}\" with audience {shown} in"
            );
            assert!(told.starts_with(&words), "{told}");
            let words = format!(
                "where oidc.eks.us-east-1.amazonaws.com/id/AB:sub is {subject} and oidc.eks.us-east-1.amazonaws.com/id/AB:aud is sts.amazonaws.com"
            );
            assert!(told.contains(&words), "{told}");
        }
        assert_eq!(Token::read("none"), None);
        assert_eq!(Token::read(&token(&json!({"aud": "a"}))), None);
    }
}
