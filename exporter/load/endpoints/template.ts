import {
  isObject,
  type JsonObject,
  type ResponseText,
  type Endpoint,
  type EventMeaning,
  type GenerationOptions,
  type GenerationRequest,
  type Usage,
  errorMessage,
} from './endpoint.ts';
import { finishReasonOf, tokenCount } from './openai-choices.ts';
import { bodyText, messages, plainText } from './openai.ts';
import { yamlSection, type YamlSection } from '../../files/yaml-section.ts';

/** The location of a value in JSON: keys and indexes from the outside in. */
type JsonPath = readonly (string | number)[];

/**
 * Reads a path such as `choices[0].delta.content`: keys of letters, digits, `_` and `-` joined by dots, indexes in
 * brackets. Throws an Error with the position of the first invalid character.
 */
function parseJsonPath(text: string): JsonPath {
  const path: (string | number)[] = [];
  const step = /(?:^|\.)([\w-]+)|\[(\d{1,6})\]/y;
  let at = 0;
  while (at < text.length) {
    step.lastIndex = at;
    const match = step.exec(text);
    if (match === null)
      throw new Error(`'${text}' is not a valid path at character ${at + 1}; example: choices[0].text`);
    path.push(match[1] ?? Number(match[2]));
    at = step.lastIndex;
  }
  if (path.length === 0) throw new Error('the path is empty; example: choices[0].text');
  return path;
}

/** The value at a path; undefined when it is missing. */
function valueAt(json: unknown, path: JsonPath): unknown {
  let value = json;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? (value as unknown[])[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Values that a template's body may contain, as `{{name}}`. */
const PLACEHOLDERS = ['prompt', 'messages', 'model', 'max_tokens', 'stream'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

/** Paths of the values in an event, or in a complete response. */
interface ResponseLayout {
  readonly text: JsonPath;
  readonly reasoning: JsonPath | null;
  /** `cumulative`: each event repeats the text so far. */
  readonly text_is: 'delta' | 'cumulative';
  readonly output_tokens: JsonPath | null;
  /** `added`: the tokens since the previous event. */
  readonly output_tokens_are: 'total' | 'added';
  readonly input_tokens: JsonPath | null;
  readonly reasoning_tokens: JsonPath | null;
  readonly cached_tokens: JsonPath | null;
  /** A string at this path, or an object with a `type`, ends the response. */
  readonly finish_reason: JsonPath | null;
  /** An error message, or an object that contains one; the usual forms are recognized without it. */
  readonly error: JsonPath | null;
}

/** `--endpoint-template`: an API without a built-in endpoint type. */
export interface TemplateConfig {
  readonly path: string;
  readonly body: JsonObject;
  readonly answer: ResponseLayout;
  /** For a response that is not a stream; default: `answer`. */
  readonly whole: ResponseLayout;
  /** What ends a stream: the finish reason, the event `done`, or the end of the body. */
  readonly ends: 'finish_reason' | 'done' | 'body';
  /** Data of the event that ends a stream. */
  readonly done: string;
}

/** Names in `{{…}}` in all strings of a JSON value. */
function placeholdersIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(/\{\{\s*(.*?)\s*\}\}/g)].map((match) => match[1] ?? '');
  if (Array.isArray(value)) return (value as unknown[]).flatMap(placeholdersIn);
  return isObject(value) ? Object.values(value).flatMap(placeholdersIn) : [];
}

/** An API described by a template: a body with placeholders, and the paths of text, tokens and end in the response. */
export function templateEndpoint(config: TemplateConfig): Endpoint {
  const { answer, whole } = config;
  const lastKey = answer.text.at(-1);
  return {
    type: 'template',
    path: config.path,
    ownFields: Object.keys(config.body),
    // A body may have it at any depth, under any name.
    lengthField: null,
    modes: ['stream', 'whole'],
    wholeBy: config.ends === 'finish_reason' ? 'event' : config.ends,
    doneData: config.done,
    addsUsage: answer.output_tokens_are === 'added',
    generates: true,
    // The meaning of a cumulative text depends on the previous one, so such events are always parsed.
    variableKeys: new Set(answer.text_is === 'delta' && typeof lastKey === 'string' ? [lastKey] : []),

    body(request: GenerationRequest, options: GenerationOptions): string {
      const values = placeholderValues(request, options);
      const { tools, extra } = request;
      const written = request.payload ?? {
        ...(filled(config.body, values) as object),
        ...(tools && { tools }),
        ...extra,
      };
      return bodyText({ ...options.sampling, ...written }, options);
    },

    interpret: (event: unknown): EventMeaning | null => meaning(event, answer, true),

    interpretWhole: (json: unknown): EventMeaning | null => meaning(json, whole, false),

    text(json: unknown): ResponseText {
      const layout = textAt(json, answer.text) === '' && textAt(json, answer.reasoning) === '' ? whole : answer;
      return { output: textAt(json, layout.text), reasoning: textAt(json, layout.reasoning) };
    },
  };
}

type PlaceholderValues = Readonly<Record<Placeholder, unknown>>;

function placeholderValues(request: GenerationRequest, options: GenerationOptions): PlaceholderValues {
  return {
    prompt: plainText(request),
    messages: messages(request),
    model: options.model,
    max_tokens: request.max_tokens,
    stream: options.stream ?? true,
  };
}

/**
 * A string that is only a placeholder becomes the value with its type; within other text the value is written as text.
 */
function filled(template: unknown, values: PlaceholderValues): unknown {
  if (typeof template === 'string') {
    const alone = /^\{\{\s*(\w+)\s*\}\}$/.exec(template)?.[1];
    if (alone !== undefined) return values[alone as Placeholder];
    return template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => written(values[name as Placeholder]));
  }
  if (Array.isArray(template)) return (template as unknown[]).map((item) => filled(item, values));
  if (!isObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, filled(value, values)]));
}

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function meaning(json: unknown, layout: ResponseLayout, isEvent: boolean): EventMeaning | null {
  if (!isObject(json)) return null;
  const usage = usageAt(json, layout);
  const output = textAt(json, layout.text);
  const content = output + textAt(json, layout.reasoning);
  const error = errorAt(json, layout.error);
  const cumulative = isEvent && layout.text_is === 'cumulative';
  const finishReason = finishAt(json, layout.finish_reason);
  const emptyStep = isEvent && content === '' && finishReason === null && usage !== null;
  return {
    content: content !== '',
    ...(content !== '' && output === '' ? { reasoning: true } : {}),
    finishReason,
    usage,
    error,
    ...(cumulative ? { progress: content.length } : {}),
    ...(emptyStep ? { emptyStep } : {}),
  };
}

