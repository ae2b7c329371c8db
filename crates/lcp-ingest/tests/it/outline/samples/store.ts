/* A licence stands here. */
import { readFile } from "node:fs/promises";
import type { Entry } from "./entry";

"use strict";

/** How many may be kept. */
export const LIMIT = 50;

export const DEFAULTS: Options = {
  limit: LIMIT,
  deep: { a: 1, b: 2, c: 3 },
};

/**
 * What can be said of a store.
 *
 * At length.
 */
export interface Options {
  /** How many. */
  limit?: number;
  readonly name: string;
  on(event: "add" | "remove", then: (entry: Entry) => void): void;
  [key: string]: unknown;
}

export type Id = string | number;

export enum Level {
  Low = 1,
  High = "high",
}

/** Keeps entries. */
export abstract class Store<T extends Entry> extends Base implements Options {
  private entries: Map<Id, T> = new Map();
  static shared?: Store<Entry>;
  handler = async (entry: T): Promise<void> => {
    await this.add(entry);
  };

  constructor(private readonly path: string, limit = LIMIT) {
    super();
    this.limit = limit;
  }

  /** Adds one. */
  async add(entry: T): Promise<boolean> {
    return this.entries.set(entry.id, entry).size > 0;
  }

  abstract close(): void;

  get size(): number {
    return this.entries.size;
  }
}

export default function open(path: string): Store<Entry>;
export default function open(path: string, options?: Options): Store<Entry> {
  return make(path, options);
}

/** Not for others. */
const make = (path: string, options?: Options) => {
  return new Disk(path, options);
};

declare module "plain" {
  export function plain(text: string): string;
}

namespace Inner {
  export const deep = 1;
}

export { make as create };
export * from "./other";
