//! The loop: calls are done off it, some at once, and stop being awaited when the client
//! cancels them.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::desk::Desk;
use super::fault::{Fault, Outcome, UNKNOWN_PACK};
use super::{resources, tools};
use crate::Result;
use crate::failure::{Code, Failure};
use lcp_app::interrupt;

/// Calls that are done at once; others wait.
const CALLS_MAX: usize = 4;

/// What a client is told of this server.
const INSTRUCTIONS: &str = "Context within a budget of tokens. `pack` makes a pack of files, \
    `render` shows it within a budget, `expand` gives a block in full that was shown in part. \
    `record_usage`, `should_handoff`, `handoff` and `resume` carry a session over to the next.";

/// What answers; clones share everything.
#[derive(Clone, Debug)]
pub(super) struct Server {
    desk: Arc<Desk>,
    calls: Arc<Semaphore>,
}

impl Server {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk: Arc::new(desk), calls: Arc::new(Semaphore::new(CALLS_MAX)) }
    }

    /// Does work off the loop, unless the call is cancelled before it begins.
    async fn work<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Desk) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let done = context.ct.run_until_cancelled(self.apart(work)).await;
        done.unwrap_or_else(|| Err(Fault::cancelled()))
    }

    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Desk) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let turn = Arc::clone(&self.calls).acquire_owned().await;
        let turn = turn.map_err(|error| Fault::internal(error.to_string()))?;
        let desk = Arc::clone(&self.desk);
        let done = tokio::task::spawn_blocking(move || {
            // Kept while it works, also where nobody waits for it any more.
            let _turn = turn;
            work(&desk)
        });
        done.await.unwrap_or_else(|_| {
            let message = "the call failed by a mistake of this program; the server goes on";
            Err(Fault::internal(message).hint("standard error of the server tells more"))
        })
    }

    fn note<T>(&self, what: &str, outcome: &Outcome<T>) {
        let output = &self.desk.setup.output;
        match outcome {
            Ok(_) => output.note(format!("{what}: done")),
            Err(fault) => {
                output.note(format!("{what}: {} ({})", fault.code, fault.message));
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let roots = self.desk.setup.roots.said();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("lcp", env!("CARGO_PKG_VERSION")).with_title("LCP"),
            )
            .with_instructions(format!("{INSTRUCTIONS} Of files, {roots}."))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = tools::ALL.iter().map(|entry| (entry.describe)());
        Ok(ListToolsResult::with_all_items(all.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(|entry| (entry.describe)())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = tools::find(&request.name) else {
            let message = format!("there is no tool {:?}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let outcome = self.work(&context, move |desk| (entry.call)(desk, arguments)).await;
        self.note(entry.name, &outcome);
        Ok(outcome.unwrap_or_else(CallToolResult::from).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all(&self.desk)))
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
        let outcome = self.work(&context, move |desk| resources::read(desk, &request.uri)).await;
        self.note("resources/read", &outcome);
        match outcome {
            Ok(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Err(fault) => Err(protocol_error(fault)),
        }
    }
}

/// Resources have no errors of their own.
fn protocol_error(fault: Fault) -> ErrorData {
    let data = Some(fault.json());
    match fault.code {
        UNKNOWN_PACK => ErrorData::resource_not_found(fault.message, data),
        "internal" => ErrorData::internal_error(fault.message, data),
        _ => ErrorData::invalid_params(fault.message, data),
    }
}

/// Something to run a server on.
pub(super) fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(Code::Io, format!("cannot start the server: {error}")))
}

/// Serves on standard input and output, until the input ends; calls that are under way then
/// have a few seconds to end.
///
/// # Errors
///
/// What is not the protocol, where the first message is wanted.
pub fn serve(desk: Desk) -> Result {
    let runtime = runtime()?;
    let served = runtime.block_on(serve_on(desk, rmcp::transport::stdio()));
    // Work that nobody waits for would hold the process.
    runtime.shutdown_background();
    served
}

async fn serve_on<E, A>(desk: Desk, transport: impl IntoTransport<RoleServer, E, A>) -> Result
where
    E: std::error::Error + Send + Sync + 'static,
{
    let served = match Server::new(desk).serve(transport).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(&error)),
        },
        // Whoever started it wants nothing of it.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(failed(&error)),
    };
    // Calls that took longer go with the process, and what they hold would be nobody's.
    interrupt::run_hooks();
    served
}

fn failed(error: &impl std::fmt::Display) -> Failure {
    let error = error.to_string();
    Failure::new(Code::Io, format!("the server failed: {}", error.escape_debug()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::failure::Output;
    use crate::mcp::{Roots, Setup, Sittings};
    use lcp_app::config::Config;

    fn server() -> Server {
        let setup = Setup {
            roots: Roots::new(&[".".into()]).unwrap(),
            config: Config::default(),
            git: false,
            sittings: Sittings::default(),
            output: Output::default(),
        };
        Server::new(Desk::new(setup))
    }

    #[test]
    fn a_panic_is_an_answer_and_the_server_goes_on() {
        let (server, runtime) = (server(), runtime().unwrap());
        for _ in 0..=CALLS_MAX {
            let fault = runtime.block_on(server.apart(|_| -> Outcome<()> { panic!("a test") }));
            assert_eq!(fault.unwrap_err().code, "internal");
        }
        assert_eq!(runtime.block_on(server.apart(|_| Ok(7))), Ok(7));
    }

    #[test]
    fn what_is_held_is_given_back_at_the_end() {
        let is_done = Arc::new(AtomicBool::new(false));
        let hook = interrupt::on_interrupt({
            let is_done = Arc::clone(&is_done);
            move || is_done.store(true, Ordering::Relaxed)
        });
        let desk = Arc::into_inner(server().desk).unwrap();
        let over = serve_on(desk, (tokio::io::empty(), tokio::io::sink()));
        assert_eq!(runtime().unwrap().block_on(over), Ok(()));
        assert!(is_done.load(Ordering::Relaxed));
        drop(hook);
    }

    #[test]
    fn every_tool_has_schemas() {
        for entry in tools::ALL {
            let tool = (entry.describe)();
            for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()] {
                let schema = schema.unwrap();
                assert_eq!(schema["type"], "object", "{}", entry.name);
                let properties = schema["properties"].as_object().unwrap();
                for (name, property) in properties {
                    let is_told = property.get("description").is_some() || name == "$schema";
                    assert!(is_told, "{}: {name}", entry.name);
                }
            }
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", entry.name);
        }
    }
}
