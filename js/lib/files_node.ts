// Files of the package, read from the disk.

import { readFile } from "node:fs/promises";

/** Reads a file of the package. The path is relative to this module. */
export async function readPackageFile(path: string): Promise<Uint8Array> {
  return readFile(new URL(path, import.meta.url));
}
