//! The server loop. Calls run on other threads, several at a time. If the client cancels a call,
//! the loop no longer waits for it.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig as ServerInfo, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::error::{ToolError, ToolResult, UNKNOWN_PACK};
use super::state::ServerState;
use super::{resources, tools};
use lcp_app::interrupt;
use lcp_app::{Error, ErrorKind, Result};

/// The maximum number of calls that run at the same time. Further calls wait.
const CALLS_MAX: usize = 4;

/// The name of the counter of calls.
#[cfg(feature = "http")]
pub(crate) const CALLS: &str = "lcp_mcp_calls_total";

/// The instructions for clients.
const INSTRUCTIONS: &str = "Packs files and renders them within a token budget. `pack` creates \
    a pack of files, `render` renders it within a budget, and `expand` returns the full text of a \
    block that was shortened. `record_usage`, `should_handoff`, `handoff` and `resume` continue a \
    session in a new one before its context window is full.";

/// The server. Its clones share one state.
#[derive(Clone)]
pub(crate) struct Server {
    state: Arc<ServerState>,
    calls: Arc<Semaphore>,
}

impl Server {
    pub(crate) fn new(state: ServerState) -> Self {
        Self { state: Arc::new(state), calls: Arc::new(Semaphore::new(CALLS_MAX)) }
    }

    /// Runs work off the loop, unless the call is cancelled before the work begins.
    async fn run_cancellable<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&ServerState) -> ToolResult<T> + Send + 'static,
    ) -> ToolResult<T> {
        let done = context.ct.run_until_cancelled(self.run(work)).await;
        done.unwrap_or_else(|| Err(ToolError::cancelled()))
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ServerState) -> ToolResult<T> + Send + 'static,
    ) -> ToolResult<T> {
        let permit = Arc::clone(&self.calls).acquire_owned().await;
        let permit = permit.map_err(|error| ToolError::internal(error.to_string()))?;
        let state = Arc::clone(&self.state);
        let done = tokio::task::spawn_blocking(move || {
            // The work holds the permit until it ends, even if the call has been cancelled.
            let _permit = permit;
            work(&state)
        });
        done.await.unwrap_or_else(|_| {
            let message = "the call failed because of a bug; the server continues to run";
            let hint = "see the standard error of the server for details";
            Err(ToolError::internal(message).with_hint(hint))
        })
    }

    fn note<T>(&self, call: &'static str, outcome: &ToolResult<T>) {
        #[cfg(feature = "http")]
        {
            let outcome = outcome.as_ref().map_or_else(|error| error.code, |_| "ok");
            metrics::counter!(CALLS, "tool" => call, "outcome" => outcome).increment(1);
        }
        let reporter = &self.state.config.reporter;
        match outcome {
            Ok(_) => reporter.note(&format!("{call}: done")),
            Err(error) => {
                reporter.note(&format!("{call}: {} ({})", error.code, error.message));
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let roots = self.state.config.roots.list();
        ServerInfo::new(capabilities)
            .with_server_info(
                Implementation::new("lcp", env!("CARGO_PKG_VERSION")).with_title("LCP"),
            )
            .with_instructions(format!("{INSTRUCTIONS} The server reads files below: {roots}."))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(tool_list())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(|tool| (tool.describe)())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            let message = format!("unknown tool {:?}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let outcome =
            self.run_cancellable(&context, move |state| (tool.call)(state, arguments)).await;
        self.note(tool.name, &outcome);
        Ok(outcome.unwrap_or_else(CallToolResult::from).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.state)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let outcome =
            self.run_cancellable(&context, move |state| resources::read(state, &request.uri)).await;
        self.note("resources/read", &outcome);
        match outcome {
            Ok(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Err(error) => Err(protocol_error(error)),
        }
    }
}

fn tool_list() -> ListToolsResult {
    ListToolsResult::with_all_items(tools::ALL.iter().map(|tool| (tool.describe)()).collect())
}

/// Converts the error of a resource to an error of the protocol.
fn protocol_error(error: ToolError) -> ErrorData {
    let data = Some(error.to_json());
    match error.code {
        UNKNOWN_PACK => ErrorData::resource_not_found(error.message, data),
        "internal" => ErrorData::internal_error(error.message, data),
        _ => ErrorData::invalid_params(error.message, data),
    }
}

/// Starts the runtime of a server.
pub(crate) fn start_runtime() -> Result<Runtime> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Error::new(ErrorKind::Io, format!("cannot start the server: {error}")))
}

/// Serves on standard input and output until the input ends. Running calls then have a few seconds
/// to complete.
///
/// # Errors
///
/// Returns an error if the first message violates the protocol, or if the server fails.
pub fn serve(state: ServerState) -> Result {
    let runtime = start_runtime()?;
    let result = runtime.block_on(serve_on(state, rmcp::transport::stdio()));
    // Do not wait for work of cancelled calls, which would keep the process running.
    runtime.shutdown_background();
    result
}

async fn serve_on<E, A>(
    state: ServerState,
    transport: impl IntoTransport<RoleServer, E, A>,
) -> Result
where
    E: std::error::Error + Send + Sync + 'static,
{
    let result = match Server::new(state).serve(transport).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(server_error(&error)),
        },
        // The client closed the connection before the first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(server_error(&error)),
    };
    // The process ends the calls that take longer, so release their leases here.
    interrupt::run_hooks();
    result
}

fn server_error(error: &impl std::fmt::Display) -> Error {
    let error = error.to_string();
    Error::new(ErrorKind::Io, format!("the server failed: {}", error.escape_debug()))
}

#[cfg(test)]
pub(crate) mod tests;
