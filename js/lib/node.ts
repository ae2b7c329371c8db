/**
 * Packs folders and records sessions with the `lcp` command. Needs Node, Bun or Deno, on a platform for
 * which npm installs the command.
 *
 * @module
 */

import { stat } from "node:fs/promises";
import { checkOptions, checkText, checkTexts } from "./arguments.js";
import { toError, parseMessages, runCommand } from "./command.js";
import type { CommandOptions } from "./command.js";
import { UsageError } from "./errors.js";
import { Pack, checkPackOptions } from "./pack.js";
import type { PackOptions } from "./pack.js";

export type { CommandOptions } from "./command.js";
export { Compaction, Handoff, ResumedSession, Session, SessionStatus } from "./session.js";
export type {
  HandoffOptions,
  RecordOptions,
  ReportedUsage,
  ResumeOptions,
  SessionOptions,
} from "./session.js";

/** The options of {@link packDirectory}. */
export interface DirectoryOptions extends PackOptions, CommandOptions {
  /** Globs of the files to pack. By default, all files are packed. */
  include?: readonly string[] | undefined;
  /** Globs of the files to leave out. */
  exclude?: readonly string[] | undefined;
}

/**
 * Packs the files of a folder, as `lcp pack` does. Leaves out hidden files, binary files, and files that
 * ignore files exclude. With a query, the files that it needs come first. A file that cannot be read is
 * left out, with a warning. Settings of an `lcp.toml` do not apply.
 *
 * @throws {FileError} if the command is missing or fails
 * @throws {UsageError} if the directory is no folder, or an option is invalid
 *
 * @example
 * const pack = await packDirectory(".", { query: "why does the retry loop never end?" });
 */
export async function packDirectory(
  directory: string,
  options: DirectoryOptions = {},
): Promise<Pack> {
  checkText("directory", directory);
  const { mentions, priorities } = checkPackOptions(options);
  const include = checkTexts("include", options.include ?? []);
  const exclude = checkTexts("exclude", options.exclude ?? []);
  checkOptions(options, "command");
  const { query, dedup, secrets } = options;
  const folder = await stat(directory).catch(() => undefined);
  if (!folder?.isDirectory()) {
    const hint = "pass the path of a folder that can be read";
    throw new UsageError(`directory: ${JSON.stringify(directory)} is no folder`, null, hint);
  }
  const flags = [
    // The query can be larger than an argument, so it comes from standard input.
    ...(query === undefined ? [] : ["--query=-"]),
    ...mentions.map((name) => `--mention=${name}`),
    ...include.map((glob) => `--include=${glob}`),
    ...exclude.map((glob) => `--exclude=${glob}`),
    ...priorities.map(([glob, priority]) => `--priority=${glob}=${priority}`),
    ...(dedup === undefined ? [] : [`--dedup=${dedup}`]),
    ...(secrets === undefined ? [] : [`--secrets=${secrets}`]),
  ];
  const args = ["pack", "--output=-", "--no-config", "--color=never", ...flags, "--", directory];
  const output = await runCommand(args, options, query);
  const { stdout, code } = output;
  // Code 1 with a pack: a file could not be read.
  if (code === 0 || (code === 1 && stdout.length > 0)) {
    return Pack.fromCommand(stdout, parseMessages(output, /^(warning|error): /));
  }
  throw toError(output);
}
