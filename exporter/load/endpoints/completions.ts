import type { Endpoint, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { OPENAI_OWN_FIELDS, openAiBody, plainText } from './openai-body.ts';
import { choiceReading } from './openai-choices.ts';

/** OpenAI's `/v1/completions`. `outputFields`: the only fields of unknown names that count as output; null: all. */
export function completionsEndpoint(outputFields: readonly string[] | null): Endpoint {
  return {
    type: 'completions',
    path: '/v1/completions',
    ownFields: [...OPENAI_OWN_FIELDS, 'prompt', 'max_tokens'],
    lengthField: 'max_tokens',
    modes: ['stream', 'whole'],
    wholeBy: 'event',
    generates: true,

    body(request: GenerationRequest, options: GenerationOptions): string {
      return openAiBody({ prompt: plainText(request) }, options.lengthField ?? 'max_tokens', request, options);
    },

    ...choiceReading('completions', outputFields),
  };
}

export const completions = completionsEndpoint(null);
