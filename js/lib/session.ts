// Records, hands off and resumes sessions with the `lcp` command.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkNumber,
  checkOptions,
  checkText,
  checkTokens,
  toJsonTexts,
  wrongType,
} from "./arguments.js";
import type { TokenizerOptions } from "./arguments.js";
import { toError, parseMessages, runCommand } from "./command.js";
import type { CommandOptions, CommandOutput } from "./command.js";
import { FileError, LcpError, UsageError } from "./errors.js";
import type { Json } from "./messages.js";
import { Pack } from "./pack.js";

/** The options of a {@link Session}. */
export interface SessionOptions extends TokenizerOptions, CommandOptions {
  /**
   * The path of a SQLite file, or a PostgreSQL address (`postgres://…`). By default,
   * `lcp/sessions.sqlite` in the user's data folder, the store of `lcp session`.
   */
  store?: string | undefined;
  /** The tokens of the model's window. By default, those of the `model`, or else 64,000. */
  window?: number | undefined;
  /** The tokens of the window that are left for output. By default, 0. */
  outputReserve?: number | undefined;
  /** The seconds to wait while another process uses the session. By default, 2. */
  wait?: number | undefined;
}

/** The usage that a provider reported for a request. */
export interface ReportedUsage {
  /** The tokens of the input, including cached ones. */
  inputTokens: number;
  /** The tokens of the input that came from a cache. */
  cachedInputTokens?: number | undefined;
  /** The tokens of the output. */
  outputTokens?: number | undefined;
}

/** The options of {@link Session.record}. */
export interface RecordOptions {
  /** `true` if the messages are only new ones, not the conversation from its beginning. */
  append?: boolean | undefined;
  /** The usage that the provider reported for the newest request. */
  usage?: ReportedUsage | undefined;
  /** The treatment of secrets: `warn`, the default, reports them; `redact` replaces them by markers; `off`
   * does not search for them. */
  secrets?: "warn" | "redact" | "off" | undefined;
}

/** The options of {@link Session.handoff}. */
export interface HandoffOptions {
  /** The condition: `due`, the default; `once`: if due, useful, and not yet handed over; or `always`. */
  when?: "due" | "once" | "always" | undefined;
  /** The maximum number of tokens of the resume prompt. By default, a quarter of the window without the
   * output reserve. */
  target?: number | undefined;
}

/** The options of {@link Session.resume}. */
export interface ResumeOptions extends SessionOptions {
  /** The ID of the new session. By default, it is derived from that of the hand-off. */
  id?: string | undefined;
  /** `true` to return the result of an earlier call, for a caller that lost it. The new session is that of
   * the earlier call. */
  again?: boolean | undefined;
}

/** A report of the command. */
class CommandReport {
  readonly #json: Json;

  /** @internal */
  constructor(json: Json) {
    this.#json = json;
  }

  /** Returns the complete result, as `lcp session … --json` prints it. */
  toJSON(): Readonly<Record<string, unknown>> {
    return this.#json;
  }
}

/** The status of a session (`lcp.track.v1`). */
export class SessionStatus extends CommandReport {
  /** The ID of the session. */
  readonly id: string;
  /** `true` if this call began the session. */
  readonly isNew: boolean;
  /** The number of messages that this call recorded. */
  readonly recorded: number;
  /** The number of messages. */
  readonly messages: number;
  /** The tokens of the model's window. */
  readonly window: number;
  /** The tokens of the window that are reserved for output. */
  readonly outputReserve: number;
  /** The tokens in use: those that the provider reported, or else counted ones. */
  readonly usedTokens: number;
  /** The used part of the window without the output reserve, in percent. */
  readonly usedPercent: number;
  /** The estimated number of turns that are left. */
  readonly remainingTurns: number;
  /** The next step: `warning` means that few turns are left. */
  readonly decision: "none" | "warning" | "hand_off";
  /** The reason for the next step. */
  readonly reason: string;
  /** `true` if less than 20 % of the budget is left, so that a compaction is due. */
  readonly isCompactionDue: boolean;
  /** The ID of a hand-off that waits to be resumed. */
  readonly handoff: string | null;
  /** The warnings about this call. */
  readonly warnings: readonly string[];

  /** @internal */
  constructor(json: Json, warnings: readonly string[]) {
    super(json);
    this.id = json["conversation"] as string;
    this.isNew = json["new"] as boolean;
    this.recorded = json["recorded"] as number;
    this.messages = json["messages"] as number;
    this.window = json["window"] as number;
    this.outputReserve = json["output_reserve"] as number;
    this.usedTokens = (json["usage"] as { total_tokens: number }).total_tokens;
    this.usedPercent = json["utilization_percent"] as number;
    this.remainingTurns = json["remaining_turns"] as number;
    this.decision = json["decision"] as SessionStatus["decision"];
    this.reason = json["reason"] as string;
    this.isCompactionDue = json["compaction_due"] as boolean;
    this.handoff = json["handoff"] as string | null;
    this.warnings = warnings;
  }
}

