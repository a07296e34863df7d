import { chunkTimes_s } from '../serving-bench/request-lists.ts';
import type { ListedRequest } from '../serving-bench/request-lists.ts';
import type { VllmBackend } from './backend.ts';

/**
 * When the chunks with content came, in seconds since the request was sent; null when the file does not report which of the
 * chunks have content. One chunk more than tokens is the one that closes the response: the tool counts it, it has no content.
 */
export function contentTimes_s(request: ListedRequest, backend: VllmBackend): readonly number[] | null {
  if (!backend.countsTokenChunks) return null;
  const times = chunkTimes_s(request);
  return closesEmpty(request, backend) ? times.slice(0, -1) : times;
}

/** Whether the last chunk that the tool counted cannot have carried a token. */
export function closesEmpty({ gaps_s, first_s, output_tokens }: ListedRequest, backend: VllmBackend): boolean {
  if (!backend.hasClosingChunk || first_s === null || output_tokens === null) return false;
  return gaps_s.length + 1 === output_tokens + 1;
}
