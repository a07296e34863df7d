/** A query that failed; the message states the reason for people. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}
