#!/usr/bin/env node
// Runs the `lcp` command of the package for this platform.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";
import { findCommand, missingCommand } from "./platform.js";

function fail(message) {
  console.error(message);
  process.exit(1);
}

const program = findCommand();
if (program === undefined) {
  const [message, hint] = missingCommand();
  fail(`error: ${message}\nhint: ${hint}`);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`error: cannot run ${program}: ${error.message}`));

// A signal of the terminal reaches both processes, that of another process only this one. The
// command decides when to end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => process.platform === "win32" || child.kill(signal));
}
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // For signals that do not end Node.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
});
