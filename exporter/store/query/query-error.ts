/** A question that cannot be answered; the message says why, for people. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}
