//! The gateway as a server, between a client and a provider.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lcp_app::config::Config;
use lcp_gateway::{Api, EditOptions, Gateway, ProxyOptions, Upstream, read_stats};

use crate::histories::{Step, lines, request};
use crate::upstream::{Message, Provider, respond, send, send_as};

/// Starts a gateway.
pub(crate) fn gateway(
    provider: &str,
    data: &Path,
    change: impl FnOnce(&mut ProxyOptions),
) -> Gateway {
    let edits = EditOptions {
        data: data.to_owned(),
        budget: None,
        dry_run: false,
        keep_days: 7,
        settings: Config::default(),
    };
    let mut options = ProxyOptions {
        address: "127.0.0.1:0".parse().unwrap(),
        token: None,
        upstream: Upstream::one(provider).unwrap(),
        edits,
    };
    change(&mut options);
    Gateway::start(options).unwrap()
}

pub(crate) const fn path(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "/v1/messages?beta=true",
        Api::OpenAiChat => "/v1/chat/completions",
        Api::OpenAiResponses => "/v1/responses",
    }
}

pub(crate) const APIS: [Api; 3] = [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses];

/// A session that reads files, some of them twice.
fn session() -> Vec<Step> {
    let mut steps = vec![Step::Turn("Read the files.".into())];
    for at in 0..24 {
        if at % 6 == 5 {
            steps.push(Step::Turn(format!("And {at}?")));
        }
        let start = if at % 4 == 3 { 20 } else { at * 60 };
        steps.push(Step::Call { input: "a.txt".into(), output: lines(0, start, start + 60) });
    }
    steps
}

/// Sends a session, request by request. Returns the bodies that the provider received.
fn send_session(
    api: Api,
    gateway: &Gateway,
    provider: &Provider,
    ends: std::ops::RangeInclusive<usize>,
) {
    let steps = session();
    for end in ends {
        let body = request(api, &steps[..end]);
        let response = send(&gateway.url(), path(api), &[], &body);
        let text = String::from_utf8_lossy(&response.body);
        assert_eq!(response.status(), 200, "{text}");
        assert!(response.is_complete);
    }
    assert!(!provider.requests().is_empty());
}

pub(crate) fn bodies(provider: &Provider) -> Vec<Vec<u8>> {
    provider.requests().into_iter().map(|request| request.body).collect()
}

#[test]
fn strict_provider_accepts_every_request() {
    for api in APIS {
        let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
        let gateway = gateway(&provider.url, folder.path(), |it| it.edits.budget = Some(8_000));
        let count = session().len();
        send_session(api, &gateway, &provider, 1..=count);
        let longest = request(api, &session()).len();
        assert!(bodies(&provider).last().unwrap().len() < longest / 2, "{api:?}");
        drop(gateway);
        let stats = read_stats(folder.path(), false).unwrap();
        assert_eq!(stats.total.requests, count as u64);
        assert_eq!(stats.total.requests_without_usage, 0);
        assert!(stats.total.edits["duplicate"] > 0 && stats.total.edits["over_budget"] > 0);
    }
}

#[test]
fn restart_within_a_session_changes_no_byte() {
    let api = Api::Anthropic;
    let folder = tempfile::tempdir().unwrap();
    // Stubs have the path of this folder, and the tokens of the path decide how much is cut.
    let data = folder.path().join("data");
    let (provider, other) = (Provider::strict(), Provider::strict());
    let budget = |it: &mut ProxyOptions| it.edits.budget = Some(8_000);
    let count = session().len();
    send_session(api, &gateway(&provider.url, &data, budget), &provider, 1..=count);
    std::fs::remove_dir_all(&data).unwrap();
    for end in 1..=count {
        send_session(api, &gateway(&other.url, &data, budget), &other, end..=end);
    }
    assert_eq!(bodies(&provider), bodies(&other));
}

#[test]
fn unchanged_requests_are_identical() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let steps = [
        Step::Turn("Read it.".into()),
        Step::Call { input: "a.txt".into(), output: lines(0, 0, 200) },
    ];
    let body = request(Api::Anthropic, &steps);
    let zstd = zstd::encode_all(&body[..], 3).unwrap();
    let headers = [
        ("X-Api-Key", "sk-1"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "a,b"),
        ("accept-encoding", "gzip, br"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
    ];
    let encoded = [&headers[..], &[("content-encoding", "zstd")]].concat();
    send(&gateway.url(), "/v1/messages?beta=true", &headers, &body);
    send(&gateway.url(), "/v1/messages?beta=true", &encoded, &zstd);
    send(&gateway.url(), "/v1/messages", &headers, b"{not JSON");
    send(&gateway.url(), "/v1/files?x=%20y", &headers, &body);
    send_as("PUT", &gateway.url(), "/v1/other", &headers, b"\0\xFF");
    let requests = provider.requests();
    let sent: Vec<_> = requests.iter().map(|it| &it.body[..]).collect();
    assert_eq!(sent, [&body[..], &zstd, b"{not JSON", &body, b"\0\xFF"]);
    assert_eq!(requests[3].line, "POST /v1/files?x=%20y HTTP/1.1");
    assert_eq!(requests[4].line, "PUT /v1/other HTTP/1.1");
    assert_eq!(requests[1].header("content-encoding"), Some("zstd"));
    for request in &requests {
        assert_eq!(request.header("x-api-key"), Some("sk-1"));
        assert_eq!(request.header("anthropic-beta"), Some("a,b"));
        assert_eq!(request.header("accept-encoding"), Some("gzip, br"));
        assert_eq!(request.header("x-hop"), None);
        assert_eq!(request.header("host"), provider.url.strip_prefix("http://"));
    }
}

