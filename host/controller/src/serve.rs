//! The process's own HTTP servers: probes on one port, metrics on another. Every process serves them, whether it leads or not.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::telemetry::Telemetry;

/// The type of the text of metrics.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// Connections of one server at the same time; more wait.
const CONNECTIONS: usize = 64;
/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server, and what it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// `/healthz` and `/readyz`.
    Probes,
    /// `/metrics`.
    Metrics,
}

/// Takes a port on an address, or on all that this machine has; port 0 takes any that is free.
pub async fn listen(address: Option<IpAddr>, port: u16) -> io::Result<TcpListener> {
    if let Some(address) = address {
        return TcpListener::bind((address, port)).await;
    }
    // IPv4 is among these, too; a machine without IPv6 has none of them.
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await
        }
        taken => taken,
    }
}

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, served: Served, telemetry: Telemetry) {
    let mut connections: JoinSet<()> = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS {
            connections.join_next().await;
        }
        // A connection that cannot be taken is its client's to try again.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let telemetry = telemetry.clone();
        connections.spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let telemetry = telemetry.clone();
                async move {
                    let answer = answer(served, request.uri().path(), &telemetry).await;
                    Ok::<_, Infallible>(answer)
                }
            });
            let connection = Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), answer);
            // How a connection ended is told to its client, by its end.
            let _ = connection.await;
        });
    }
}

async fn answer(served: Served, path: &str, telemetry: &Telemetry) -> Response<Full<Bytes>> {
    let (status, kind, text) = match (served, path) {
        (Served::Probes, "/healthz") => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
        (Served::Probes, "/readyz") => {
            let (is_ready, text) = telemetry.readiness();
            let status = if is_ready {
                StatusCode::OK
            } else {
                StatusCode::SERVICE_UNAVAILABLE
            };
            (status, PLAIN, text)
        }
        (Served::Metrics, "/metrics") => (StatusCode::OK, PROMETHEUS, telemetry.metrics().await),
        _ => (StatusCode::NOT_FOUND, PLAIN, "not found\n".to_owned()),
    };
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    let kind = header::HeaderValue::from_static(kind);
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    async fn get(port: u16, path: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn probes_and_metrics_are_answered_each_on_its_port() {
        let telemetry = Telemetry::default();
        let mut tasks = JoinSet::new();
        let mut ports = Vec::new();
        for served in [Served::Probes, Served::Metrics] {
            let listener = listen(Some(Ipv4Addr::LOCALHOST.into()), 0).await.unwrap();
            ports.push(listener.local_addr().unwrap().port());
            tasks.spawn(serve(listener, served, telemetry.clone()));
        }
        let [probes, metrics] = ports[..] else {
            panic!("{ports:?}")
        };
        assert!(get(probes, "/healthz").await.starts_with("HTTP/1.1 200 "));
        assert!(get(probes, "/readyz").await.starts_with("HTTP/1.1 200 "));
        assert!(get(probes, "/metrics").await.starts_with("HTTP/1.1 404 "));
        assert!(get(metrics, "/healthz").await.starts_with("HTTP/1.1 404 "));
        telemetry.unready(vec!["no right to list pods".to_owned()]);
        let unready = get(probes, "/readyz").await;
        assert!(
            unready.starts_with("HTTP/1.1 503 ") && unready.ends_with("no right to list pods\n")
        );
        telemetry.set("leader_election_master_status", &[("name", "lease")], 1.0);
        let text = get(metrics, "/metrics").await;
        assert!(
            text.contains("leader_election_master_status{name=\"lease\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("version=0.0.4"), "{text}");
    }
}
