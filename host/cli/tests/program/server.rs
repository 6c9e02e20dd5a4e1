//! An API server on loopback that answers what a test says, and a kubeconfig for it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::user::Folder;

/// Status line and body for a path without its query.
type Answer = dyn Fn(&str) -> (&'static str, String) + Send + Sync;

/// A server that answers each request by its path; its port. It ends with the process.
pub(crate) fn server(
    answers: impl Fn(&str) -> (&'static str, String) + Send + Sync + 'static,
) -> u16 {
    let answers: Arc<Answer> = Arc::new(answers);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("its address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answers = Arc::clone(&answers);
            thread::spawn(move || answer(stream, &*answers));
        }
    });
    port
}

/// Answers the requests of one connection until it is closed.
fn answer(mut stream: TcpStream, answers: &Answer) {
    let Ok(requests) = stream.try_clone() else {
        return;
    };
    let mut path = String::new();
    for line in BufReader::new(requests).lines().map_while(Result::ok) {
        if path.is_empty() {
            let target = line.split(' ').nth(1).unwrap_or_default();
            target
                .split('?')
                .next()
                .unwrap_or_default()
                .clone_into(&mut path);
        }
        // The end of a request's headers; these requests have no body.
        if !line.is_empty() {
            continue;
        }
        let (status, body) = answers(&std::mem::take(&mut path));
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json");
        if write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").is_err() {
            return;
        }
    }
}

/// A kubeconfig for a server on this port.
pub(crate) fn kubeconfig(folder: &Folder, port: u16) -> String {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: busy\n\
         clusters: [{{name: busy, cluster: {{server: \"http://127.0.0.1:{port}\"}}}}]\n\
         contexts: [{{name: busy, context: {{cluster: busy, user: busy}}}}]\nusers: [{{name: busy, user: {{}}}}]\n"
    );
    folder.file("kubeconfig.yaml", text)
}