function usageAt(json: unknown, layout: ResponseLayout): Usage | null {
  const count = (path: JsonPath | null): number | null => (path === null ? null : tokenCount(valueAt(json, path)));
  const usage = {
    input_tokens: count(layout.input_tokens),
    output_tokens: count(layout.output_tokens),
    reasoning_tokens: count(layout.reasoning_tokens),
    cached_tokens: count(layout.cached_tokens),
  };
  return Object.values(usage).every((value) => value === null) ? null : usage;
}

function textAt(json: unknown, path: JsonPath | null): string {
  const value = path === null ? undefined : valueAt(json, path);
  return typeof value === 'string' ? value : '';
}

function finishAt(json: unknown, path: JsonPath | null): string | null {
  const value = path === null ? undefined : valueAt(json, path);
  if (isObject(value)) return typeof value.type === 'string' ? value.type : 'finished';
  if (value === true) return 'finished';
  return finishReasonOf(value);
}

function errorAt(json: Readonly<Record<string, unknown>>, path: JsonPath | null): string | null {
  const value = path === null ? undefined : valueAt(json, path);
  if (value !== undefined && value !== null && value !== false && value !== '') return errorMessage({ error: value });
  return errorMessage(json);
}

const CONFIG_KEYS = ['path', 'body', 'answer', 'whole', 'ends', 'done'] as const;
const LAYOUT_PATHS = [
  'text',
  'reasoning',
  'output_tokens',
  'input_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'finish_reason',
  'error',
] as const;
const LAYOUT_KEYS = [...LAYOUT_PATHS, 'text_is', 'output_tokens_are'] as const;

/** Reads a template from YAML or JSON text. Throws a `ConfigurationError` that begins with `file`. */
export function parseTemplate(text: string, file: string): TemplateConfig {
  const root = yamlSection(text, file);
  root.onlyHas(CONFIG_KEYS);
  const answer = layoutOf(root, 'answer');
  const ends = root.choice('ends', ['finish_reason', 'done', 'body'] as const);
  if (ends === 'finish_reason' && answer.finish_reason === null)
    root.refuse('ends', "is 'finish_reason' but answer.finish_reason is missing");
  return {
    path: pathOf(root),
    body: bodyOf(root),
    answer,
    whole: root.has('whole') ? layoutOf(root, 'whole') : answer,
    ends: ends ?? (answer.finish_reason === null ? 'body' : 'finish_reason'),
    done: root.text('done') ?? '[DONE]',
  };
}

function pathOf(root: YamlSection): string {
  const path = root.needed('path', root.text('path'));
  if (!/^\/[!-~]*$/.test(path)) root.refuse('path', `is '${path}' and must begin with / and contain no spaces`);
  return path;
}

function bodyOf(root: YamlSection): JsonObject {
  if (!root.has('body')) root.refuse('body', 'is missing');
  root.section('body');
  const body = root.raw('body') as JsonObject;
  const used = new Set(placeholdersIn(body));
  const unknown = [...used].find((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const allowed = PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ');
    root.refuse('body', `has the unknown placeholder {{${unknown}}}; allowed are ${allowed}`);
  }
  if (!used.has('prompt') && !used.has('messages')) root.refuse('body', 'contains neither {{prompt}} nor {{messages}}');
  if (!used.has('max_tokens')) root.refuse('body', 'lacks {{max_tokens}}, which limits the length of the response');
  return body;
}

function layoutOf(root: YamlSection, key: string): ResponseLayout {
  if (!root.has(key)) root.refuse(key, 'is missing');
  const layout = root.section(key);
  layout.onlyHas(LAYOUT_KEYS);
  const at = (name: (typeof LAYOUT_PATHS)[number]): JsonPath | null => {
    const path = layout.text(name);
    try {
      return path === null ? null : parseJsonPath(path);
    } catch (error) {
      return layout.refuse(name, `cannot be read: ${(error as Error).message}`);
    }
  };
  return {
    text: layout.needed('text', at('text'), ': set the path of the text in an event'),
    reasoning: at('reasoning'),
    text_is: layout.choice('text_is', ['delta', 'cumulative'] as const) ?? 'delta',
    output_tokens: at('output_tokens'),
    output_tokens_are: layout.choice('output_tokens_are', ['total', 'added'] as const) ?? 'total',
    input_tokens: at('input_tokens'),
    reasoning_tokens: at('reasoning_tokens'),
    cached_tokens: at('cached_tokens'),
    finish_reason: at('finish_reason'),
    error: at('error'),
  };
}
