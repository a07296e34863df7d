import {
  type ResponseText,
  type Endpoint,
  type EventMeaning,
  type GenerationOptions,
  type GenerationRequest,
  type JsonObject,
  NO_TEXT,
  isObject,
  errorMessage,
} from './endpoint.ts';
import { finishReasonOf, tokenCount } from './openai-choices.ts';
import { bodyText, plainText } from './openai.ts';

/** Fields of the request itself; every other extra input is a sampling parameter. */
const REQUEST_FIELDS: ReadonlySet<string> = new Set([
  'rid',
  'return_logprob',
  'logprob_start_len',
  'top_logprobs_num',
  'lora_path',
  'custom_logit_processor',
  'priority',
  'bootstrap_host',
  'bootstrap_port',
  'bootstrap_room',
]);

/**
 * SGLang's own `/generate`. Each event of a stream repeats the text so far and reports the tokens so far in `meta_info`
 * (with `--stream-output` its text is only the new part); a stream ends with `[DONE]`.
 */
export const sglangGenerate: Endpoint = {
  type: 'sglang_generate',
  path: '/generate',
  ownFields: ['text', 'input_ids', 'stream', 'sampling_params', 'max_new_tokens', 'n'],
  lengthField: 'max_new_tokens',
  modes: ['stream', 'whole'],
  wholeBy: 'event',
  generates: true,
  variableKeys: new Set(),

  body(request: GenerationRequest, options: GenerationOptions): string {
    const stream = options.stream ?? true;
    if (request.payload !== undefined) {
      const given = isObject(request.payload.sampling_params) ? request.payload.sampling_params : {};
      const sampling_params = { max_new_tokens: request.max_tokens, ...given };
      return bodyText({ ...request.payload, sampling_params, stream }, options);
    }
    const extras = Object.entries(options.sampling);
    const sampling = Object.fromEntries(extras.filter(([name]) => !REQUEST_FIELDS.has(name)));
    return bodyText(
      {
        ...Object.fromEntries(extras.filter(([name]) => REQUEST_FIELDS.has(name))),
        ...adapterOf(options),
        text: plainText(request),
        sampling_params: { ...sampling, max_new_tokens: request.max_tokens },
        stream,
      },
      options,
    );
  },

  interpret: sglangMeaning,

  interpretWhole: sglangMeaning,

  text(json: unknown): ResponseText {
    return isObject(json) && typeof json.text === 'string' ? { output: json.text, reasoning: '' } : NO_TEXT;
  },
};

/** This API has no model: of several names the first is the server's model, and the others are adapters of it. */
function adapterOf({ model, baseModel = model }: GenerationOptions): JsonObject {
  return model === baseModel ? {} : { lora_path: model };
}

function sglangMeaning(event: unknown): EventMeaning | null {
  if (!isObject(event)) return null;
  const error = errorMessage(event);
  const meta = isObject(event.meta_info) ? event.meta_info : null;
  if (error === null && meta === null) return null;
  const output_tokens = tokenCount(meta?.completion_tokens);
  const text = typeof event.text === 'string' ? event.text : '';
  const end = finish(meta?.finish_reason);
  return {
    content: text !== '' || (output_tokens ?? 0) > 0,
    finishReason: end?.type ?? null,
    usage:
      meta === null
        ? null
        : {
            input_tokens: tokenCount(meta.prompt_tokens),
            output_tokens,
            reasoning_tokens: tokenCount(meta.reasoning_tokens),
            cached_tokens: tokenCount(meta.cached_tokens),
          },
    error: error ?? (end?.type === 'abort' ? `finish_reason abort${end.message}` : null),
    progress: output_tokens ?? text.length,
  };
}

/**
 * `{type: "length", length: 8}`, `{type: "stop", matched: …}` or `{type: "abort", message: …}`; in older releases a
 * string.
 */
function finish(reason: unknown): { readonly type: string; readonly message: string } | null {
  if (typeof reason === 'string') {
    const type = finishReasonOf(reason);
    return type === null ? null : { type, message: '' };
  }
  if (!isObject(reason) || typeof reason.type !== 'string') return null;
  return { type: reason.type, message: typeof reason.message === 'string' ? `: ${reason.message}` : '' };
}

/**
 * Triton's generate extension: `/v2/models/<model>/generate_stream`, or `/generate` for one JSON response, with the
 * tensor names of its TensorRT-LLM and vLLM backends. A stream ends with the body, without a last event; an error in it
 * has the form `{"error": "…"}` under HTTP 200. Token counts are reported only on request (`return_num_input_tokens`,
 * `return_num_output_tokens`), the output's as the number since the last event.
 */
export function tritonGenerate(model: string, stream: boolean): Endpoint {
  return {
    type: 'triton_generate',
    path: `/v2/models/${encodeURIComponent(model)}/${stream ? 'generate_stream' : 'generate'}`,
    ownFields: ['text_input', 'max_tokens', 'stream'],
    lengthField: 'max_tokens',
    modes: ['stream', 'whole'],
    wholeBy: 'body',
    addsUsage: true,
    generates: true,
    variableKeys: new Set(['text_output']),

    body(request: GenerationRequest, options: GenerationOptions): string {
      const { payload, max_tokens } = request;
      if (payload !== undefined) {
        const parameters = isObject(payload.parameters) ? payload.parameters : {};
        const bounded = payload.max_tokens != null || parameters.max_tokens != null;
        return bodyText({ ...options.sampling, ...(bounded ? {} : { max_tokens }), ...payload, stream }, options);
      }
      return bodyText({ ...options.sampling, text_input: plainText(request), max_tokens, stream }, options);
    },

    interpret: tritonMeaning,

    interpretWhole: tritonMeaning,

    text(json: unknown): ResponseText {
      return isObject(json) && typeof json.text_output === 'string'
        ? { output: json.text_output, reasoning: '' }
        : NO_TEXT;
    },
  };
}

function tritonMeaning(event: unknown): EventMeaning | null {
  if (!isObject(event)) return null;
  const error = errorMessage(event);
  const { text_output, finish_reason } = event;
  if (error === null && typeof text_output !== 'string') return null;
  const input_tokens = tokenCount(event.num_input_tokens);
  const output_tokens = tokenCount(event.num_output_tokens);
  const reported = input_tokens !== null || output_tokens !== null;
  return {
    content: typeof text_output === 'string' && text_output !== '',
    finishReason: finishReasonOf(finish_reason),
    usage: reported ? { input_tokens, output_tokens, reasoning_tokens: null, cached_tokens: null } : null,
    error,
    ...(reported && text_output === '' ? { emptyStep: true } : {}),
  };
}
