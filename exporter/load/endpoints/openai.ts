import {
  type GenerationOptions,
  type GenerationRequest,
  type Message,
  isObject,
  type JsonObject,
  type Endpoint,
} from './endpoint.ts';
import { dataOf } from '../media/media-urls.ts';
import { choiceReading } from './openai-choices.ts';

/**
 * Fields of OpenAI's bodies that the run sets; `n` and `best_of` because responses with several choices have no
 * inter-token latency.
 */
const OPENAI_OWN_FIELDS = ['model', 'stream', 'stream_options', 'n', 'best_of'] as const;

/** The whole conversation, the current turn last. */
export function messages({ history = [], prompt, images, audio }: GenerationRequest): readonly Message[] {
  if (prompt === '' && history.length > 0) return history;
  return [...history, { role: 'user', content: prompt, ...(images && { images }), ...(audio && { audio }) }];
}

/** The parts of a message's content as an API has them. */
export interface ContentParts {
  readonly text: (text: string) => JsonObject;
  readonly image: (url: string) => JsonObject;
  /** Absent: the API has no audio, and no request contains any. */
  readonly audio?: (url: string) => JsonObject;
}

/** What an API has as the content of a message: its text, or with media a list of parts, the text first. */
export function contentOf(message: Message, parts: ContentParts): string | readonly JsonObject[] {
  const { content, images, audio } = message;
  if (images === undefined && audio === undefined) return content;
  return [
    ...(content === '' ? [] : [parts.text(content)]),
    ...(images ?? []).map(parts.image),
    ...(parts.audio === undefined ? [] : (audio ?? []).map(parts.audio)),
  ];
}

const CHAT_PARTS: ContentParts = {
  text: (text) => ({ type: 'text', text }),
  image: (url) => ({ type: 'image_url', image_url: { url } }),
  // OpenAI's part has these formats only; addresses and others are in vLLM's.
  audio: (url) => {
    const data = dataOf(url);
    const [, format] = /^audio\/(wav|mp3)$/.exec(data?.mediaType ?? '') ?? [];
    return data === null || format === undefined
      ? { type: 'audio_url', audio_url: { url } }
      : { type: 'input_audio', input_audio: { data: data.base64, format } };
  },
};

function chatMessage(message: Message): JsonObject {
  return { ...message, images: undefined, audio: undefined, content: contentOf(message, CHAT_PARTS) };
}

/** Conversation and prompt as one text, for APIs without roles. */
export function plainText(request: GenerationRequest): string {
  const earlier = request.history ?? [];
  return earlier.length === 0
    ? request.prompt
    : messages(request)
        .map(({ content }) => content)
        .join('\n\n');
}

/**
 * The body of an OpenAI request as JSON text. `input` is what the endpoint makes of the prompt, `lengthField` is its
 * name for the maximum output length. A payload of the dataset keeps its own input, model and length if it has them.
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
      ? { ...options.sampling, model: options.model, ...input, ...length, ...request.extra }
      : { model: options.model, ...options.sampling, ...withLength(request.payload, length), ...request.payload };
  return bodyText(
    {
      ...begun,
      stream,
      // The payload's own stream options are dropped when none are requested.
      stream_options: stream && options.includeUsage ? { include_usage: true } : undefined,
    },
    options,
  );
}

/** The JSON of a body without the fields that the user removes, also among SGLang's sampling parameters. */
export function bodyText(body: JsonObject, { omitted = [] }: GenerationOptions): string {
  if (omitted.length === 0) return JSON.stringify(body);
  const without = (fields: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !omitted.includes(name)));
  const { sampling_params: sampling } = body;
  return JSON.stringify(without(isObject(sampling) ? { ...body, sampling_params: without(sampling) } : body));
}

/** A payload may limit its output under any of the names that the APIs use. */
function withLength(payload: JsonObject, length: JsonObject): JsonObject {
  const bounded = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].some((name) => payload[name] != null);
  return bounded ? {} : length;
}

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
    media: ['images', 'audio'],

    body(request: GenerationRequest, options: GenerationOptions): string {
      const input = { messages: messages(request).map(chatMessage), tools: request.tools };
      return openAiBody(input, options.lengthField ?? 'max_tokens', request, options);
    },

    ...choiceReading('chat', outputFields),
  };
}

export const chat = chatEndpoint(null);

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
