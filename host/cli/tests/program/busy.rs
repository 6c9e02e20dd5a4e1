//! An API server that is too busy to answer: a command says so with the server's words, and ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use crate::user::{Folder, plimsoll};

/// A server on loopback that gives every request this answer; its port. It ends with the process.
fn server(status: &'static str, body: &'static str) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("its address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, status, body));
        }
    });
    port
}

/// Answers the requests of one connection until it is closed.
fn answer(mut stream: TcpStream, status: &str, body: &str) {
    let Ok(requests) = stream.try_clone() else {
        return;
    };
    for line in BufReader::new(requests).lines().map_while(Result::ok) {
        // The end of a request's headers; these requests have no body.
        if !line.is_empty() {
            continue;
        }
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json");
        if write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").is_err() {
            return;
        }
    }
}

/// A kubeconfig for a server on this port.
fn kubeconfig(folder: &Folder, port: u16) -> String {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: busy\n\
         clusters: [{{name: busy, cluster: {{server: \"http://127.0.0.1:{port}\"}}}}]\n\
         contexts: [{{name: busy, context: {{cluster: busy, user: busy}}}}]\nusers: [{{name: busy, user: {{}}}}]\n"
    );
    folder.file("kubeconfig.yaml", text)
}

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
        let config = kubeconfig(&folder, server(status, body));
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
