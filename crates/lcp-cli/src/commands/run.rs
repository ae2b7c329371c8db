//! The command `run`: runs an agent with a gateway.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};

use lcp_app::{Error, ErrorKind};
use lcp_gateway::agent::{Agent, Environment};
use lcp_gateway::{Gateway, ProxyOptions};

use crate::gateway_args::GatewayArgs;
use crate::output::Output;
use crate::{Result, agent_process};

/// Run an agent within a token budget
///
/// Starts the gateway (`lcp proxy`) on a free port, then the agent with settings for this launch
/// only, and stops with it. The exit code is that of the agent, 127 if its command is not found, and 126
/// if it cannot be started. Claude Code, Codex and opencode get
/// their own settings, other programs `ANTHROPIC_BASE_URL` and `OPENAI_BASE_URL`. A base URL that you
/// have configured is used as the upstream. docs/gateway.md explains the edits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp run claude
  lcp run codex exec 'fix the tests'
  lcp run --budget 100000 -- python3 agent.py")]
pub struct Args {
    #[command(flatten)]
    gateway: GatewayArgs,
    /// Command of the agent, with its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// Runs until the agent ends.
pub fn run(args: &Args, output: &Output) -> Result {
    let program = args.command[0].to_string_lossy();
    if program.starts_with('-') {
        return Err(Error::new(ErrorKind::Usage, format!("{program:?} is not a flag of run"))
            .with_hint(
                "pass --help to list the flags; --listen and --token are flags of `lcp proxy`",
            ));
    }
    let folder =
        std::env::current_dir().map_err(|error| Error::io("find", "the current folder", &error))?;
    let environment = Environment { variable: &|name| std::env::var_os(name), folder };
    let agent = Agent::new(&args.command, args.gateway.upstream.clone(), &environment)?;
    let gateway = Gateway::start(ProxyOptions {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        token: None,
        upstream: agent.upstream().clone(),
        edits: args.gateway.to_options()?,
    })?;
    output.note(format!("gateway on {}", gateway.url()));
    let mut command = agent.command(&gateway.url(), &gateway.originals())?;
    let child = match agent_process::start(&mut command.command) {
        Ok(child) => child,
        Err(error) => {
            let (code, hint) = match error.kind() {
                std::io::ErrorKind::NotFound => (127, "check that it is installed and in PATH"),
                _ => (126, "check that it is a program, and that you may run it"),
            };
            output.fail(&Error::io("run", &program, &error).with_hint(hint));
            output.set_code_of_agent(code);
            return Ok(());
        }
    };
    let status = agent_process::wait(child).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot wait for {program}: {error}"))
    })?;
    let failures = gateway.failures();
    if failures > 0 {
        let requests = lcp_driver::plural(failures, "request");
        output.warn(format!(
            "{requests} could not be edited or recorded; --log text prints the reasons"
        ));
    }
    drop((command, gateway));
    output.set_code_of_agent(agent_process::exit_code(status));
    Ok(())
}