/** A prepared hand-off (`lcp.prepared.v1`). */
export class Handoff extends CommandReport {
  /** The ID, for {@link Session.resume}. */
  readonly id: string;
  /** `true` if this call prepared it. */
  readonly isNew: boolean;
  /** The number of messages that it covers. */
  readonly messages: number;
  /** The tokens of the session before it. */
  readonly tokensBefore: number;
  /** The tokens with which the next session begins. */
  readonly tokensAfter: number;
  /** The warnings, such as about content that the next session lacks. */
  readonly warnings: readonly string[];
  /** The hand-off as a pack. */
  readonly pack: Pack;

  /** @internal */
  constructor(json: Json, pack: Pack) {
    super(json);
    const handoff = json["handoff"] as Json;
    this.id = handoff["id"] as string;
    this.isNew = json["new"] as boolean;
    this.messages = handoff["messages"] as number;
    this.tokensBefore = handoff["tokens_before"] as number;
    this.tokensAfter = handoff["tokens_after"] as number;
    this.warnings = handoff["warnings"] as string[];
    this.pack = pack;
  }
}

/** A session that continues another one (`lcp.resume.v1`). */
export class ResumedSession extends CommandReport {
  /** The new session. */
  readonly session: Session;
  /** The ID of the session before it. */
  readonly previous: string;
  /** The text to send first: the resume prompt, and messages that came after the hand-off. */
  readonly text: string;
  /** The tokens of the resume prompt. */
  readonly tokens: number;
  /** The warnings, such as about content that the prompt lacks. */
  readonly warnings: readonly string[];

  /** @internal */
  constructor(json: Json, session: Session, text: string) {
    super(json);
    const directive = json["directive"] as Json;
    this.session = session;
    this.previous = json["previous"] as string;
    this.text = text;
    this.tokens = directive["tokens"] as number;
    this.warnings = directive["warnings"] as string[];
  }
}

/** The result of a compaction (`lcp.compaction.v1`). */
export class Compaction extends CommandReport {
  /** `true` if the session was compacted. */
  readonly isDone: boolean;
  /** The reason if the session was not compacted. */
  readonly reason: string | null;
  /** The tokens in use after the call. */
  readonly usedTokens: number;
  /** The warnings about content that does not fit into the memory. */
  readonly warnings: readonly string[];
  /** The messages that the window shows, with the memory, as a pack. */
  readonly pack: Pack;

  /** @internal */
  constructor(json: Json, pack: Pack) {
    super(json);
    const compaction = json["compaction"] as { tokens_after: number } | null;
    this.isDone = compaction !== null;
    this.reason = json["reason"] as string | null;
    this.usedTokens = compaction?.tokens_after ?? (json["used_tokens"] as number);
    this.warnings = json["warnings"] as string[];
    this.pack = pack;
  }
}

/**
 * A conversation in a store: recorded, measured, and handed over before its window is full.
 *
 * Each method runs the `lcp` command, without the settings of an `lcp.toml`. Only {@link Session.record}
 * creates a store. While another process uses the session, calls wait, then fail with a `SessionError`.
 *
 * @example
 * const session = new Session("parser", { model: "gpt-5" });
 * const { decision } = await session.record(messages, { usage: { inputTokens: 250_000 } });
 */
export class Session {
  /** The ID. */
  readonly id: string;
  readonly #options: SessionOptions;

  constructor(id: string, options: SessionOptions = {}) {
    checkText("id", id);
    this.id = id;
    this.#options = checkSessionOptions(options);
  }

  /**
   * Records the messages that are new. `messages` are those of `fitMessages`: the conversation from its
   * beginning, or with `append` only new ones. To record only the usage, pass an empty array.
   *
   * @throws {SessionError} if the conversation does not begin with the recorded messages
   */
  async record(messages: readonly object[], options: RecordOptions = {}): Promise<SessionStatus> {
    const texts = toJsonTexts("messages", messages);
    checkOptions(options, "secrets");
    const { append = false, usage, secrets } = options;
    const flags = [
      ...this.#flags("model", "encoding", "window", "outputReserve", "wait"),
      ...(append && texts.length > 0 ? ["--append"] : []),
      ...(usage === undefined ? [] : [`--usage=${formatUsage(usage)}`]),
      ...(secrets === undefined ? [] : [`--secrets=${secrets}`]),
    ];
    // Messages can be larger than an argument, so they come from standard input.
    const ids = texts.length === 0 ? [this.id] : [this.id, "-"];
    const { json, warnings } = await this.#run("record", flags, ids, `[${texts.join(",")}]`);
    return new SessionStatus(json, warnings);
  }