#[test]
fn edited_zstd_body_is_sent_without_an_encoding() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let read = || Step::Call { input: "a.txt".into(), output: lines(0, 0, 60) };
    let body = request(Api::OpenAiResponses, &[Step::Turn("Read it.".into()), read(), read()]);
    let zstd = zstd::encode_all(&body[..], 3).unwrap();
    send(&gateway.url(), "/v1/responses", &[("content-encoding", "zstd")], &zstd);
    let [request] = &provider.requests()[..] else { panic!() };
    assert_eq!(request.header("content-encoding"), None);
    assert!(request.body.len() < body.len() && request.body.starts_with(b"{"));
}

#[test]
fn bodies_above_the_limit_are_refused_and_those_that_decode_to_more_are_passed() {
    let provider =
        Provider::start(|_, stream| respond(stream, "200 OK", "application/json", b"{}"));
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let limit = 100 << 20;
    let address = gateway.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = limit + 1;
    write!(
        stream,
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n"
    )
    .unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
    let zstd = zstd::encode_all(&vec![b' '; limit + 1][..], 3).unwrap();
    let headers = [("content-encoding", "zstd")];
    assert_eq!(send(&gateway.url(), "/v1/messages", &headers, &zstd).status(), 200);
    assert_eq!(bodies(&provider), [zstd]);
}

#[test]
fn keys_and_unedited_results_are_not_stored() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let read = |file| Step::Call { input: "a.txt".into(), output: lines(file, 0, 60) };
    let steps = [Step::Turn("Read it for Ms Miller.".into()), read(1), read(2), read(2)];
    let headers = [("x-api-key", "sk-secret"), ("authorization", "Bearer sk-secret")];
    let body = request(Api::Anthropic, &steps);
    assert_eq!(send(&gateway.url(), "/v1/messages", &headers, &body).status(), 200);
    drop(gateway);
    let mut stored = Vec::new();
    for folder in [folder.path().to_owned(), folder.path().join("originals")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                stored.extend(std::fs::read(path).unwrap());
            }
        }
    }
    let has = |text: &str| stored.windows(text.len()).any(|part| part == text.as_bytes());
    // The original of the reference.
    assert!(has("line 7 of file 2"));
    for text in ["sk-secret", "line 7 of file 1", "Ms Miller"] {
        assert!(!has(text), "{text}");
    }
}

/// Writes the response to a request.
type Answer = fn(&Message, &mut TcpStream);

/// Sends a request to a provider with this response, directly and through a gateway. Returns both.
fn responses(respond: Answer) -> [Message; 2] {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(respond);
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
    let close = [("x-test-close", "1")];
    [&provider.url, &gateway.url()].map(|url| send(url, "/v1/messages", &close, &body))
}

/// Writes a stream of events in chunks, some of them in the middle of a line.
pub(crate) fn stream(stream: &mut TcpStream, events: &[&str], is_complete: bool) {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    for event in events {
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(30));
    }
    if is_complete {
        stream.write_all(b"0\r\n\r\n").unwrap();
    }
}

pub(crate) const EVENTS: [&str; 3] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input",
    "_tokens\":5,\"output_tokens\":1}}}\n\n",
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
];

