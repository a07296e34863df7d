import type { ResponseText, Endpoint, EventMeaning, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { NO_TEXT } from './endpoint.ts';
import { errorMessage } from './error-message.ts';
import { isObject } from './json-object.ts';
import { bodyText, plainText } from './openai-body.ts';
import { finishReasonOf } from './openai-choices.ts';
import { tokenCount } from './openai-usage.ts';

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

    interpret: meaning,

    interpretWhole: meaning,

    text(json: unknown): ResponseText {
      return isObject(json) && typeof json.text_output === 'string'
        ? { output: json.text_output, reasoning: '' }
        : NO_TEXT;
    },
  };
}

function meaning(event: unknown): EventMeaning | null {
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
