//! The endpoint of a server: checks a request, reads its body, and passes it to the protocol.

use std::convert::Infallible;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpService;

use super::access::Access;
use super::metrics;
use super::sessions::LimitedSessions;

/// The path of the protocol.
pub(super) const PATH: &str = "/mcp";

/// The path of the metrics.
const METRICS_PATH: &str = "/metrics";

/// The media type of the metrics.
const METRICS_TYPE: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4");

/// The maximum size of a request in bytes, the same as for a line of standard input.
pub(super) const REQUEST_BYTES_MAX: usize = 16 << 20;

/// The refusal of a request with a larger body.
const TOO_LARGE: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large");

/// A response to a request.
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The endpoint of a server.
pub(super) struct Endpoint<S> {
    protocol: StreamableHttpService<S, LimitedSessions>,
    access: Access,
    body_time: Duration,
}

impl<S: ServerHandler + Send + 'static> Endpoint<S> {
    /// Creates an endpoint that waits at most `body_time` for the body of a request.
    pub(super) fn new(
        protocol: StreamableHttpService<S, LimitedSessions>,
        access: Access,
        body_time: Duration,
    ) -> Self {
        Self { protocol, access, body_time }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Err((status, reason)) = self.access.check(request.uri(), request.headers()) {
            return refusal(status, reason);
        }
        match request.uri().path() {
            PATH => {}
            METRICS_PATH if request.method() == Method::GET => return metrics(),
            _ => return refusal(StatusCode::NOT_FOUND, "Not Found"),
        }
        let (head, body) = request.into_parts();
        match self.read(body).await {
            Ok(body) => self.protocol.handle(Request::from_parts(head, Full::new(body))).await,
            Err((status, reason)) => refusal(status, reason),
        }
    }

    /// Reads the body of a request.
    async fn read(&self, body: Incoming) -> Result<Bytes, (StatusCode, &'static str)> {
        if body.size_hint().lower() > REQUEST_BYTES_MAX as u64 {
            return Err(TOO_LARGE);
        }
        let read = Limited::new(body, REQUEST_BYTES_MAX).collect();
        match tokio::time::timeout(self.body_time, read).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(TOO_LARGE),
            Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "Bad Request: the body is broken")),
            Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "Request Timeout")),
        }
    }
}

/// Returns the metrics of this process.
fn metrics() -> Answer {
    let text = metrics::recorder().render();
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    answer.headers_mut().insert(CONTENT_TYPE, METRICS_TYPE);
    answer
}

/// Returns a refusal, after which the connection is closed: the body may not have been read.
fn refusal(status: StatusCode, reason: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(reason.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    if status == StatusCode::UNAUTHORIZED {
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}
