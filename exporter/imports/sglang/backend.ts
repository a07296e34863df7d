/** The protocol of SGLang's benchmark, and the contents of its list of gaps. */
export interface Backend {
  /** As our own runs name it; null when llmbench does not have this endpoint. */
  readonly endpoint_type: string | null;
  /** A gap is spread over the tokens that its chunk brought: the gaps of the chunks themselves are not available. */
  readonly spreadsGaps: boolean;
}

const NATIVE: Backend = { endpoint_type: 'sglang_generate', spreadsGaps: true };
const COMPLETIONS: Backend = { endpoint_type: 'completions', spreadsGaps: false };
const CHAT: Backend = { endpoint_type: 'chat', spreadsGaps: false };

const BACKENDS: Readonly<Record<string, Backend>> = {
  sglang: NATIVE,
  'sglang-native': NATIVE,
  'sglang-oai': COMPLETIONS,
  vllm: COMPLETIONS,
  lmdeploy: COMPLETIONS,
  'sglang-oai-chat': CHAT,
  'vllm-chat': CHAT,
  'lmdeploy-chat': CHAT,
};

export function backendOf(name: string | null): Backend {
  const known = name !== null && Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined;
  return known ?? { endpoint_type: null, spreadsGaps: false };
}
