//! The requests of clients: refused, answered by the gateway, or sent to a provider.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::access::Access;
use super::body::{self, AnyBody, ReadError, Tee};
use super::decoding::ResponseReader;
use super::editor::{Context, Editor, SentRequest};
use super::headers::{self, Encoding};
use super::page;
use super::patience::FlushedBody;
use super::recent::Arriving;
use super::upstream::{HttpClient, Upstream};
use crate::request::Api;
use crate::store::Unedited;
use crate::usage::ReportedUsage;

/// The headers of Claude Code, Codex and opencode with the id of a session.
const SESSION_HEADERS: [&str; 4] =
    ["x-claude-code-session-id", "session_id", "session-id", "x-session-id"];

/// The maximum length of an id in a header.
const SESSION_BYTES_MAX: usize = 80;

/// The value of the header `anthropic-beta` that asks for a window of a million tokens.
const LONG_WINDOW: &str = "context-1m";

/// The maximum number of edits at the same time. They share one store, so more would not be faster.
const EDITS: usize = 2;

type Answer = Response<AnyBody>;

/// The endpoint of a gateway.
pub(super) struct Endpoint {
    client: HttpClient,
    upstream: Upstream,
    access: Access,
    editor: Arc<Editor>,
    /// The edits that run at the same time. Further requests wait as bytes, which need less memory.
    edits: Semaphore,
}

impl Endpoint {
    pub(super) fn new(
        client: HttpClient,
        upstream: Upstream,
        access: Access,
        editor: Arc<Editor>,
    ) -> Self {
        Self { client, upstream, access, editor, edits: Semaphore::new(EDITS) }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (parts, incoming) = request.into_parts();
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let target = match self.access.check(target, &parts.headers) {
            Ok(target) => target.to_owned(),
            Err(reason) => return error(StatusCode::FORBIDDEN, reason),
        };
        if parts.method == Method::GET
            && let Some(page) = self.page(&target).await
        {
            return page;
        }
        if headers::is_websocket(&parts.headers) {
            // Only this status makes Codex use HTTP at once.
            return error(StatusCode::UPGRADE_REQUIRED, "this gateway has no WebSocket");
        }
        if !target.starts_with('/') || parts.method == Method::CONNECT {
            return error(StatusCode::BAD_REQUEST, "the target of a request must be a path");
        }
        let api = Api::from_path(&target).filter(|_| parts.method == Method::POST);
        let encoding = headers::encoding(&parts.headers);
        let Some(api) = api else {
            let response = self.send(parts, &target, body::passed(incoming)).await;
            return response.map_or_else(|answer| answer, |response| respond(response, |it, _| it));
        };
        let context = context(&target, &parts.headers);
        if !matches!(encoding, Encoding::Identity | Encoding::Zstd) {
            let sent = SentRequest::unedited(&context, Unedited::Unsupported, Instant::now());
            return self
                .send_unedited(parts, &target, body::passed(incoming), &context, sent)
                .await;
        }
        let mut arriving = self.editor.arriving(api);
        match body::read(incoming, &mut arriving).await {
            Ok(()) => self.send_edited(parts, &target, arriving, api, encoding, context).await,
            Err(ReadError::TooLarge) => {
                error(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")
            }
            Err(ReadError::TooSlow) => error(StatusCode::REQUEST_TIMEOUT, "the body is too slow"),
            Err(ReadError::Broken) => error(StatusCode::BAD_REQUEST, "the body is broken"),
        }
    }

    /// Edits a request of a known API, and sends it.
    async fn send_edited(
        &self,
        parts: Parts,
        target: &str,
        arriving: Arriving<'_>,
        api: Api,
        encoding: Encoding,
        context: Context,
    ) -> Answer {
        let place = self.edits.acquire().await;
        let start = Instant::now();
        let (bytes, arrived) = match tokio::task::block_in_place(|| arriving.finish()) {
            Ok(arrived) => (arrived.text.to_bytes(), Some(arrived)),
            Err(bytes) => (bytes.into(), None),
        };
        // If the client is gone, the request is cancelled.
        let mut sending = JoinSet::new();
        let mut sent = None;
        let edit = || {
            let decoded = || self.editor.read_decoded(api, &body::decode_zstd(&bytes)?);
            let arrived = if encoding == Encoding::Zstd { decoded() } else { arrived };
            let Some(arrived) = arrived else {
                return Some(SentRequest::unedited(&context, Unedited::Unsupported, start));
            };
            self.editor.edit(api, arrived, &context, start, |edited| {
                let mut parts = parts.clone();
                if edited.body.is_some() {
                    parts.headers.remove(CONTENT_ENCODING);
                }
                let body = edited.body.map_or_else(|| body::full(bytes.clone()), body::joined);
                sending.spawn(self.send(parts, target, body));
                sent = Some(edited.sent);
            })
        };
        // A panic must not fail the request.
        let edited = tokio::task::block_in_place(|| catch_unwind(AssertUnwindSafe(edit)));
        let unedited = edited.unwrap_or_else(|_| {
            self.editor.add_failure(&"cannot edit a request: panicked");
            None
        });
        drop(place);
        let Some(sent) = sent else {
            let failed = || SentRequest::unedited(&context, Unedited::Failed, start);
            let sent = unedited.unwrap_or_else(failed);
            return self.send_unedited(parts, target, body::full(bytes), &context, sent).await;
        };
        let response = match sending.join_next().await {
            Some(Ok(Ok(response))) => response,
            Some(Ok(Err(answer))) => return answer,
            _ => {
                return error(
                    StatusCode::BAD_GATEWAY,
                    "cannot send the request: its task ended early",
                );
            }
        };
        self.respond_and_record(response, &context, sent)
    }

    /// Sends a request that cannot be edited.
    async fn send_unedited(
        &self,
        parts: Parts,
        target: &str,
        body: AnyBody,
        context: &Context,
        sent: SentRequest,
    ) -> Answer {
        let response = self.send(parts, target, body).await;
        response.map_or_else(|answer| answer, |it| self.respond_and_record(it, context, sent))
    }

    /// Returns the response for the client. Records the usage when it ends.
    fn respond_and_record(
        &self,
        response: Response<Incoming>,
        context: &Context,
        sent: SentRequest,
    ) -> Answer {
        if context.is_count || !response.status().is_success() {
            return respond(response, |incoming, _| incoming);
        }
        let editor = Arc::clone(&self.editor);
        let on_end = move |usage| record(editor, sent, usage);
        respond(response, |incoming, headers| Tee::new(incoming, usage_reader(headers), on_end))
    }

    /// Sends a request. Returns the response, or an answer about an error.
    fn send(
        &self,
        mut parts: Parts,
        target: &str,
        body: AnyBody,
    ) -> impl Future<Output = Result<Response<Incoming>, Answer>> + Send + use<> {
        let (url, client) = (self.upstream.url(target, &parts.headers), self.client.clone());
        async move {
            parts.uri = url.map_err(|reason| error(StatusCode::BAD_REQUEST, &reason))?;
            let host = parts.uri.authority().map(ToString::to_string).unwrap_or_default();
            headers::clean_request(&mut parts.headers);
            parts.version = hyper::Version::HTTP_11;
            let response = client.request(Request::from_parts(parts, body)).await;
            response.map_err(|failure| {
                let source = std::error::Error::source(&failure).map(ToString::to_string);
                let reason = source.unwrap_or_else(|| failure.to_string());
                let message = format!("cannot reach the provider at {host}: {reason}");
                error(StatusCode::BAD_GATEWAY, &message)
            })
        }
    }

    /// Returns a page of the gateway.
    async fn page(&self, target: &str) -> Option<Answer> {
        let path = target.split('?').next().unwrap_or(target);
        if !matches!(path, "/" | "/lcp" | "/lcp/stats" | "/metrics") {
            return None;
        }
        let editor = Arc::clone(&self.editor);
        let stats = tokio::task::spawn_blocking(move || editor.stats()).await;
        let Ok(Ok(stats)) = stats else {
            return Some(error(StatusCode::INTERNAL_SERVER_ERROR, "cannot read the figures"));
        };
        let (kind, text) = match path {
            "/metrics" => {
                ("text/plain; version=0.0.4", page::metrics(&stats, self.editor.failures()))
            }
            "/lcp/stats" => ("application/json", page::json(&stats)),
            _ => ("text/html; charset=utf-8", page::html(&stats, self.editor.failures())),
        };
        let mut answer = Response::new(body::full(text));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Some(answer)
    }
}

/// Records the usage of a request when its response has ended.
fn record(editor: Arc<Editor>, sent: SentRequest, usage: Option<ReportedUsage>) {
    // The runtime is gone if the gateway stops.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let recorder = Arc::clone(&editor);
        let record = runtime.spawn_blocking(move || recorder.record(sent, usage));
        runtime.spawn(async move {
            if record.await.is_err_and(|error| error.is_panic()) {
                editor.add_failure(&"cannot record the usage of a request: panicked");
            }
        });
    }
}

