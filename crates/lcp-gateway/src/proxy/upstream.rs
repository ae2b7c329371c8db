//! The providers: their addresses, and connections to them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::{HeaderMap, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lcp_app::{Error, ErrorKind, Result};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::body::AnyBody;
use super::patience::BoxError;

/// The time limit for a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// The header of a login with `ChatGPT`.
const CHATGPT: &str = "chatgpt-account-id";

/// The base URL of requests with such a login. It was not tested.
const CHATGPT_URL: &str = "https://chatgpt.com/backend-api/codex";

/// The base URLs of the providers, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// For Anthropic's API.
    pub anthropic: String,
    /// For the others.
    pub openai: String,
    /// `true` if the user configured the latter. Otherwise, requests of a login with `ChatGPT` go to
    /// `ChatGPT`, because they belong to another host.
    pub is_openai_configured: bool,
}

impl Default for Upstream {
    fn default() -> Self {
        Self {
            anthropic: "https://api.anthropic.com".to_owned(),
            openai: "https://api.openai.com".to_owned(),
            is_openai_configured: false,
        }
    }
}

impl Upstream {
    /// Creates the upstream of a gateway that has one for all requests.
    ///
    /// # Errors
    ///
    /// Returns a message if the URL is not one of HTTP or HTTPS, or has a query.
    pub fn one(url: &str) -> Result<Self, String> {
        let url = Self::base(url)?;
        Ok(Self { anthropic: url.clone(), openai: url, is_openai_configured: true })
    }

    /// Checks a base URL. Returns it without a slash at the end.
    ///
    /// # Errors
    ///
    /// Returns a message if it is not one of HTTP or HTTPS, or has a query.
    pub fn base(url: &str) -> Result<String, String> {
        let wrong = || "expected a URL such as https://api.anthropic.com".to_owned();
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        // A password would be sent in no request.
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        if !is_http || uri.host().is_none_or(str::is_empty) || uri.query().is_some() || has_user {
            return Err(wrong());
        }
        Ok(url.trim_end_matches('/').to_owned())
    }

    /// Returns whether the base URL of `OpenAI`'s API has a path.
    pub(crate) fn has_path(&self) -> bool {
        self.openai.split('/').nth(3).is_some()
    }

    /// Returns the URL of a request, or why it cannot be sent. `path` begins with a slash.
    pub(super) fn url(&self, path: &str, headers: &HeaderMap) -> Result<Uri, String> {
        // A key must not reach the other provider.
        let has_header = headers
            .keys()
            .any(|name| name == "x-api-key" || name.as_str().starts_with("anthropic-"));
        let is_anthropic = has_header || path.starts_with("/v1/messages") || path == "/";
        let (base, path) = if is_anthropic {
            (self.anthropic.as_str(), path)
        } else if !self.is_openai_configured && headers.contains_key(CHATGPT) {
            (CHATGPT_URL, path.strip_prefix("/v1").unwrap_or(path))
        } else {
            (self.openai.as_str(), path)
        };
        // Both can have the version of the API.
        let path = match path.strip_prefix("/v1") {
            Some(rest) if base.ends_with("/v1") && rest.starts_with('/') => rest,
            _ => path,
        };
        format!("{base}{path}").parse().map_err(|error| format!("invalid path: {error}"))
    }

    /// Creates a client for the providers.
    pub(super) fn client(&self) -> Result<HttpClient> {
        let needs_tls = [&self.anthropic, &self.openai].iter().any(|url| url.starts_with("https"));
        let connector = Connector {
            http: http_connector(),
            tls: needs_tls.then(tls).transpose()?,
            proxies: Arc::new(proxies()?),
        };
        Ok(Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .build(connector))
    }
}

/// A client for the providers.
pub(super) type HttpClient = Client<Connector, AnyBody>;

/// Returns the proxies of the environment for connections with TLS.
fn proxies() -> Result<Matcher> {
    let variable = |names: [&str; 2]| names.iter().find_map(|name| std::env::var(name).ok());
    let proxy = variable(["HTTPS_PROXY", "https_proxy"]).filter(|url| !url.is_empty());
    let has_other_scheme = |url: &&str| url.contains("://") && !url.starts_with("http://");
    if let Some(url) = proxy.as_deref().filter(has_other_scheme) {
        // The rest can have a password.
        let scheme = url.split("://").next().unwrap_or_default();
        return Err(Error::new(ErrorKind::Usage, format!("HTTPS_PROXY has the scheme {scheme}"))
            .with_hint("use a proxy with an http:// URL"));
    }
    let builder = Matcher::builder().no(variable(["NO_PROXY", "no_proxy"]).unwrap_or_default());
    let builder = match proxy {
        Some(url) => builder.https(url),
        None => builder,
    };
    Ok(builder.build())
}

