/** The protocol of SGLang's benchmark, and the contents of its list of gaps. */
export interface SglangBackend {
  /** As our own runs name it; null when llmbench does not have this endpoint. */
  readonly endpoint_type: string | null;
  /** A gap is spread over the tokens that its chunk brought: the gaps of the chunks themselves are not available. */
  readonly spreadsGaps: boolean;
}

const NATIVE: SglangBackend = { endpoint_type: 'sglang_generate', spreadsGaps: true };
const COMPLETIONS: SglangBackend = { endpoint_type: 'completions', spreadsGaps: false };
const CHAT: SglangBackend = { endpoint_type: 'chat', spreadsGaps: false };

const BACKENDS: Readonly<Record<string, SglangBackend>> = {
  sglang: NATIVE,
  'sglang-native': NATIVE,
  'sglang-oai': COMPLETIONS,
  vllm: COMPLETIONS,
  lmdeploy: COMPLETIONS,
  'sglang-oai-chat': CHAT,
  'vllm-chat': CHAT,
  'lmdeploy-chat': CHAT,
};

export function backendOf(name: string | null): SglangBackend {
  const known = name !== null && Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined;
  return known ?? { endpoint_type: null, spreadsGaps: false };
}
