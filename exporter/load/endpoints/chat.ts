import type { Endpoint, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { messages, OPENAI_OWN_FIELDS, openAiBody } from './openai-body.ts';
import { choiceReading } from './openai-choices.ts';

/** OpenAI's `/v1/chat/completions`. `outputFields`: the only fields of unknown names that count as output; null: all. */
export function chatEndpoint(outputFields: readonly string[] | null): Endpoint {
  return {
    type: 'chat',
    path: '/v1/chat/completions',
    ownFields: [...OPENAI_OWN_FIELDS, 'messages', 'max_tokens'],
    lengthField: 'max_tokens',
    modes: ['stream', 'whole'],
    wholeBy: 'event',
    generates: true,

    body(request: GenerationRequest, options: GenerationOptions): string {
      return openAiBody({ messages: messages(request) }, options.lengthField ?? 'max_tokens', request, options);
    },

    ...choiceReading('chat', outputFields),
  };
}

export const chat = chatEndpoint(null);
