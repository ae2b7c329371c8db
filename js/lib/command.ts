// Runs the `lcp` command.

import { execFile } from "node:child_process";
import { findCommand, missingCommand } from "../bin/platform.js";
import {
  FileError,
  LcpError,
  LimitError,
  MalformedError,
  SessionError,
  UsageError,
} from "./errors.js";

/** The options of everything that runs the `lcp` command. */
export interface CommandOptions {
  /** The path of the `lcp` command. By default, it is that of the installed package. */
  command?: string | undefined;
}

/** The output of the command, the lines of its messages, and its exit code. */
export interface CommandOutput {
  stdout: Uint8Array;
  stderr: string[];
  code: number;
}

/** The errors by the exit code of the command. */
const ERRORS: Readonly<Record<number, typeof LcpError>> = {
  1: FileError,
  2: UsageError,
  3: MalformedError,
  5: LimitError,
};

/** Runs the command, with a text as its standard input. */
export async function runCommand(
  args: string[],
  { command = findCommand() }: CommandOptions,
  input = "",
): Promise<CommandOutput> {
  if (command === undefined) {
    const [message, hint] = missingCommand();
    throw new FileError(message, null, hint);
  }
  const invalid = args.find((argument) => argument.includes("\0"));
  if (invalid !== undefined) {
    throw new UsageError(`a null character in ${JSON.stringify(invalid)}`);
  }
  return execute(command, args, input);
}

function execute(command: string, args: string[], input: string): Promise<CommandOutput> {
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

/** Returns the lines that begin with `start`, such as `warning: `, without it. */
export function parseMessages({ stderr }: CommandOutput, start: RegExp): string[] {
  return stderr.filter((line) => start.test(line)).map((line) => line.replace(start, ""));
}

/** Returns the error of a command that failed. */
export function toError(output: CommandOutput): LcpError {
  const message = parseMessages(output, /^error: /)[0] ?? `lcp ended with exit code ${output.code}`;
  // Hints about flags, settings and other commands are for people at a terminal.
  const [hint = null] = parseMessages(output, /^hint: /).filter(
    (it) => !/--|lcp\.toml|`lcp /.test(it),
  );
  if (message.startsWith("session store not found: ")) {
    return new FileError(message, "no_store", hint);
  }
  const code = / \[([a-z_]+|LCP-[A-Z]+-\d+)\](?: \([^()]*\))?$/.exec(message)?.[1] ?? null;
  // Only errors of stores have the exit code 1 and a code.
  const Failure =
    output.code === 1 && code !== null ? SessionError : (ERRORS[output.code] ?? LcpError);
  return new Failure(message, code, hint);
}
