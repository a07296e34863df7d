/** The machines of a run did not agree on a start: nothing was measured. The message is one line for people. */
export class NoStartError extends Error {
  override readonly name = 'NoStartError';
}
