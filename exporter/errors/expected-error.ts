/** What kind of failure it is, for those who act on it: exit statuses follow from it. */
export type ErrorCode =
  /** Nothing was begun: an option, a configuration or a load that cannot be used. */
  | 'refused'
  | 'configuration'
  | 'runs_directory'
  /** The machines of a run did not agree on a start: nothing was measured. */
  | 'no_start'
  /** It was begun, or is valid, and cannot be done. */
  | 'failed'
  | 'server'
  | 'storage'
  | 'damaged'
  | 'not_stored'
  | 'interrupted';

/** A failure that its message explains fully, in one line for people: what, where, what to do. */
export class ExpectedError extends Error {
  override readonly name: string = 'ExpectedError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a failure is expected, and of one of these kinds. */
export const hasCode = (error: unknown, ...codes: readonly ErrorCode[]): error is ExpectedError =>
  error instanceof ExpectedError && codes.includes(error.code);
