/** An error of LCP. */
export class LcpError extends Error {
  /** The stable code of an error that has one, such as `LCP-BUD-001`. */
  readonly code: string | null;
  /** A remedy. */
  readonly hint: string | null;

  constructor(message: string, code: string | null = null, hint: string | null = null) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  static {
    this.prototype.name = "LcpError";
  }
}

/** An argument is invalid, or arguments contradict each other. */
export class UsageError extends LcpError {
  static {
    this.prototype.name = "UsageError";
  }
}

/** A pack or another input is malformed. */
export class MalformedError extends LcpError {
  static {
    this.prototype.name = "MalformedError";
  }
}

/** The content that must be kept exceeds the budget. */
export class OverBudgetError extends LcpError {
  static {
    this.prototype.name = "OverBudgetError";
  }
}

/** An input exceeds a limit. */
export class LimitError extends LcpError {
  static {
    this.prototype.name = "LimitError";
  }
}

/** A store of sessions failed or refused an operation. `code` tells why. */
export class SessionError extends LcpError {
  static {
    this.prototype.name = "SessionError";
  }
}

/** Something could not be read. */
export class FileError extends LcpError {
  static {
    this.prototype.name = "FileError";
  }
}
