import type { JsonValue } from '../../core/run/canonical-json.ts';
import type { RequestProgress } from '../engine/events.ts';
import type { ResponseDialect, ResponseHead, StreamTexts } from '../http/reply.ts';
import type { ApiError } from '../http/json-body.ts';

/**
 * JSON in which a string `$name` stands for a value: `$text` of the token (also within a longer string), `$id`,
 * `$created`, `$model`, `$finish`, `$media` (tokens of images and audio), and the counts so far: `$in`, `$out` (all output), `$reasoning`, `$visible` (output
 * without reasoning) and `$total`.
 */
export type Template = JsonValue;
export type Members = Readonly<Record<string, Template>>;

/** How a server or service words its responses, without code. What is absent is as in OpenAI's API. */
interface Wording {
  /** `text`: a choice has a text, as in completions, and no delta or message. */
  readonly form?: 'text';
  /** Members of each event beside `choices` and `usage`. */
  readonly head?: Members;
  /** Members of each choice beside `index` and `delta`. */
  readonly choice?: Members;
  /** Of the choice of a response that is no stream. Default: those of a stream. */
  readonly wholeChoice?: Members;
  /** Events and comments that come as soon as the request is accepted. */
  readonly accepted?: readonly (string | Members)[];
  /** A comment that comes after each of these numbers of tokens. */
  readonly comment?: { readonly everyTokens: number; readonly text: string };
  /** The delta before the first token; null: there is none. */
  readonly first?: Members | null;
  /** The delta of a token of reasoning; `hidden`: it is counted and not sent; absent: there is none. */
  readonly reasoning?: Members | 'hidden';
  readonly text?: Members;
  /** The delta of the event with the finish reason; `text`: that of the last token. */
  readonly finish?: Members | 'text';
  /** Members that this event has in addition. */
  readonly finishExtra?: Members;
  /** The only reason that it gives. */
  readonly finishReason?: string;
  readonly usage: UsageRule;
  /** The event that ends a stream whose engine is gone. Default: none, the connection breaks. */
  readonly failed?: Members;
  /** Whether refusals have no object `error` around them. */
  readonly flatErrors?: true;
}

/** How one server or service gives chat completions: an entry of the table. */
export interface Dialect extends Wording {
  readonly title: string;
  /** Of a service, or where a server listens by default. */
  readonly host: string;
  /** Of the request, with `$model`, and with the query that it requires. */
  readonly path: string;
  /** The header that must hold a key; absent: none is required. */
  readonly key?: 'Authorization' | 'api-key';
  /** The fields of a request that limit the output; another name for them is ignored unless it is refused. */
  readonly tokenFields: readonly string[];
  readonly refuses?: Readonly<Record<string, Refusal>>;
  /** What no source states, and is assumed in the stream. */
  readonly unverified?: readonly string[];
  /** What else a user of llmbench should know of it. */
  readonly notes?: readonly string[];
  readonly sources: readonly Source[];
}

export interface Refusal {
  readonly status: number;
  readonly body: Members;
}

export interface UsageRule {
  /** `chunk`: in an event of its own at the end; `finish`: with the finish reason; `every`: counts so far, in every event. */
  readonly where: 'chunk' | 'finish' | 'every' | 'never';
  /** Whether it comes without `stream_options.include_usage`. */
  readonly always?: true;
  readonly value: Members;
  /** Members besides, for a request with images or audio; `$media` are their tokens. Default: none. */
  readonly media?: Members;
  /** Of the event of its own. Default: none. */
  readonly choices?: readonly Template[];
  /** Whether it is null in the events before, if it comes. */
  readonly nullBefore?: true;
}

export interface Source {
  readonly url: string;
  /** Of the version that was read, or when it was read. */
  readonly date: string;
}

const HEAD: Members = { id: '$id', object: 'chat.completion.chunk', created: '$created', model: '$model' };
const CHOICE: Members = { logprobs: null, finish_reason: null };
const FIRST: Members = { role: 'assistant', content: '' };
const TEXT: Members = { content: '$text' };
export const DONE = 'data: [DONE]\n\n';

