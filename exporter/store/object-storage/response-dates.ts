import type { S3Client } from './load-sdk.ts';

/** Times in milliseconds of Unix time: the request and the response by this machine, the date by the server. */
export type DateListener = (sent_ms: number, received_ms: number, date_ms: number) => void;

/** Passes the `Date` header of every response of a client to a listener. */
export function observeDates(client: S3Client, listener: DateListener): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sent_ms = Date.now();
      const result = await next(args);
      const date_ms = Date.parse(dateOf(result.response));
      if (!Number.isNaN(date_ms)) listener(sent_ms, Date.now(), date_ms);
      return result;
    },
    // Innermost: around one attempt, with the response as it came.
    { step: 'deserialize', priority: 'low', name: 'llmbench-response-dates' },
  );
}

function dateOf(response: unknown): string {
  const { headers } = response as { readonly headers?: Readonly<Record<string, string>> };
  return headers?.['date'] ?? '';
}