  /** Returns the status. For a session that does not exist, all numbers are 0. */
  async status(): Promise<SessionStatus> {
    try {
      // The name of another model would change the window.
      const { json, warnings } = await this.#run("record", this.#flags("wait"));
      return new SessionStatus(json, warnings);
    } catch (error) {
      if (hasCode(error, "unknown_conversation", "no_store")) {
        return new SessionStatus(unknownStatus(this.id), []);
      }
      throw error;
    }
  }

  /** Prepares a hand-off to a new session. Returns `null` if none is due. */
  async handoff(options: HandoffOptions = {}): Promise<Handoff | null> {
    checkOptions(options, "when");
    const { when = "due", target } = options;
    if (!Object.hasOwn(CONDITIONS, when)) {
      const expected = Object.keys(CONDITIONS).join(", ");
      throw new UsageError(`when: expected one of ${expected}, got ${JSON.stringify(when)}`);
    }
    const flags = [...this.#flags("model", "encoding", "wait"), ...CONDITIONS[when]];
    if (target !== undefined) {
      checkTokens("target", target, 1);
      flags.push(`--target=${target}`);
    }
    return withFile(async (path) => {
      const { json } = await this.#run("handoff", [...flags, `--output=${path}`]);
      return json["handoff"] === null ? null : new Handoff(json, await readPack(path));
    });
  }

  /**
   * Resumes a hand-off, which is possible only once, and returns the new session. It has the window of the
   * previous session, unless you pass another one.
   *
   * @throws {SessionError} with the code `already_resumed` if the hand-off was resumed before
   */
  static async resume(handoff: string, options: ResumeOptions = {}): Promise<ResumedSession> {
    checkText("handoff", handoff);
    const checked = checkSessionOptions(options);
    checkOptions(options, "id");
    const { id, again = false } = options;
    const common = toFlags(checked, "model", "encoding", "wait");
    const flags = again
      ? ["--repeat"]
      : [
          ...toFlags(checked, "window", "outputReserve"),
          ...(id === undefined ? [] : [`--as=${id}`]),
        ];
    const { json } = await runJson("resume", [...common, ...flags], [handoff], checked);
    let { text } = json["directive"] as { text: string };
    if ((json["late_messages"] as unknown[]).length > 0) {
      // The report has them unrendered.
      text = decodeOutput(await run("resume", [...common, "--repeat"], [handoff], checked));
    }
    return new ResumedSession(json, new Session(json["conversation"] as string, checked), text);
  }

  /**
   * Replaces old messages of the window by a short memory. All messages stay in the store. With `ifDue`,
   * does so only if less than 20 % of the budget is left, and if it helps.
   */
  async compact(options: { ifDue?: boolean | undefined } = {}): Promise<Compaction> {
    checkOptions(options);
    const flags = this.#flags("model", "encoding", "wait");
    if (options.ifDue) {
      flags.push("--if-due");
    }
    // Without such a session, the command would compact a file with this name.
    await this.usage();
    return withFile(async (path) => {
      const { json } = await this.#run("compact", [...flags, `--output=${path}`]);
      return new Compaction(json, await readPack(path));
    });
  }

  /** Returns the usage with its history (`lcp.usage.v1`). */
  async usage(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#run("usage", [])).json;
  }

  /** Returns the sessions of a store, each as in `lcp.store.v1`. */
  static async list(
    options: Pick<SessionOptions, "store" | "command"> = {},
  ): Promise<Readonly<Record<string, unknown>>[]> {
    try {
      const { json } = await runJson("list", [], [], checkSessionOptions(options));
      return json["conversations"] as Json[];
    } catch (error) {
      if (hasCode(error, "no_store")) {
        return [];
      }
      throw error;
    }
  }

  #flags(...names: Flag[]): string[] {
    return toFlags(this.#options, ...names);
  }

  #run(name: string, flags: string[], ids = [this.id], input?: string): Promise<Report> {
    return runJson(name, flags, ids, this.#options, input);
  }
}

/** The flags of hand-offs by their condition. */
const CONDITIONS = { due: [], once: ["--if-due"], always: ["--force"] };

/** The options that are flags of the command. */
const FLAGS = {
  store: "store",
  model: "model",
  encoding: "encoding",
  window: "window",
  outputReserve: "output-reserve",
  wait: "wait",
};

type Flag = keyof typeof FLAGS;

/** A report of the command, and its warnings. */
interface Report {
  json: Json;
  warnings: string[];
}

/** Checks options. Returns a copy of them. */
function checkSessionOptions(options: SessionOptions): SessionOptions {
  checkOptions(options, "store", "model", "encoding", "command");
  const { store, model, encoding, window, outputReserve, wait, command } = options;
  if (window !== undefined) {
    checkTokens("window", window, 1);
  }
  if (outputReserve !== undefined) {
    checkTokens("outputReserve", outputReserve, 0);
  }
  if (wait !== undefined) {
    checkNumber("wait", wait, "seconds", 0);
  }
  return { store, model, encoding, window, outputReserve, wait, command };
}

/** Returns the flags of the options with these names. */
function toFlags(options: SessionOptions, ...names: Flag[]): string[] {
  const given = names.filter((name) => options[name] !== undefined);
  return given.map((name) => `--${FLAGS[name]}=${options[name]}`);
}

/** Returns reported usage in the form of the flag. */
function formatUsage(usage: unknown): string {
  if (typeof usage !== "object" || usage === null) {
    wrongType("usage", "an object", usage);
  }
  const { inputTokens, cachedInputTokens = 0, outputTokens = 0 } = usage as ReportedUsage;
  checkTokens("usage.inputTokens", inputTokens, 0);
  checkTokens("usage.cachedInputTokens", cachedInputTokens, 0);
  checkTokens("usage.outputTokens", outputTokens, 0);
  if (cachedInputTokens > inputTokens) {
    throw new UsageError("usage.cachedInputTokens: expected at most usage.inputTokens");
  }
  return [inputTokens, cachedInputTokens, outputTokens].join(",");
}

/** Runs a command of `lcp session`. The only setting is the store. */
async function run(
  name: string,
  flags: string[],
  ids: string[],
  options: SessionOptions,
  input?: string,
): Promise<CommandOutput> {
  const runWith = async (settings: string[]): Promise<CommandOutput> => {
    const args = ["session", name, ...settings, "--color=never", ...flags, "--", ...ids];
    const output = await runCommand(args, options, input);
    if (output.code !== 0) {
      throw toError(output);
    }
    return output;
  };
  const { store } = options;
  if (store === undefined || !/^postgres(ql)?:/.test(store)) {
    return runWith(["--no-config", ...toFlags(options, "store")]);
  }
  // Other users can read arguments, and the address may contain a password.
  return withFile(async (path) => {
    await writeFile(path, `[continuity]\nstore = ${JSON.stringify(store)}\n`);
    return runWith([`--config=${path}`]);
  });
}

/** Runs a command of `lcp session` that prints a report. */
async function runJson(
  name: string,
  flags: string[],
  ids: string[],
  options: SessionOptions,
  input?: string,
): Promise<Report> {
  const output = await run(name, ["--json", ...flags], ids, options, input);
  const warnings = parseMessages(output, /^warning: /);
  return { json: JSON.parse(decodeOutput(output)) as Json, warnings };
}

function decodeOutput({ stdout }: CommandOutput): string {
  return new TextDecoder().decode(stdout);
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof LcpError && error.code !== null && codes.includes(error.code);
}

/** Calls a function with the path of a file in a private folder, and then deletes the folder. */
async function withFile<T>(use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "lcp-")).catch((error: Error) => {
    throw new FileError(`cannot create a temporary folder: ${error.message}`);
  });
  try {
    return await use(join(folder, "file"));
  } finally {
    // A file that remains does not change the result.
    await rm(folder, { recursive: true }).catch(() => undefined);
  }
}

async function readPack(path: string): Promise<Pack> {
  return Pack.fromCommand(new Uint8Array(await readFile(path)), []);
}

/** Returns the status of a session that does not exist (`lcp.track.v1`). */
function unknownStatus(id: string): Json {
  return {
    schema: "lcp.track.v1",
    conversation: id,
    new: false,
    recorded: 0,
    messages: 0,
    window: 0,
    output_reserve: 0,
    previous_window: null,
    epoch: 0,
    usage: {
      total_tokens: 0,
      history_tokens: 0,
      system_prompt_tokens: 0,
      last_message_tokens: 0,
      average_tokens_per_turn: 0,
      cached_input_tokens: 0,
      output_tokens: 0,
      source: "counted",
    },
    budget: {
      tokens: 0,
      remaining_tokens: 0,
      over_tokens: 0,
      percent: 0,
      level: "normal",
      warning: null,
    },
    utilization_percent: 0,
    remaining_turns: 0,
    decision: "none",
    reason: "Sufficient context remaining",
    compaction_due: false,
    handoff: null,
    warnings: [],
  };
}