/** How many of a request's output tokens are reasoning: the first half, for a dialect that has reasoning. */
export const reasoningTokens = ({ reasoning }: Wording, outputTokens: number): number =>
  reasoning === undefined ? 0 : Math.floor(outputTokens / 2);

const CHAT = '/v1/chat/completions';

/** The options of `llmbench run` for a dialect that is at `origin`, such as `http://localhost:8000`. */
export function targetOptions({ path, key }: Dialect, origin: string, model: string): readonly string[] {
  const own = path.replace('$model', model);
  const url = own.endsWith(CHAT) ? ['--url', origin + own.slice(0, -CHAT.length)] : ['--url', origin + own];
  const isNamed = /\/chat\/completions(\?|$)/.test(own);
  const target = isNamed ? url : ['--url', origin, '--endpoint-path', own];
  const auth = key === 'api-key' ? ['--header', 'api-key: KEY'] : ['--api-key-env', 'LLM_API_KEY'];
  return key === undefined ? target : [...target, ...auth];
}

/** Words the responses of a dialect. */
export function dialectResponses(dialect: Wording): ResponseDialect {
  const [plain, counted] = [compiledEvents(dialect, false), compiledEvents(dialect, true)];
  return {
    stream: (head, includeUsage) => new DialectTexts(dialect, includeUsage ? counted : plain, head),
    whole: (head, content, request) => wholeResponse(dialect, head, content, request),
    ...(dialect.flatErrors ? { error: flatError } : {}),
  };
}

/** The responses of a simulated system: its models do not reason, so that the details of tokens are left out. */
export function systemResponses({ reasoning: _, usage, ...dialect }: Dialect): ResponseDialect {
  const members = Object.entries(usage.value).filter(([name]) => name !== 'completion_tokens_details');
  return dialectResponses({ ...dialect, usage: { ...usage, value: Object.fromEntries(members) } });
}

const nulls = (names: readonly string[]): Members => Object.fromEntries(names.map((name) => [name, null]));

/**
 * Words the responses of `/v1/completions`.
 *
 * @param stream what a server has in a choice beside text, index and finish reason: null here
 * @param whole the same in a response that is no stream
 */
export function completionResponses(stream: readonly string[], whole: readonly string[]): ResponseDialect {
  return dialectResponses({
    form: 'text',
    head: { id: '$id', object: 'text_completion', created: '$created', model: '$model', usage: null },
    choice: { ...CHOICE, ...nulls(stream) },
    wholeChoice: { ...CHOICE, ...nulls(whole) },
    first: null,
    text: { text: '$text' },
    finish: 'text',
    usage: { where: 'chunk', value: { prompt_tokens: '$in', total_tokens: '$total', completion_tokens: '$out' } },
  });
}

/** A template as JSON text: fixed pieces, and between them the names of values. */
interface Compiled {
  readonly pieces: readonly string[];
  readonly names: readonly string[];
}

type Values = Readonly<Record<string, string>>;

function compile(template: Template): Compiled {
  const parts = JSON.stringify(template).split(/("\$\w+"|\$text)/);
  return {
    pieces: parts.filter((_, i) => i % 2 === 0),
    names: parts.filter((_, i) => i % 2 === 1).map((name) => name.replace(/^"\$|"$/g, '')),
  };
}

/** Fills in the values that are known, so that the events of a stream cost little more than joining strings. */
function bound({ pieces, names }: Compiled, values: Values): Compiled {
  const left: string[] = [];
  const joined = [pieces[0] ?? ''];
  for (const [i, name] of names.entries()) {
    const value = values[name];
    const next = pieces[i + 1] ?? '';
    if (value !== undefined) joined[joined.length - 1] += value + next;
    else {
      left.push(name);
      joined.push(next);
    }
  }
  return { pieces: joined, names: left };
}

function render({ pieces, names }: Compiled, valueOf: (name: string) => string): string {
  let json = pieces[0] ?? '';
  for (let i = 0; i < names.length; i++) json += valueOf(names[i] ?? '') + (pieces[i + 1] ?? '');
  return json;
}

