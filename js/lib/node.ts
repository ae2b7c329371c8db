/**
 * Packs folders with the `lcp` command. Needs Node, Bun or Deno, on a platform for which npm installs the
 * command.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { findCommand, missingCommand } from "../bin/platform.js";
import { checkText, checkTexts } from "./arguments.js";
import { FileError, LcpError, LimitError, MalformedError, UsageError } from "./errors.js";
import { Pack, checkPackOptions } from "./pack.js";
import type { PackOptions } from "./pack.js";

/** The options of {@link packDirectory}. */
export interface DirectoryOptions extends PackOptions {
  /** Globs of the files to pack. By default, all files are packed. */
  include?: readonly string[] | undefined;
  /** Globs of the files to leave out. */
  exclude?: readonly string[] | undefined;
  /** The path of the `lcp` command. By default, it is that of the installed package. */
  command?: string | undefined;
}

/** The errors by the exit code of the command. */
const ERRORS: Readonly<Record<number, typeof LcpError>> = {
  1: FileError,
  2: UsageError,
  3: MalformedError,
  5: LimitError,
};

/**
 * Packs the files of a folder, as `lcp pack` does. Leaves out hidden files, binary files, and files that
 * ignore files exclude. With a query, the files that it needs come first. A file that cannot be read is
 * left out, with a warning.
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
  const { query, dedup, secrets, command = findCommand() } = options;
  if (command === undefined) {
    const [message, hint] = missingCommand();
    throw new FileError(message, null, hint);
  }
  checkText("command", command);
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
  const args = ["pack", "--output=-", "--color=never", ...flags, "--", directory];
  const { stdout, stderr, code } = await run(command, args, query ?? "");
  const lines = (start: RegExp): string[] =>
    stderr.filter((line) => start.test(line)).map((line) => line.replace(start, ""));
  // Code 1 with a pack: a file could not be read.
  if (code === 0 || (code === 1 && stdout.length > 0)) {
    return Pack.fromCommand(stdout, lines(/^(warning|error): /));
  }
  const Failure = ERRORS[code] ?? LcpError;
  const message = lines(/^error: /)[0] ?? `lcp ended with exit code ${code}`;
  throw new Failure(message, null, lines(/^hint: /)[0] ?? null);
}

/** Runs the command. Returns its output, the lines of its messages, and its exit code. */
function run(
  command: string,
  args: string[],
  input: string,
): Promise<{ stdout: Uint8Array; stderr: string[]; code: number }> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => {
      const reason = error instanceof Error ? error.message : String(error);
      reject(new FileError(`cannot run ${command}: ${reason}`, null, "check the option `command`"));
    };
    const options = { encoding: "buffer", maxBuffer: Infinity, windowsHide: true } as const;
    try {
      const child = execFile(command, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code !== "number") {
          failed(error);
          return;
        }
        const lines = stderr.toString().split(/\r?\n/);
        resolve({ stdout: new Uint8Array(stdout), stderr: lines, code });
      });
      // A command that fails reads no input.
      child.stdin?.on("error", () => undefined).end(input);
    } catch (error) {
      failed(error);
    }
  });
}