#[test]
fn responses_are_passed_unchanged() {
    let cases: [(Answer, bool); 8] = [
        (
            |_, out| {
                respond(
                    out, "400 Bad Request", "application/json",
                    b"{\"error\": {\"message\":\"x\"} }",
                );
            },
            true,
        ),
        (|_, out| respond(out, "401 Unauthorized", "text/plain", b"no"), true),
        (|_, out| respond(out, "429 Too Many Requests", "application/json", b"{}"), true),
        (|_, out| respond(out, "529 Overloaded", "application/json", b"{ }"), true),
        (|_, out| stream(out, &EVENTS, true), true),
        // The provider is slow.
        (
            |_, out| {
                std::thread::sleep(Duration::from_millis(500));
                out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{").unwrap();
                std::thread::sleep(Duration::from_millis(500));
                out.write_all(b"}").unwrap();
            },
            true,
        ),
        // The connection is cut.
        (|_, out| stream(out, &EVENTS[..2], false), false),
        (
            |_, out| out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc").unwrap(),
            false,
        ),
    ];
    for (respond, is_complete) in cases {
        let [direct, passed] = responses(respond);
        assert_eq!(direct.status(), passed.status());
        assert_eq!(direct.body, passed.body);
        assert_eq!((direct.is_complete, passed.is_complete), (is_complete, is_complete));
        for name in ["content-type", "request-id", "content-length"] {
            assert_eq!(direct.header(name), passed.header(name));
        }
    }
}

/// A provider can fail directly after an event.
#[test]
fn cut_responses_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(|_, out| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let chunk = "transfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n";
        out.write_all(format!("{head}{chunk}").as_bytes()).unwrap();
    });
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
    for _ in 0..40 {
        let response = send(&gateway.url(), "/v1/messages", &[("x-test-close", "1")], &body);
        assert_eq!((&response.body[..], response.is_complete), (&b"data:"[..], false));
    }
}

#[test]
fn events_arrive_before_the_stream_ends() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(|_, out| {
        stream(out, &EVENTS[..1], false);
        std::thread::sleep(Duration::from_secs(30));
    });
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let host = gateway.url();
    let host = host.strip_prefix("http://").unwrap();
    let mut client = TcpStream::connect(host).unwrap();
    let body = String::from_utf8(request(Api::Anthropic, &[Step::Turn("hello".into())])).unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let start = Instant::now();
    let mut read = String::new();
    while !read.contains("message_start") {
        let mut buffer = [0; 1024];
        let count = std::io::Read::read(&mut client, &mut buffer).unwrap();
        read.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Sends a request whose edit fails, because there is a file in place of the folder of the originals. Returns its
/// body and the path of that file.
pub(crate) fn send_failing(gateway: &Gateway, provider: &Provider) -> (Vec<u8>, PathBuf) {
    let originals = gateway.originals();
    std::fs::remove_dir(&originals).unwrap();
    std::fs::write(&originals, "").unwrap();
    let read = || Step::Call { input: "a.txt".into(), output: lines(0, 0, 60) };
    let body = request(Api::Anthropic, &[Step::Turn("Read it.".into()), read(), read()]);
    assert_eq!(send(&gateway.url(), "/v1/messages", &[], &body).status(), 200);
    assert_eq!((bodies(provider), gateway.failures()), (vec![body.clone()], 1));
    (body, originals)
}

#[test]
fn failing_store_sends_the_original() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let (body, originals) = send_failing(&gateway, &provider);
    let metrics = send_as("GET", &gateway.url(), "/metrics", &[], b"");
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(metrics.contains("\nlcp_gateway_failures_total 1\n"), "{metrics}");
    // The store works again.
    std::fs::remove_file(&originals).unwrap();
    std::fs::create_dir(&originals).unwrap();
    send(&gateway.url(), "/v1/messages", &[], &body);
    assert!(bodies(&provider)[1].len() < body.len());
}

#[test]
fn missing_original_that_cannot_be_written_sends_the_text() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let read = || Step::Call { input: "a.txt".into(), output: lines(0, 0, 60) };
    let body = request(Api::Anthropic, &[Step::Turn("Read it.".into()), read(), read()]);
    let first = gateway(&provider.url, folder.path(), |_| {});
    send(&first.url(), "/v1/messages", &[], &body);
    let originals = first.originals();
    drop(first);
    let second = gateway(&provider.url, folder.path(), |_| {});
    std::fs::remove_dir_all(&originals).unwrap();
    std::fs::write(&originals, "").unwrap();
    send(&second.url(), "/v1/messages", &[], &body);
    let bodies = bodies(&provider);
    assert!(bodies[0].len() < body.len() && bodies[1] == body);
}

#[test]
fn decisions_that_cannot_be_stored_are_repeated() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let steps = session();
    let body = |end: usize| request(Api::Anthropic, &steps[..end]);
    send(&gateway.url(), "/v1/messages", &[], &body(2));
    let store = rusqlite::Connection::open(folder.path().join("gateway.sqlite")).unwrap();
    let fail =
        "CREATE TRIGGER fail BEFORE INSERT ON decisions BEGIN SELECT RAISE(ABORT, 'full'); END";
    store.execute_batch(fail).unwrap();
    for end in 3..=5 {
        assert_eq!(send(&gateway.url(), "/v1/messages", &[], &body(end)).status(), 200);
        assert_eq!(gateway.failures(), end as u64 - 2);
    }
    store.execute_batch("DROP TRIGGER fail").unwrap();
    send(&gateway.url(), "/v1/messages", &[], &body(6));
    let sent = bodies(&provider);
    assert_eq!(sent.len(), 5);
    assert!(sent[3].len() < body(5).len(), "the result has a reference");
    let messages = |body: &[u8]| {
        let body: serde_json::Value = serde_json::from_slice(body).unwrap();
        let mut texts = Vec::new();
        for message in body["messages"].as_array().unwrap() {
            texts.push(message["content"][0]["content"].clone());
        }
        texts
    };
    for pair in sent.windows(2) {
        assert!(messages(&pair[1]).starts_with(&messages(&pair[0])));
    }
}

