import type { Upstream } from './upstream.ts';

interface Truth {
  readonly origin: number;
  readonly dropped_requests: number;
  readonly dropped_tokens: number;
  readonly requests: readonly unknown[];
}

/** The `/truth` of all workers as one: their times are all of CLOCK_MONOTONIC. */
export async function mergedTruth(urls: readonly string[], id: string | null, upstream: Upstream): Promise<string> {
  const query = id === null ? '' : `?id=${encodeURIComponent(id)}`;
  const all = await Promise.all(
    urls.map(async (url) => JSON.parse(await upstream.text(`${url}/truth${query}`)) as Truth),
  );
  const sum = (of: (truth: Truth) => number): number => all.reduce((total, truth) => total + of(truth), 0);
  return JSON.stringify({
    ...all[0],
    origin: Math.min(...all.map(({ origin }) => origin)),
    dropped_requests: sum((truth) => truth.dropped_requests),
    dropped_tokens: sum((truth) => truth.dropped_tokens),
    requests: all.flatMap(({ requests }) => requests),
  });
}
