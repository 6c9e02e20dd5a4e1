//! Formats of the services: what a request asks for, and an answer as its service writes it.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::call::Service;
use crate::fault::Fault;
use crate::{eks, form, xml};

const REQUEST_ID: &str = "59dbff89-35bd-4eac-99ed-be587EXAMPLE";

/// The operation of a request, and its input as a tree.
pub(crate) fn read(
    service: Service,
    path: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> (String, Value) {
    match service {
        Service::Ec2 | Service::Iam | Service::Sts => {
            let input = form::tree(body);
            let operation = input["Action"].as_str().unwrap_or_default().to_owned();
            (operation, input)
        }
        Service::Pricing | Service::Sqs | Service::Ssm => {
            let target = headers.get("x-amz-target");
            let target = target.and_then(|target| target.to_str().ok());
            let operation = target.and_then(|target| target.split('.').nth(1));
            let input = serde_json::from_slice(body).unwrap_or_default();
            (operation.unwrap_or_default().to_owned(), input)
        }
        Service::Eks => eks::operation(path),
    }
}

/// An answer in the format of its service.
pub(crate) fn written(
    service: Service,
    operation: &str,
    answered: &Result<Value, Fault>,
) -> Response<Bytes> {
    let status = answered.as_ref().err().map_or(200, |fault| fault.status);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let (kind, text) = match service {
        Service::Ec2 => ("text/xml;charset=UTF-8", of_ec2(operation, answered)),
        Service::Iam => {
            let namespace = "https://iam.amazonaws.com/doc/2010-05-08/";
            ("text/xml", of_query(operation, answered, namespace))
        }
        Service::Sts => {
            let namespace = "https://sts.amazonaws.com/doc/2011-06-15/";
            ("text/xml", of_query(operation, answered, namespace))
        }
        Service::Pricing | Service::Ssm => ("application/x-amz-json-1.1", of_json(answered)),
        Service::Sqs => ("application/x-amz-json-1.0", of_json(answered)),
        Service::Eks => ("application/json", of_json(answered)),
    };
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert("x-amzn-requestid", HeaderValue::from_static(REQUEST_ID));
    let error = answered.as_ref().err();
    let named = error.and_then(|fault| error_header(service, fault));
    headers.extend(named);
    response
}

/// The header that names an error, where a service has one. SQS says by it what the error was called when it still spoke XML.
fn error_header(service: Service, fault: &Fault) -> Option<(header::HeaderName, HeaderValue)> {
    let (name, text) = match service {
        Service::Eks => ("x-amzn-errortype", fault.code.clone()),
        Service::Sqs => {
            let code = match fault.code.as_str() {
                "QueueDoesNotExist" => "AWS.SimpleQueueService.NonExistentQueue".to_owned(),
                other if other.contains("Batch") => format!("AWS.SimpleQueueService.{other}"),
                other => other.to_owned(),
            };
            ("x-amzn-query-error", format!("{code};Sender"))
        }
        _ => return None,
    };
    let name = header::HeaderName::from_static(name);
    Some((name, HeaderValue::from_str(&text).ok()?))
}

fn of_ec2(operation: &str, answered: &Result<Value, Fault>) -> String {
    match answered {
        Ok(tree) => {
            let inner = xml::elements(tree, "item");
            let id = xml::element("requestId", REQUEST_ID);
            let namespace = "http://ec2.amazonaws.com/doc/2016-11-15/";
            format!("<{operation}Response xmlns=\"{namespace}\">{id}{inner}</{operation}Response>")
        }
        Err(fault) => {
            let errors = xml::element("Errors", &xml::element("Error", &words(fault)));
            let id = xml::element("RequestID", REQUEST_ID);
            xml::element("Response", &format!("{errors}{id}"))
        }
    }
}

fn of_query(operation: &str, answered: &Result<Value, Fault>, namespace: &str) -> String {
    let id = xml::element("RequestId", REQUEST_ID);
    match answered {
        Ok(tree) => {
            let result = format!("{operation}Result");
            let inner = xml::element(&result, &xml::elements(tree, "member"));
            let id = xml::element("ResponseMetadata", &id);
            format!("<{operation}Response xmlns=\"{namespace}\">{inner}{id}</{operation}Response>")
        }
        Err(fault) => {
            let kind = xml::element("Type", "Sender");
            let error = xml::element("Error", &format!("{kind}{}", words(fault)));
            format!("<ErrorResponse xmlns=\"{namespace}\">{error}{id}</ErrorResponse>")
        }
    }
}

fn words(fault: &Fault) -> String {
    let mut message = String::new();
    xml::escape(&mut message, &fault.message);
    let code = xml::element("Code", &fault.code);
    format!("{code}{}", xml::element("Message", &message))
}

fn of_json(answered: &Result<Value, Fault>) -> String {
    match answered {
        Ok(tree) => tree.to_string(),
        Err(fault) => json!({"__type": fault.code, "message": fault.message}).to_string(),
    }
}

/// An answer to what is no request of a service.
pub(crate) fn plain(status: StatusCode, words: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(words));
    *response.status_mut() = status;
    response
}
