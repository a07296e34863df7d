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
