// Finds the `lcp` command. It is in a package for the platform, which npm installs as an optional dependency
// of `llm-context-pack`. `cargo xtask npm` writes those packages.

import { createRequire } from "node:module";
import process from "node:process";

function hasGlibc() {
  const { report } = process;
  const before = report.excludeNetwork;
  // A report with network interfaces would look up the name of each.
  report.excludeNetwork = true;
  const { header } = report.getReport();
  report.excludeNetwork = before;
  return header.glibcVersionRuntime !== undefined;
}

/** Returns the name of the package with the command for this platform. */
export function platformPackage() {
  const libc = process.platform === "linux" ? (hasGlibc() ? "-gnu" : "-musl") : "";
  return `@llm-context-pack/${process.platform}-${process.arch}${libc}`;
}

/** Returns the path of the command, or `undefined` if the package is not installed. */
export function findCommand() {
  const file = process.platform === "win32" ? "lcp.exe" : "lcp";
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage()}/${file}`);
  } catch {
    return undefined;
  }
}

/** Returns the message and the hint of the error that the package is not installed. */
export function missingCommand() {
  return [
    `the package ${platformPackage()}, which contains the lcp command, is not installed`,
    "install llm-context-pack again with optional dependencies, on the platform that runs it. " +
      "If there is no such package, build the command with cargo.",
  ];
}