interface Events {
  readonly accepted: readonly (string | Compiled)[];
  readonly first: Compiled | null;
  readonly reasoning: Compiled | null;
  readonly text: Compiled;
  /** The last token with the finish reason; null: that comes in an event of its own. */
  readonly last: Compiled | null;
  readonly finish: Compiled | null;
  readonly usage: Compiled | null;
  /** For a request with images or audio. */
  readonly mediaUsage: Compiled | null;
}

function compiledEvents(dialect: Wording, isCounted: boolean): Events {
  const { head = HEAD, choice = CHOICE, text = TEXT, first = FIRST, reasoning, finish = {}, finishExtra } = dialect;
  const { where, value, media = {}, nullBefore, choices = [] } = dialect.usage;
  const counts = where === 'every' && isCounted ? { usage: value } : nullBefore && isCounted ? { usage: null } : {};
  const event = (delta: Members, end: Members = {}, extra: Members = {}): Compiled =>
    compile({
      ...head,
      choices: [{ index: 0, ...(dialect.form === 'text' ? delta : { delta }), ...choice, ...end }],
      ...counts,
      ...extra,
    });
  const end = { finish_reason: dialect.finishReason ?? '$finish' };
  const extra = { ...finishExtra, ...(where === 'finish' && isCounted ? { usage: value } : {}) };
  return {
    accepted: (dialect.accepted ?? []).map((each) => (typeof each === 'string' ? each : compile(each))),
    first: first === null ? null : event(first),
    reasoning: reasoning === undefined || reasoning === 'hidden' ? null : event(reasoning),
    text: event(text),
    last: finish === 'text' ? event(text, end, extra) : null,
    finish: finish === 'text' ? null : event(finish, end, extra),
    usage: where === 'chunk' && isCounted ? compile({ ...head, choices, usage: value }) : null,
    mediaUsage: where === 'chunk' && isCounted ? compile({ ...head, choices, usage: { ...value, ...media } }) : null,
  };
}

/** A value of a template that changes with the tokens: after `out` of them, the last of which is `text`. */
function valueAfter(
  dialect: Wording,
  request: RequestProgress | null,
  out: number,
  text: string,
  name: string,
): string {
  if (name === 'text') return `"${text}"`;
  if (name === '$text') return text;
  const { promptTokens = 0, outputTokens = 0, finishReason = 'stop' } = request ?? {};
  if (name === 'finish') return `"${finishReason}"`;
  const reasoning = Math.min(out, reasoningTokens(dialect, outputTokens));
  const counts: Readonly<Record<string, number>> = {
    ...{ in: promptTokens, out, total: promptTokens + out },
    ...{ reasoning, visible: out - reasoning },
  };
  return `${counts[name] ?? null}`;
}

class DialectTexts implements StreamTexts {
  /** The first delta comes with the first token, whose request has counts. */
  readonly opening = '';
  readonly announcement?: string;
  readonly done = DONE;
  readonly failed?: string;
  readonly #dialect: Wording;
  readonly #events: Events;
  #tokens = 0;

