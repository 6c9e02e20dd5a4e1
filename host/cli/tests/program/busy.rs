//! An API server that is too busy to answer: a command says so with the server's words, and ends.

use crate::server::{kubeconfig, server};
use crate::user::{Folder, plimsoll};

#[test]
fn a_server_that_is_busy_for_longer_than_people_wait_is_given_up_with_its_words() {
    let too_many = r#"{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "too many requests, please try again later",
        "reason": "TooManyRequests", "details": {"retryAfterSeconds": 3600}, "code": 429}"#;
    let unavailable = r#"{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "apiserver is shutting down",
        "reason": "ServiceUnavailable", "details": {"retryAfterSeconds": 3600}, "code": 503}"#;
    for (status, body, words) in [
        (
            "429 Too Many Requests",
            too_many,
            "too many requests, please try again later",
        ),
        (
            "503 Service Unavailable",
            unavailable,
            "apiserver is shutting down",
        ),
    ] {
        let folder = Folder::new();
        let config = kubeconfig(&folder, server(move |_| (status, body.to_owned())));
        for command in [
            vec!["snapshot", "record", "--kubeconfig", &config, "-O", "-"],
            vec!["explain", "pod", "web", "--kubeconfig", &config],
        ] {
            let ran = plimsoll(&command);
            assert_ne!(ran.code, 0, "{ran:?}");
            assert!(ran.error().contains(words), "{ran:?}");
            let told = format!(
                "warning: the cluster: the API server is busy ({}: {words})",
                &status[..3]
            );
            assert!(ran.err.contains(&told), "{ran:?}");
            assert!(
                ran.err.contains("it asks to come back in 3600 s"),
                "{ran:?}"
            );
        }
    }
}
