import type { JsonValue } from '../../core/run/canonical-json.ts';
import type { RequestProgress } from '../engine/events.ts';
import type { AnswerDialect, AnswerHead, StreamTexts } from '../http/answer-texts.ts';

/**
 * JSON in which a string `$name` stands for a value: `$text` of the token (also within a longer string), `$id`,
 * `$created`, `$model`, `$finish`, and the counts so far: `$in`, `$out` (all output), `$reasoning`, `$visible` (output
 * without reasoning) and `$total`.
 */
export type Template = JsonValue;
export type Members = Readonly<Record<string, Template>>;

/** How one server or service gives chat completions: an entry of the table, without code. What is absent is as in OpenAI's API. */
export interface Dialect {
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
  /** Members of each event beside `choices` and `usage`. */
  readonly head?: Members;
  /** Members of each choice beside `index` and `delta`. */
  readonly choice?: Members;
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
  /** Of the event of its own. Default: none. */
  readonly choices?: readonly Template[];
  /** Whether it is null in the events before. */
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
export const reasoningTokens = ({ reasoning }: Dialect, outputTokens: number): number =>
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

/** Words the answers of a dialect to a request that asks for usage, or not. */
export function dialectAnswers(dialect: Dialect): (asksForUsage: boolean) => AnswerDialect {
  const [plain, counted] = [compiledEvents(dialect, dialect.usage.always === true), compiledEvents(dialect, true)];
  return (asksForUsage) => ({
    stream: (head) => new DialectTexts(dialect, asksForUsage ? counted : plain, head),
    whole: (head, content, request) => wholeAnswer(dialect, head, content, request),
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

function render({ pieces, names }: Compiled, values: Values): string {
  let json = pieces[0] ?? '';
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    json += (name === '$text' ? (values.text ?? '').slice(1, -1) : (values[name] ?? 'null')) + (pieces[i + 1] ?? '');
  }
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
}

function compiledEvents(dialect: Dialect, isCounted: boolean): Events {
  const { head = HEAD, choice = CHOICE, text = TEXT, first = FIRST, reasoning, finish = {}, finishExtra } = dialect;
  const { where, value, nullBefore, choices = [] } = dialect.usage;
  const counts = where === 'every' && isCounted ? { usage: value } : nullBefore && isCounted ? { usage: null } : {};
  const event = (delta: Members, end: Members = {}, extra: Members = {}): Compiled =>
    compile({ ...head, choices: [{ index: 0, delta, ...choice, ...end }], ...counts, ...extra });
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
  };
}

/** The counts of a request after `out` of its tokens. */
function counts(dialect: Dialect, { promptTokens, outputTokens }: RequestProgress, out: number): Values {
  const reasoning = Math.min(out, reasoningTokens(dialect, outputTokens));
  return {
    ...{ in: `${promptTokens}`, out: `${out}`, total: `${promptTokens + out}` },
    ...{ reasoning: `${reasoning}`, visible: `${out - reasoning}` },
  };
}

class DialectTexts implements StreamTexts {
  readonly opening: string;
  readonly announcement?: string;
  readonly done = DONE;
  readonly #dialect: Dialect;
  readonly #events: Events;
  readonly #common: Values;
  #tokens = 0;

  constructor(dialect: Dialect, events: Events, head: AnswerHead) {
    this.#dialect = dialect;
    this.#events = events;
    this.#common = { ...headValues(head), in: '0', out: '0', reasoning: '0', visible: '0', total: '0' };
    const { accepted, first } = this.#events;
    const announced = accepted.map((each) => (typeof each === 'string' ? each : this.#event(each, this.#common)));
    if (announced.length > 0) this.announcement = announced.join('');
    this.opening = first === null ? '' : this.#event(first, this.#common);
  }

  token(text: string, request: RequestProgress): string {
    const { comment } = this.#dialect;
    const isReasoning = this.#tokens++ < reasoningTokens(this.#dialect, request.outputTokens);
    const event = isReasoning ? this.#events.reasoning : this.#events.text;
    const written = event === null ? '' : this.#event(event, this.#values(text, request));
    return comment !== undefined && this.#tokens % comment.everyTokens === 0 ? written + comment.text : written;
  }

  /** When the model stops by itself the last token is its stop mark: no text. */
  lastToken(text: string, request: RequestProgress): string {
    const { last, finish } = this.#events;
    const isStopMark = request.finishReason === 'stop';
    if (last !== null) {
      this.#tokens++;
      return this.#event(last, this.#values(isStopMark ? '' : text, request));
    }
    const written = isStopMark ? '' : this.token(text, request);
    if (isStopMark) this.#tokens++;
    return finish === null ? written : written + this.#event(finish, this.#values('', request));
  }

  usage(request: RequestProgress): string {
    const { usage } = this.#events;
    return usage === null ? '' : this.#event(usage, this.#values('', request));
  }

  #values(text: string, request: RequestProgress): Values {
    const finish = `"${request.finishReason}"`;
    return { ...this.#common, ...counts(this.#dialect, request, this.#tokens), text: `"${text}"`, finish };
  }

  #event(template: Compiled, values: Values): string {
    return `data: ${render(template, values)}\n\n`;
  }
}

const headValues = ({ id, created, model }: AnswerHead): Values => ({
  id: JSON.stringify(id),
  created: `${created}`,
  model: JSON.stringify(model),
});

/** The answer to a request without `stream`: the members of all deltas joined. */
function wholeAnswer(dialect: Dialect, answer: AnswerHead, content: string, request: RequestProgress): string {
  const { head = HEAD, choice = CHOICE, text = TEXT, reasoning, usage } = dialect;
  const words = content.match(/ \S+/g) ?? [];
  const thought = reasoningTokens(dialect, request.outputTokens);
  const said = { reasoning: words.slice(0, thought).join(''), text: words.slice(thought).join('') };
  const finish = `"${dialect.finishReason ?? request.finishReason}"`;
  const values = { ...headValues(answer), ...counts(dialect, request, request.generatedTokens), finish };
  const filled = (template: Members, spoken = ''): Members =>
    JSON.parse(render(compile(template), { ...values, text: `"${spoken}"` })) as Members;
  const parts = [
    ...(reasoning === undefined || reasoning === 'hidden' ? [] : [filled(reasoning, said.reasoning)]),
    filled(text, said.text),
  ];
  return JSON.stringify({
    ...filled({ ...head, object: 'chat.completion' }),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...parts.reduce(joined) },
        ...filled({ ...choice, finish_reason: '$finish' }),
      },
    ],
    usage: filled(usage.value),
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
