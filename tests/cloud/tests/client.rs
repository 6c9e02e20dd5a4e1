//! A client that signs for a service and reads answers as text.

use std::io;

use plimsoll_cloud::{Cloud, Options, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A cloud with a demo world.
pub(crate) async fn cloud() -> Cloud {
    let options = Options {
        port: 0,
        world: World::demo("demo"),
    };
    Cloud::start(options).await.expect("a free port")
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its HTTP status.
    pub(crate) status: u16,
    /// Its headers in lower case.
    pub(crate) head: String,
    /// Its text.
    pub(crate) body: String,
}

impl Answer {
    /// The text of the first element of a name.
    pub(crate) fn element(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
    }

    /// How many elements of a name there are.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.body.matches(&format!("<{name}>")).count()
    }
}

/// Sends a request and reads to the end of the connection. Fails where it is closed without an answer.
pub(crate) async fn send(
    cloud: &Cloud,
    service: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<Answer> {
    let host = cloud.url().replace("http://", "");
    let mut stream = TcpStream::connect(&host).await?;
    let scope = format!("KEY/20260101/us-east-1/{service}/aws4_request");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let lost = || io::Error::new(io::ErrorKind::UnexpectedEof, "closed without an answer");
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(lost)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    Ok(Answer {
        status: status.ok_or_else(lost)?,
        head: head.to_lowercase(),
        body: body.to_owned(),
    })
}

/// A call of a query service.
pub(crate) async fn query(cloud: &Cloud, service: &str, form: &str) -> io::Result<Answer> {
    let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
    send(cloud, service, "POST", "/", headers, form).await
}

/// A call of EC2 that is answered.
pub(crate) async fn ec2(cloud: &Cloud, form: &str) -> Answer {
    query(cloud, "ec2", form).await.expect("an answer")
}

/// A call of a JSON service that is answered.
pub(crate) async fn json(cloud: &Cloud, service: &str, target: &str, body: &str) -> Answer {
    let headers = format!("Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: {target}\r\n");
    let answered = send(cloud, service, "POST", "/", &headers, body).await;
    answered.expect("an answer")
}
