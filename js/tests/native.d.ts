// The part of the module that a test replaces.
export class NativeEncoding {
  count(text: string): number;
}
