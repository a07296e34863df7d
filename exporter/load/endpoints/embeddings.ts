import type { Endpoint, EventMeaning, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { NO_TEXT } from './endpoint.ts';
import { errorMessage } from './error-message.ts';
import { isObject } from './json-object.ts';
import { bodyText, plainText } from './openai-body.ts';
import { openAiUsage } from './openai-usage.ts';

/** OpenAI's `/v1/embeddings`: one JSON response without output tokens. */
export const embeddings: Endpoint = {
  type: 'embeddings',
  path: '/v1/embeddings',
  ownFields: ['model', 'input'],
  lengthField: null,
  modes: ['whole'],
  wholeBy: 'body',
  generates: false,
  variableKeys: new Set(),

  body(request: GenerationRequest, options: GenerationOptions): string {
    const { model, sampling } = options;
    return bodyText(
      request.payload === undefined
        ? { ...sampling, model, input: plainText(request) }
        : { model, ...sampling, ...request.payload },
      options,
    );
  },

  interpret: (): EventMeaning | null => null,

  interpretWhole(response: unknown): EventMeaning | null {
    if (!isObject(response)) return null;
    const error = errorMessage(response);
    if (error === null && !Array.isArray(response.data)) return null;
    const vectors = Array.isArray(response.data) ? (response.data as unknown[]) : [];
    return {
      content: vectors.length > 0 && vectors.every(isVector),
      finishReason: null,
      usage: usage(response),
      error,
    };
  },

  text: () => NO_TEXT,
};

/** Numbers, or with `encoding_format: base64` a string. */
function isVector(item: unknown): boolean {
  if (!isObject(item)) return false;
  const { embedding } = item;
  return (Array.isArray(embedding) || typeof embedding === 'string') && embedding.length > 0;
}

/** Some servers report `completion_tokens: 0`; embeddings have no output tokens. */
function usage(response: Readonly<Record<string, unknown>>): EventMeaning['usage'] {
  const reported = openAiUsage(response.usage);
  return reported === null ? null : { ...reported, output_tokens: null, reasoning_tokens: null };
}
