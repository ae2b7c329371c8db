// The package with the command for this platform. Tests link the command that cargo has built.

import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

const repository = process.env["LCP_REPOSITORY"] ?? join(import.meta.dirname, "../..");

/** The path of the command, which `cargo build --bin lcp` builds. */
export const command = process.env["LCP"] ?? join(repository, "target/debug/lcp");

/** Installs the package. */
export async function installCommand(): Promise<void> {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const libc = report.header.glibcVersionRuntime === undefined ? "-musl" : "-gnu";
  const name = `${process.platform}-${process.arch}${process.platform === "linux" ? libc : ""}`;
  const folder = join(import.meta.dirname, "node_modules/@llm-context-pack", name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), "{}");
  const link = join(folder, process.platform === "win32" ? "lcp.exe" : "lcp");
  // Several test files do this at the same time.
  const own = `${link}-${process.pid}-${Math.random()}`;
  await symlink(command, own);
  await rename(own, link);
}
