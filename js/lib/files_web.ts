// Files of the package, fetched from where the package is served.

/** Fetches a file of the package. The path is relative to this module. */
export async function readPackageFile(path: string): Promise<Uint8Array> {
  const response = await fetch(new URL(path, import.meta.url));
  if (!response.ok) {
    throw new Error(`${response.url}: status ${response.status}`);
  }
  return new Uint8Array(await response.arrayBuffer());
}
