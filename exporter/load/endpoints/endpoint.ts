import type { JsonValue } from '../../../core/run/canonical-json.ts';
import type { Media, MediaKind } from '../media/media-urls.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One message of a conversation; its media follow its text. */
export interface Message extends Media {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** Calls of an assistant, in the form of chat completions; absent: none. */
  readonly tool_calls?: readonly JsonObject[];
  /** The call that a message of the role `tool` answers. */
  readonly tool_call_id?: string;
}

/** The content of one request, with the media of the current turn; the dataset makes the text. */
export interface GenerationRequest extends Media {
  /** The text of the current turn; empty: the history ends with it. */
  readonly prompt: string;
  /** What precedes it: system prompt, context, earlier turns with their responses; absent: nothing. */
  readonly history?: readonly Message[];
  /**
   * For endpoints that read texts: those to embed, or to compare with the prompt, which is then the query; absent: the
   * prompt is the only one.
   */
  readonly documents?: readonly string[];
  /** One of several models of the run; absent: that of the options. */
  readonly model?: string;
  /** Always sent, so that no output is longer than planned. */
  readonly max_tokens: number;
  /**
   * Tokens of prompt and history as the client's tokenizer counts them, without the chat template; absent: not counted.
   */
  readonly input_tokens?: number;
  /** Definitions of tools, in the form of chat completions; absent: none. */
  readonly tools?: readonly JsonObject[];
  /** Fields of this request's body besides its input, over those of the run; absent: none. */
  readonly extra?: JsonObject;
  /**
   * A prepared body: only what the run sets (stream, usage) is overwritten, and what is missing (model, length) is
   * added.
   */
  readonly payload?: JsonObject;
}

/** What is the same for every request of a run. */
export interface GenerationOptions {
  readonly model: string;
  /** The first of several models, for APIs that name adapters and not models; absent: the run has one. */
  readonly baseModel?: string;
  /** Sent unchanged: temperature, seed, ignore_eos, min_tokens, … */
  readonly sampling: Readonly<Record<string, JsonValue>>;
  /** Requests a last event with the server's token counts; off only for servers that reject the field. */
  readonly includeUsage: boolean;
  /** Field of the maximum output length in bodies that have a choice of it; absent: the endpoint's own. */
  readonly lengthField?: string;
  /** Fields that are not sent, whatever sets them; absent: none. */
  readonly omitted?: readonly string[];
  /** Whether the response is requested as a stream; absent: yes. */
  readonly stream?: boolean;
}

/** The server's own token counts; null where it reports none. */
export interface Usage {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cached_tokens: number | null;
  /** Of the prompt, what stands for images and for audio; absent: not reported. */
  readonly image_tokens?: number;
  readonly audio_tokens?: number;
}

/** The meaning of one event of a stream, or of a complete response. */
export interface EventMeaning {
  /** It carries generated output: text, refusal, reasoning or a part of a tool call. */
  readonly content: boolean;
  /** All of the content is reasoning; absent: false. */
  readonly reasoning?: true;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  /** The server's message when the event is an error. */
  readonly error: string | null;
  /**
   * Only from servers whose events repeat earlier output: the progress of the response, in tokens or characters. An
   * increase is content, and `content` only means that there is some.
   */
  readonly progress?: number;
  /** Fields of names that are not known, as `delta.name`, which are counted because they have text; absent: none. */
  readonly unknownFields?: readonly string[];
  /** Keys, besides the endpoint's `variableKeys`, whose strings may be any other text in an event of the same meaning. */
  readonly textKeys?: readonly string[];
  /** A generation step without text: when the server's count of output tokens increased with it, a token arrived. */
  readonly emptyStep?: boolean;
}

/** The text of an event or of a complete response. */
export interface ResponseText {
  readonly output: string;
  readonly reasoning: string;
}

export const NO_TEXT: ResponseText = { output: '', reasoning: '' };

