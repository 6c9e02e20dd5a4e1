//! Waiting: for a condition, with a deadline, asking again at short intervals.

use std::time::Duration;

use kube::{Client, Config};
use tokio::time::{Instant, timeout};

use crate::error::LabError;

/// Between two questions. Short beside what is waited for, long beside what a question costs.
const INTERVAL: Duration = Duration::from_millis(100);

/// Asks until there is an answer, at most for `deadline`. Errors of the API server count as "not yet": watches and retries of
/// a busy control plane are part of what is waited for; the last one is told when time runs out.
pub async fn until<T>(
    what: &str,
    deadline: Duration,
    mut ask: impl AsyncFnMut() -> Result<Option<T>, kube::Error>,
) -> Result<T, LabError> {
    let start = Instant::now();
    loop {
        let last = match timeout(deadline, ask()).await {
            Ok(Ok(Some(answer))) => return Ok(answer),
            Ok(Ok(None)) => "not yet so".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        if start.elapsed() >= deadline {
            return Err(LabError::Deadline {
                what: what.to_owned(),
                waited: deadline,
                last,
            });
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Ends `work` when `deadline` has passed.
pub(crate) async fn within<T>(
    deadline: Duration,
    what: &str,
    work: impl Future<Output = Result<T, LabError>>,
) -> Result<T, LabError> {
    let late = || LabError::Deadline {
        what: what.to_owned(),
        waited: deadline,
        last: "still starting".to_owned(),
    };
    timeout(deadline, work)
        .await
        .unwrap_or_else(|_| Err(late()))
}

/// Waits until a program answers `path` with success, or `alive` says that it never will.
/// The certificate is not looked at: it is one that the program made for itself a moment ago.
pub(crate) async fn answers(
    address: &str,
    path: &str,
    token: &str,
    alive: impl Fn() -> Result<(), LabError>,
) -> Result<(), LabError> {
    let client = probe(address, token)?;
    loop {
        let request = http::Request::get(path)
            .body(Vec::new())
            .expect("a path of ours is a valid target");
        if let Ok(Ok(_)) = timeout(Duration::from_secs(5), client.request_text(request)).await {
            return Ok(());
        }
        alive()?;
        tokio::time::sleep(INTERVAL).await;
    }
}

fn probe(address: &str, token: &str) -> Result<Client, LabError> {
    let mut config = Config::new(address.parse().expect("an address of ours is a valid URL"));
    config.accept_invalid_certs = true;
    // Between two questions we look whether the program still lives.
    config.default_retry = false;
    if address.starts_with("https") {
        config.auth_info.token = Some(token.to_owned().into());
    }
    Ok(Client::try_from(config)?)
}
