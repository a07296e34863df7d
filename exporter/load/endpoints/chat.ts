import type { AnswerText, Endpoint, EventMeaning, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { NO_TEXT } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';
import { messages, OPENAI_OWN_FIELDS, openAiBody } from './openai-body.ts';
import { choicesMeaning, firstChoice } from './openai-choices.ts';
import type { ChoiceContent } from './openai-choices.ts';

/** Text of a delta, under the names that engines use for reasoning (`reasoning` and `reasoning_content`). */
const REASONING_KEYS = ['reasoning_content', 'reasoning'] as const;
const OUTPUT_KEYS = ['content', 'refusal'] as const;

/** OpenAI's `/v1/chat/completions`. */
export const chat: Endpoint = {
  type: 'chat',
  path: '/v1/chat/completions',
  ownFields: [...OPENAI_OWN_FIELDS, 'messages', 'max_tokens'],
  modes: ['stream', 'whole'],
  wholeBy: 'event',
  generates: true,
  variableKeys: new Set(['id', 'created', 'obfuscation', 'arguments', ...OUTPUT_KEYS, ...REASONING_KEYS]),

  body(request: GenerationRequest, options: GenerationOptions): string {
    return openAiBody({ messages: messages(request) }, 'max_tokens', request, options);
  },

  interpret(event: unknown): EventMeaning | null {
    return choicesMeaning(event, ({ delta }) => (isObject(delta) ? contentOf(delta) : null));
  },

  interpretWhole(answer: unknown): EventMeaning | null {
    return choicesMeaning(answer, ({ message }) => (isObject(message) ? contentOf(message) : null));
  },

  text(json: unknown): AnswerText {
    const choice = isObject(json) && Array.isArray(json.choices) ? firstChoice(json.choices as unknown[]) : undefined;
    const said = choice?.delta ?? choice?.message;
    if (!isObject(said)) return NO_TEXT;
    // Some engines fill both reasoning fields with the same text.
    const reasoning = REASONING_KEYS.map((key) => said[key]).find(isText);
    return { output: textOf(said.content) + textOf(said.refusal), reasoning: textOf(reasoning) };
  },
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function contentOf(delta: JsonObject): ChoiceContent {
  if (OUTPUT_KEYS.some((key) => isText(delta[key]))) return 'output';
  if (isFunctionCall(delta.function_call)) return 'output';
  if (Array.isArray(delta.tool_calls) && (delta.tool_calls as unknown[]).some(isToolCall)) return 'output';
  return REASONING_KEYS.some((key) => isText(delta[key])) ? 'reasoning' : null;
}

function isToolCall(call: unknown): boolean {
  return isObject(call) && isFunctionCall(call.function);
}

/** The first piece of a call has its name, the later ones the text of its arguments. */
function isFunctionCall(call: unknown): boolean {
  return isObject(call) && (isText(call.name) || isText(call.arguments));
}
