import type { GenerationOptions, GenerationRequest, Message } from './endpoint.ts';
import type { JsonObject } from './json-object.ts';

/** Fields of OpenAI's bodies that the run decides; `n` and `best_of` because answers with several choices have no inter-token latency. */
export const OPENAI_OWN_FIELDS = ['model', 'stream', 'stream_options', 'n', 'best_of'] as const;

/** The whole conversation, the turn to be answered last. */
export function messages(request: GenerationRequest): readonly Message[] {
  return [...(request.history ?? []), { role: 'user', content: request.prompt }];
}

/** Conversation and prompt as one text, for APIs that know no roles. */
export function plainText(request: GenerationRequest): string {
  const earlier = request.history ?? [];
  return earlier.length === 0
    ? request.prompt
    : [...earlier.map((message) => message.content), request.prompt].join('\n\n');
}

/**
 * The body of an OpenAI request as JSON text. `input` holds what the endpoint makes of the prompt, `lengthField` is its
 * name for the longest answer. A payload of the dataset keeps its own input, model and length where it has them.
 */
export function openAiBody(
  input: JsonObject,
  lengthField: string,
  request: GenerationRequest,
  options: GenerationOptions,
): string {
  const stream = options.stream ?? true;
  const length = { [lengthField]: request.max_tokens };
  const begun =
    request.payload === undefined
      ? { ...options.sampling, model: options.model, ...input, ...length }
      : { model: options.model, ...options.sampling, ...withLength(request.payload, length), ...request.payload };
  return JSON.stringify({
    ...begun,
    stream,
    // A payload's own are left out when none are asked for.
    stream_options: stream && options.includeUsage ? { include_usage: true } : undefined,
  });
}

/** A payload may bound its answer under any of the names that the APIs know. */
function withLength(payload: JsonObject, length: JsonObject): JsonObject {
  const bounded = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].some((name) => payload[name] != null);
  return bounded ? {} : length;
}