/// Returns the facts that the headers of a request tell.
fn context(target: &str, headers: &HeaderMap) -> Context {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let session = SESSION_HEADERS.iter().find_map(|name| text(name));
    let is_plain = |id: &&str| {
        (1..=SESSION_BYTES_MAX).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let betas = headers.get_all("anthropic-beta").iter();
    let has_long_window =
        betas.filter_map(|value| value.to_str().ok()).any(|value| value.contains(LONG_WINDOW));
    let path = target.split('?').next().unwrap_or(target);
    Context {
        session: session.filter(is_plain).map(str::to_owned),
        has_long_window,
        is_count: path.trim_end_matches('/').ends_with("/count_tokens"),
    }
}

/// Returns a reader for a response, if its encoding and type can be read.
fn usage_reader(headers: &HeaderMap) -> Option<ResponseReader> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok())?;
    let is_stream = kind.starts_with("text/event-stream");
    let is_json = kind.starts_with("application/json");
    let encoding = headers::encoding(headers);
    (is_stream || is_json).then(|| ResponseReader::new(encoding, is_stream)).flatten()
}

/// Returns the response of a provider for the client.
fn respond<B>(response: Response<Incoming>, body: impl FnOnce(Incoming, &HeaderMap) -> B) -> Answer
where
    B: Body<Data = Bytes, Error = hyper::Error> + Send + Unpin + 'static,
{
    let (mut parts, incoming) = response.into_parts();
    let body = AnyBody::new(FlushedBody::new(body(incoming, &parts.headers)));
    headers::remove_hop_by_hop(&mut parts.headers);
    parts.version = hyper::Version::HTTP_11;
    // The reason phrase and the case of headers of the provider's connection do not apply here.
    parts.extensions.clear();
    Response::from_parts(parts, body)
}

/// Returns an error of the gateway, in a form that the clients of all APIs show.
fn error(status: StatusCode, message: &str) -> Answer {
    let json = serde_json::json!({
        "type": "error",
        "error": { "type": "lcp_gateway_error", "message": format!("lcp gateway: {message}") },
    });
    let mut answer = Response::new(body::full(json.to_string()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // The body of the request may not have been read.
    headers.insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
    answer
}
