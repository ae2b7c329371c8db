/** Returns the path of the command, or `undefined` if its package is not installed. */
export function findCommand(): string | undefined;

/** Returns the message and the hint of the error that the package is not installed. */
export function missingCommand(): [message: string, hint: string];