/** An API of inference servers: how a request is written and what the events of its response mean. */
export interface Endpoint {
  /** The value of `--endpoint-type`. */
  readonly type: string;
  readonly path: string;
  /** Fields of the body that llmbench sets, which extra inputs can only remove. */
  readonly ownFields: readonly string[];
  /** The one of them that limits the output; null: none does. */
  readonly lengthField: string | null;
  /** Whether the API supports streams, and single JSON responses. */
  readonly modes: readonly ResponseMode[];
  /**
   * What proves that a stream is complete: `event`, a finish reason, or usage and the done event; `done`, either of
   * them; `body`, the end of the HTTP body.
   */
  readonly wholeBy: 'event' | 'done' | 'body';
  /** Whether the output tokens of an event are those since the previous event, so that they must be added up. */
  readonly addsUsage?: boolean;
  /** The data of the event after which everything is ignored; absent: `[DONE]`. */
  readonly doneData?: string;
  /** Whether the response is generated text, token by token; false for embeddings. */
  readonly generates: boolean;
  /** Headers of every request besides those of all APIs; absent: none. */
  readonly headers?: (apiKey: string | null) => Readonly<Record<string, string>>;
  /** What requests may contain beside their text; absent: nothing. */
  readonly media?: readonly MediaKind[];
  /** For endpoints that generate nothing: a list of texts, or a query with documents; absent: a prompt. */
  readonly takes?: 'texts' | 'ranking';
  /** For the same: the number of results that the response to a request has. */
  documents?(request: GenerationRequest): number;
  body(request: GenerationRequest, options: GenerationOptions): string;
  /**
   * The meaning of an event's JSON; null when it does not follow this protocol. `several`: whether several choices
   * were requested; absent: no.
   */
  interpret(event: unknown, several?: boolean): EventMeaning | null;
  /** The meaning of a response that is not a stream; null when it does not follow this protocol. */
  interpretWhole(response: unknown, several?: boolean): EventMeaning | null;
  /** The text in an event or in a complete response. */
  text(json: unknown, several?: boolean): ResponseText;
  /**
   * Keys whose values differ between events of the same meaning. `interpret` depends on a string under them only by
   * whether it is empty, and on a number under them not at all; so events can be recognized without parsing them.
   */
  readonly variableKeys: ReadonlySet<string>;
}

/** Whether every request of a run has a maximum output length. */
export function limitsOutput(
  { lengthField }: Pick<Endpoint, 'lengthField'>,
  options: Pick<GenerationOptions, 'lengthField' | 'omitted'>,
): boolean {
  const name = options.lengthField ?? lengthField;
  return name === null || options.omitted?.includes(name) !== true;
}

export type ResponseMode = 'stream' | 'whole';

/**
 * The server's message in the forms that engines use: `{error: {message}}` (OpenAI, vLLM, Dynamo), `{error: "text"}`
 * (Triton, TGI), `{object: "error", message}` (older vLLM, SGLang), `{code, message}` (llama.cpp, Databricks),
 * `{type: "error", message}`, `{detail}` (FastAPI). Null when it is not an error.
 */
export function errorMessage(response: JsonObject): string | null {
  const { error } = response;
  if (isObject(error)) return withParameter(said(error.message) ?? text(error.type) ?? NO_MESSAGE, error.param);
  if (typeof error === 'string') return error === '' ? NO_MESSAGE : error;
  if (response.object === 'error') return withParameter(said(response.message) ?? NO_MESSAGE, response.param);
  if (response.choices === undefined) {
    const code = CODES.map((name) => response[name]).find(isCode);
    const isError = response.type === 'error' || (code !== undefined && !NO_ERROR.test(String(code)));
    if (isError && text(response.message) !== null) return text(response.message);
  }
  if (response.detail !== undefined && response.choices === undefined) return said(response.detail) ?? NO_MESSAGE;
  return null;
}

const CODES = ['code', 'error_code', 'status_code'] as const;
/** Codes of what succeeded. */
const NO_ERROR = /^(0|2\d\d|ok|success)$/i;

const isCode = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

const NO_MESSAGE = 'error without a message';

/** A text, or the list of what is wrong as JSON (FastAPI, Mistral). */
function said(message: unknown): string | null {
  return text(message) ?? (isObject(message) || Array.isArray(message) ? JSON.stringify(message) : null);
}

/** The name of the field that is wrong, which some messages leave out. */
const withParameter = (message: string, parameter: unknown): string =>
  typeof parameter === 'string' && parameter !== '' && !message.includes(parameter)
    ? `${message} (${parameter})`
    : message;

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