fn http_connector() -> HttpConnector {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(Duration::from_secs(30)));
    http.set_connect_timeout(Some(CONNECT));
    http
}

/// Returns TLS with the certificates that the system trusts.
fn tls() -> Result<TlsConnector> {
    let mut trusted = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    trusted.add_parsable_certificates(system.certs);
    if trusted.is_empty() {
        return Err(Error::new(ErrorKind::Io, "the system has no trusted certificates")
            .with_hint("install ca-certificates, or set SSL_CERT_FILE"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Io, format!("TLS: {error}")))?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Connects to providers, with TLS and through a proxy if there is one.
#[derive(Clone)]
pub(super) struct Connector {
    http: HttpConnector,
    tls: Option<TlsConnector>,
    proxies: Arc<Matcher>,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut connector = self.clone();
        Box::pin(async move {
            let connected = tokio::time::timeout(CONNECT, connector.connect(uri)).await;
            connected.map_err(|_| BoxError::from("the connection timed out"))?
        })
    }
}

impl Connector {
    async fn connect(&mut self, uri: Uri) -> Result<TokioIo<Box<dyn Stream>>, BoxError> {
        if uri.scheme_str() != Some("https") {
            let stream = self.http.call(uri).await?.into_inner();
            return Ok(TokioIo::new(Box::new(stream)));
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let stream = match self.proxies.intercept(&uri) {
            None => self.http.call(uri).await?,
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), self.http.clone());
                if let Some(password) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(password.clone());
                }
                tunnel.call(uri).await?
            }
        };
        let tls = self.tls.as_ref().ok_or("TLS was not set up")?;
        let stream = tls.connect(ServerName::try_from(host)?, stream.into_inner()).await?;
        Ok(TokioIo::new(Box::new(stream)))
    }
}

/// A connection with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Connection for Box<dyn Stream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_provider_of_their_api() {
        let upstream = Upstream::default();
        let mut headers = HeaderMap::new();
        let url =
            |path: &str, headers: &HeaderMap| upstream.url(path, headers).unwrap().to_string();
        let messages = "https://api.anthropic.com/v1/messages?beta=true";
        assert_eq!(url("/v1/messages?beta=true", &headers), messages);
        assert_eq!(url("/v1/responses", &headers), "https://api.openai.com/v1/responses");
        assert_eq!(url("/v1/models", &headers), "https://api.openai.com/v1/models");
        for name in ["anthropic-version", "anthropic-beta", "x-api-key"] {
            headers = HeaderMap::from_iter([(name.parse().unwrap(), "a".parse().unwrap())]);
            assert_eq!(url("/v1/models", &headers), "https://api.anthropic.com/v1/models");
        }
    }

    #[test]
    fn version_of_the_api_is_sent_once() {
        for (base, path, expected) in [
            ("http://a.example", "/v1/messages", "http://a.example/v1/messages"),
            ("http://a.example/v1", "/v1/messages", "http://a.example/v1/messages"),
            ("http://a.example/v1/", "/chat/completions", "http://a.example/v1/chat/completions"),
            ("http://a.example/x", "/v1/messages", "http://a.example/x/v1/messages"),
            ("http://a.example/v1", "/v1beta/a", "http://a.example/v1/v1beta/a"),
        ] {
            let upstream = Upstream::one(base).unwrap();
            assert_eq!(upstream.url(path, &HeaderMap::new()).unwrap(), expected);
        }
    }

    #[test]
    fn requests_with_a_chatgpt_login_go_to_their_host() {
        let headers = HeaderMap::from_iter([(CHATGPT.parse().unwrap(), "a".parse().unwrap())]);
        let url = Upstream::default().url("/v1/responses?a=b", &headers).unwrap();
        assert_eq!(url, "https://chatgpt.com/backend-api/codex/responses?a=b");
        let one = Upstream::one("https://chatgpt.com/backend-api/codex/").unwrap();
        let url = one.url("/responses", &headers).unwrap();
        assert_eq!(url, "https://chatgpt.com/backend-api/codex/responses");
    }

    #[test]
    fn base_is_a_url_of_http() {
        for wrong in [
            "", "api.anthropic.com", "ftp://a.example", "http://a.example?x=1",
            "https://u:p@a.example", "http://",
        ] {
            assert!(Upstream::one(wrong).is_err(), "{wrong}");
        }
    }
}