  constructor(dialect: Wording, events: Events, head: ResponseHead) {
    this.#dialect = dialect;
    const known = headValues(head);
    const of = (template: Compiled | null): Compiled | null => template && bound(template, known);
    this.#events = {
      ...{ accepted: [], first: of(events.first), text: bound(events.text, known), reasoning: of(events.reasoning) },
      ...{ last: of(events.last), finish: of(events.finish), mediaUsage: null },
      usage: of(head.mediaTokens === undefined ? events.usage : events.mediaUsage),
    };
    const announced = events.accepted.map((each) =>
      typeof each === 'string' ? each : this.#event(bound(each, known), '', null),
    );
    if (announced.length > 0) this.announcement = announced.join('');
    if (dialect.failed !== undefined) this.failed = `data: ${JSON.stringify(dialect.failed)}\n\n${DONE}`;
  }

  token(text: string, request: RequestProgress): string {
    const { comment } = this.#dialect;
    const first = this.#first(request);
    const isReasoning = this.#tokens++ < reasoningTokens(this.#dialect, request.outputTokens);
    const written = first + this.#event(isReasoning ? this.#events.reasoning : this.#events.text, text, request);
    return comment !== undefined && this.#tokens % comment.everyTokens === 0 ? written + comment.text : written;
  }

  /** When the model stops by itself the last token is its stop mark: no text. */
  lastToken(text: string, request: RequestProgress): string {
    const { last, finish } = this.#events;
    const isStopMark = request.finishReason === 'stop';
    if (last === null && !isStopMark) return this.token(text, request) + this.#event(finish, '', request);
    const first = this.#first(request);
    this.#tokens++;
    return first + this.#event(last ?? finish, isStopMark ? '' : text, request);
  }

  usage(request: RequestProgress): string {
    return this.#event(this.#events.usage, '', request);
  }

  #first(request: RequestProgress): string {
    return this.#tokens === 0 ? this.#event(this.#events.first, '', request) : '';
  }

  /** Nothing without a template. */
  #event(template: Compiled | null, text: string, request: RequestProgress | null): string {
    if (template === null) return '';
    const { pieces, names } = template;
    // Nearly all events of a stream have no other value.
    if (names.length === 1 && names[0] === 'text') return `data: ${pieces[0]}"${text}"${pieces[1]}\n\n`;
    const json = render(template, (name) => valueAfter(this.#dialect, request, this.#tokens, text, name));
    return `data: ${json}\n\n`;
  }
}

const headValues = ({ id, created, model, mediaTokens = {} }: ResponseHead): Values => ({
  media: JSON.stringify(mediaTokens),
  id: JSON.stringify(id),
  created: `${created}`,
  model: JSON.stringify(model),
});

/** The response to a request without `stream`: the members of all deltas joined. */
function wholeResponse(dialect: Wording, response: ResponseHead, content: string, request: RequestProgress): string {
  const { head = HEAD, choice = CHOICE, wholeChoice = choice, text = TEXT, reasoning, usage } = dialect;
  const words = content.match(/ \S+/g) ?? [];
  const thought = reasoningTokens(dialect, request.outputTokens);
  const known = headValues(response);
  const filled = (template: Members, spoken = ''): Members =>
    JSON.parse(
      render(bound(compile(template), known), (name) =>
        valueAfter(dialect, request, request.generatedTokens, spoken, name),
      ),
    ) as Members;
  const parts = [
    ...(reasoning === undefined || reasoning === 'hidden' ? [] : [filled(reasoning, words.slice(0, thought).join(''))]),
    filled(text, words.slice(thought).join('')),
  ];
  const said = parts.reduce(joined);
  return JSON.stringify({
    ...filled(dialect.form === 'text' ? head : { ...head, object: 'chat.completion' }),
    choices: [
      {
        index: 0,
        ...(dialect.form === 'text' ? said : { message: { role: 'assistant', ...said } }),
        ...filled({ ...wholeChoice, finish_reason: dialect.finishReason ?? '$finish' }),
      },
    ],
    usage: filled(response.mediaTokens === undefined ? usage.value : { ...usage.value, ...usage.media }),
  });
}

/** The members of two deltas: texts and lists one after the other. */
function joined(before: Members, after: Members): Members {
  const both: Record<string, Template> = { ...before };
  for (const [name, value] of Object.entries(after)) {
    const old = both[name];
    if (value === null || value === '') both[name] ??= value;
    else if (name === 'role' || old === undefined || old === null || old === '') both[name] = value;
    else if (isList(old)) both[name] = [...old, ...(isList(value) ? value : [{ type: 'text', text: value }])];
    else if (typeof old === 'string' && typeof value === 'string') both[name] = old + value;
  }
  return both;
}

const isList = (value: Template): value is readonly Template[] => Array.isArray(value);

/** A refusal in the older shape of OpenAI servers, which SGLang and TensorRT-LLM keep: no object `error` around it. */
export function flatError({ message, type, param, status }: ApiError): string {
  return JSON.stringify({ object: 'error', message, type, param, code: status });
}
