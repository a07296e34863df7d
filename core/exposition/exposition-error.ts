const MAX_ECHO_CHARACTERS = 60;

/**
 * A page that is rejected as a whole: where and why. The message is one line and shows at most 80 characters of the
 * page.
 */
export class ExpositionError extends Error {
  /** 1-based; 0 when the error is not in one line. */
  readonly line: number;
  /** 1-based, in bytes; 0 when the error is not at one place. */
  readonly column: number;
  readonly reason: string;

  constructor(line: number, column: number, reason: string) {
    super(line > 0 ? `line ${line}, column ${column}: ${reason}` : reason);
    this.name = 'ExpositionError';
    this.line = line;
    this.column = column;
    this.reason = reason;
  }
}

/** Text of a page for use in a message: quoted, control characters escaped, truncated. */
export function quoteForMessage(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^\x20-\x7e]/gu, '?');
  return escaped.length > MAX_ECHO_CHARACTERS ? `"${escaped.slice(0, MAX_ECHO_CHARACTERS)}"…` : `"${escaped}"`;
}