#[test]
fn dry_run_sends_everything_unchanged() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |it| {
        (it.edits.dry_run, it.edits.budget) = (true, Some(8_000));
    });
    let steps = session();
    for end in 1..=steps.len() {
        let body = request(Api::Anthropic, &steps[..end]);
        send(&gateway.url(), "/v1/messages", &[], &body);
        assert_eq!(bodies(&provider).last(), Some(&body));
    }
    drop(gateway);
    let stats = read_stats(folder.path(), true).unwrap();
    assert!(stats.dry_run && stats.total.edits["over_budget"] > 0);
    let (with, without) = (stats.total.cost_with_edits, stats.total.cost_without_edits);
    assert!(with < without && with > without / 4, "{with} {without}");
    let error = read_stats(folder.path(), false).unwrap_err();
    assert!(error.hint.is_some_and(|hint| hint.contains("--dry-run")));
    let originals = folder.path().join("dry-run/originals");
    assert!(!originals.exists() || originals.read_dir().unwrap().next().is_none());
}

#[test]
fn counting_tokens_decides_nothing() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let read = || Step::Call { input: "a.txt".into(), output: lines(0, 0, 60) };
    let body = request(Api::Anthropic, &[Step::Turn("Read it.".into()), read(), read()]);
    for target in ["/v1/messages/count_tokens", "/v1/messages"] {
        send(&gateway.url(), target, &[], &body);
    }
    let bodies = bodies(&provider);
    assert_eq!(bodies[0], bodies[1]);
    drop(gateway);
    assert_eq!(read_stats(folder.path(), false).unwrap().total.requests, 1);
}

#[test]
fn upgrades_hosts_and_tokens_are_checked() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let open = gateway(&provider.url, folder.path(), |_| {});
    let upgrade = [("connection", "upgrade"), ("upgrade", "websocket")];
    assert_eq!(send_as("GET", &open.url(), "/v1/responses", &upgrade, b"").status(), 426);
    let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
    let ok =
        send(&open.url(), "/v1/messages", &[("connection", "upgrade"), ("upgrade", "h2c")], &body);
    assert_eq!(ok.status(), 200);
    let closed =
        gateway(&provider.url, folder.path(), |it| it.token = Some("t0ken".parse().unwrap()));
    assert_eq!(send(&closed.url(), "/v1/messages", &[], &body).status(), 403);
    assert_eq!(send(&closed.url(), "/~t0ken/v1/messages", &[], &body).status(), 200);
    assert_eq!(
        send(&closed.url(), "/v1/messages", &[("x-lcp-token", "t0ken")], &body).status(),
        200
    );
    let last = provider.requests().pop().unwrap();
    assert_eq!(last.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(last.header("x-lcp-token"), None);
    assert_eq!(provider.requests().len(), 3);
}

#[test]
fn unreachable_provider_is_a_bad_gateway() {
    let folder = tempfile::tempdir().unwrap();
    // Nothing listens there. The system could give the port of a closed listener to another test.
    let gateway = gateway("http://127.0.0.1:1", folder.path(), |_| {});
    let response = send(&gateway.url(), "/v1/messages", &[], b"{}");
    assert_eq!(response.status(), 502);
    let body: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    let message = body["error"]["message"].as_str().unwrap();
    let start = "lcp gateway: cannot reach the provider at 127.0.0.1:1: ";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn pages_show_the_figures() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), Provider::strict());
    let gateway = gateway(&provider.url, folder.path(), |_| {});
    let body = request(Api::Anthropic, &[Step::Turn("hello".into())]);
    send(&gateway.url(), "/v1/messages", &[], &body);
    let start = Instant::now();
    let page = loop {
        let page = send_as("GET", &gateway.url(), "/lcp/stats", &[], b"");
        let page: serde_json::Value = serde_json::from_slice(&page.body).unwrap();
        if page["total"]["requests"] == 1 || start.elapsed() > Duration::from_secs(10) {
            break page;
        }
    };
    assert_eq!(page["total"]["read_tokens"], 1_000);
    let html = send_as("GET", &gateway.url(), "/", &[], b"");
    assert!(String::from_utf8(html.body).unwrap().contains("<td>1000<td>"));
    // No page was asked of the provider.
    assert_eq!(provider.requests().len(), 1);
}
