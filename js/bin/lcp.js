#!/usr/bin/env node
// Runs the `lcp` command of the package for this platform, which npm installs as an optional
// dependency of this one. `cargo xtask npm` writes those packages.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import process from "node:process";

// A report with network interfaces would look up the name of each.
function hasGlibc() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

const libc = process.platform === "linux" ? (hasGlibc() ? "-gnu" : "-musl") : "";
const name = `@llm-context-pack/${process.platform}-${process.arch}${libc}`;
const file = process.platform === "win32" ? "lcp.exe" : "lcp";

let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/${file}`);
} catch {
  fail(
    `error: the package ${name}, which contains the lcp command, is not installed\n` +
      "hint: install llm-context-pack again with optional dependencies, on the platform that runs it. " +
      "If there is no such package, build the command with cargo.",
  );
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
