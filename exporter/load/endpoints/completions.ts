import type { AnswerText, Endpoint, EventMeaning, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { NO_TEXT } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';
import { OPENAI_OWN_FIELDS, openAiBody, plainText } from './openai-body.ts';
import { choicesMeaning, firstChoice } from './openai-choices.ts';
import type { ChoiceContent } from './openai-choices.ts';

/** OpenAI's `/v1/completions`. */
export const completions: Endpoint = {
  type: 'completions',
  path: '/v1/completions',
  ownFields: [...OPENAI_OWN_FIELDS, 'prompt', 'max_tokens'],
  modes: ['stream', 'whole'],
  wholeBy: 'event',
  generates: true,
  variableKeys: new Set(['id', 'created', 'text', 'obfuscation']),

  body(request: GenerationRequest, options: GenerationOptions): string {
    return openAiBody({ prompt: plainText(request) }, 'max_tokens', request, options);
  },

  interpret: (event: unknown): EventMeaning | null => choicesMeaning(event, textOf),

  interpretWhole: (answer: unknown): EventMeaning | null => choicesMeaning(answer, textOf),

  text(json: unknown): AnswerText {
    const choice = isObject(json) && Array.isArray(json.choices) ? firstChoice(json.choices as unknown[]) : undefined;
    return typeof choice?.text === 'string' ? { output: choice.text, reasoning: '' } : NO_TEXT;
  },
};

const textOf = ({ text }: JsonObject): ChoiceContent => (typeof text === 'string' && text !== '' ? 'output' : null);
