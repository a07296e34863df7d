import { chunkTimes_s } from '../serving-bench/request-lists.ts';
import type { ListedRequest } from '../serving-bench/request-lists.ts';

/** The protocol of `vllm bench serve`, and what it counts as a token. */
export interface VllmBackend {
  /** As our own runs name it; null when llmbench does not have this endpoint. */
  readonly endpoint_type: string | null;
  /** Every chunk that it counts carries tokens, except one that may close the response. */
  readonly countsTokenChunks: boolean;
  /** Whether the response may end with a chunk that carries no token, and is counted. */
  readonly hasClosingChunk: boolean;
}

const COMPLETIONS: VllmBackend = { endpoint_type: 'completions', countsTokenChunks: true, hasClosingChunk: true };

/** Counts the first chunk of any kind, which for most servers names the role and carries no token. */
const CHAT: VllmBackend = { endpoint_type: 'chat', countsTokenChunks: false, hasClosingChunk: true };

const ANY_CHUNK: VllmBackend = { endpoint_type: null, countsTokenChunks: false, hasClosingChunk: true };
const TOKENS_ONLY: VllmBackend = { endpoint_type: null, countsTokenChunks: true, hasClosingChunk: false };

const BACKENDS: Readonly<Record<string, VllmBackend>> = {
  vllm: COMPLETIONS,
  openai: COMPLETIONS,
  lmdeploy: COMPLETIONS,
  scalellm: COMPLETIONS,
  sglang: COMPLETIONS,
  'llama.cpp': COMPLETIONS,
  'openai-chat': CHAT,
  'openai-audio': { ...CHAT, endpoint_type: null },
  'openai-responses': { ...TOKENS_ONLY, endpoint_type: 'responses' },
  'tensorrt-llm': TOKENS_ONLY,
  tgi: TOKENS_ONLY,
};

/** Of one that is not known nothing is promised. */
export function backendOf(name: string | null): VllmBackend {
  return (name !== null && Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined) ?? ANY_CHUNK;
}

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
function closesEmpty({ gaps_s, first_s, output_tokens }: ListedRequest, backend: VllmBackend): boolean {
  if (!backend.hasClosingChunk || first_s === null || output_tokens === null) return false;
  return gaps_s.length + 1 === output_tokens + 1;
}
