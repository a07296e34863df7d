import type { RequestRecord } from '../../../core/run/record.ts';
import { UNREPORTED } from '../importer.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { readElements, readLongDocument } from '../reading/long-json/read-long-document.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/** One load of perf_analyzer. Its requests, with all that was answered, are read from the file as they are needed. */
export interface Experiment {
  readonly mode: string | null;
  readonly value: number | null;
  /** When the first of its requests was sent; null without one. */
  readonly firstSent_ns: bigint | null;
  /** What its first request sent, as far as it is kept; null when it is not. */
  readonly payload: Fields | null;
  /** Its requests; times are ns since `zero_ns`. */
  readonly records: (zero_ns: bigint, notes: ImportNotes) => AsyncIterable<RequestRecord>;
}

export interface Profile {
  /** Without the requests. */
  readonly fields: Fields;
  readonly experiments: readonly Experiment[];
}

const REQUESTS = ['experiments', '*', 'requests'] as const;

/** Reads `profile_export.json`. Throws `ImportRefusal` when it is no JSON, and what reading throws. */
export async function readProfile(file: SourceFile, notes: ImportNotes, reading: Reading): Promise<Profile> {
  const overviews = new Map<string, RequestsOverview>();
  const elements = (requests: readonly unknown[], [, index = '']: readonly string[]): void => {
    const overview = overviews.get(index) ?? { firstSent_ns: null, payload: payloadOf(requests[0]) };
    overviews.set(index, overview);
    addSent(overview, requests);
  };
  const lists = [{ path: REQUESTS, elements }];
  const fields = new Fields(await readLongDocument(file, lists, notes, reading, 'bigint'), notes);
  const again = reading.signal === undefined ? {} : { signal: reading.signal };
  const experiments = (fields.list('experiments') ?? []).map((each, i): Experiment => {
    const experiment = new Fields(each, notes, 'experiments.');
    const load = experiment.object('experiment');
    const { firstSent_ns = null, payload = null } = overviews.get(String(i)) ?? {};
    const path = ['experiments', String(i), 'requests'];
    return {
      mode: load?.text('mode') ?? null,
      value: load?.number('value') ?? null,
      firstSent_ns,
      payload,
      records: (zero_ns, own) => recordsOf(readElements(file, path, [REQUESTS], again, 'bigint'), zero_ns, own),
    };
  });
  return { fields, experiments };
}

interface RequestsOverview {
  firstSent_ns: bigint | null;
  readonly payload: Fields | null;
}

function addSent(overview: RequestsOverview, requests: readonly unknown[]): void {
  for (const request of requests) {
    const sent = isObject(request) ? nanoseconds(request['timestamp']) : null;
    if (sent !== null && (overview.firstSent_ns === null || sent < overview.firstSent_ns)) overview.firstSent_ns = sent;
  }
}

/** A time of perf_analyzer: nanoseconds, whole whatever their size. */
function nanoseconds(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
}

async function* recordsOf(
  batches: AsyncIterable<readonly unknown[]>,
  zero_ns: bigint,
  notes: ImportNotes,
): AsyncGenerator<RequestRecord> {
  let [index, position] = [0, 0];
  for await (const requests of batches) {
    for (const request of requests) {
      const record = recordOf(request, index, zero_ns);
      if (record === null) notes.count('records left out: no timestamp or response_timestamps', `request ${position}`);
      else {
        yield record;
        index += 1;
      }
      position += 1;
    }
  }
}

function recordOf(request: unknown, index: number, zero_ns: bigint): RequestRecord | null {
  if (!isObject(request)) return null;
  const sent = nanoseconds(request['timestamp']);
  const stamps = Array.isArray(request['response_timestamps']) ? request['response_timestamps'].map(nanoseconds) : [];
  const last = stamps.at(-1) ?? null;
  if (sent === null || last === null || stamps.includes(null)) return null;
  const outputs: readonly unknown[] = Array.isArray(request['response_outputs']) ? request['response_outputs'] : [];
  const contents = stamps.map((_, i) => responseContent(outputs[i]));
  const offsets = stamps.map((at) => Number((at ?? 0n) - sent));
  // Without outputs every response counts: perf_analyzer keeps one per chunk.
  const chunks = offsets.filter((_, i) => contents[i]?.hasContent !== false);
  const failed = contents.some(({ isError }) => isError);
  const none = chunks.length === 0;
  const sent_ns = Number(sent - zero_ns);
  const at = (offset: number | undefined): number | null => (offset === undefined ? null : sent_ns + offset);
  const streamed = stamps.length > 1;
  const input = contents.findLast(({ inputTokens }) => inputTokens !== null)?.inputTokens ?? null;
  const output = contents.findLast(({ outputTokens }) => outputTokens !== null)?.outputTokens ?? null;
  return {
    ...UNREPORTED,
    index,
    sent_ns,
    first_content_ns: streamed ? at(chunks[0]) : null,
    last_content_ns: at(chunks.at(-1)),
    end_ns: Number(last - zero_ns),
    outcome: failed || none ? 'error' : 'ok',
    reason: failed ? 'error_event' : none ? 'no_content' : null,
    input_tokens: input,
    input_tokens_source: input === null ? null : 'usage',
    output_tokens: output,
    output_tokens_source: output === null ? null : 'usage',
    requested_output_tokens: payloadOf(request)?.count('max_tokens') ?? null,
    chunk_offsets_ns: streamed ? chunks : [],
  };
}

/** What was sent, as far as it is kept: the model, whether it streams, how much was requested. Its text is not looked at. */
function payloadOf(request: unknown): Fields | null {
  const inputs = isObject(request) ? request['request_inputs'] : null;
  const payload = isObject(inputs) ? inputs['payload'] : null;
  return typeof payload === 'string' ? parsedFields(payload) : null;
}

/** A value within a text; null of what is no JSON. */
function parsedFields(text: string): Fields | null {
  try {
    return new Fields(parseJson(text).value, new ImportNotes());
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}

/** What one response of a request brought, as perf_analyzer kept it. */
interface ResponseContent {
  /** It held text, reasoning or a tool call; null when the file keeps no outputs. */
  readonly hasContent: boolean | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly isError: boolean;
}

const UNKNOWN: ResponseContent = { hasContent: null, inputTokens: null, outputTokens: null, isError: false };
const EMPTY: ResponseContent = { ...UNKNOWN, hasContent: false };

/** Reads `{"response": "data: {…}\n\n"}` (OpenAI, several events at once too) and `{"text_output": "…"}` (Triton). */
function responseContent(output: unknown): ResponseContent {
  if (!isObject(output)) return UNKNOWN;
  const { response, text_output: text } = output;
  if (typeof text === 'string') return { ...UNKNOWN, hasContent: text !== '' };
  if (typeof response !== 'string') return UNKNOWN;
  return response
    .split('\n')
    .map((line) => line.replace(/^data:\s?/, '').trim())
    .filter((line) => line !== '' && line !== '[DONE]' && !line.startsWith(':') && !line.startsWith('event:'))
    .map(eventContent)
    .reduce(joined, EMPTY);
}

function joined(a: ResponseContent, b: ResponseContent): ResponseContent {
  return {
    hasContent: a.hasContent === true || b.hasContent === true,
    inputTokens: b.inputTokens ?? a.inputTokens,
    outputTokens: b.outputTokens ?? a.outputTokens,
    isError: a.isError || b.isError,
  };
}

function eventContent(line: string): ResponseContent {
  // An event that perf_analyzer split has no content itself.
  const event = parsedFields(line);
  if (event === null) return EMPTY;
  const usage = event.at('usage');
  const choices = event.list('choices') ?? [];
  return {
    hasContent: choices.some((choice) => isObject(choice) && hasContent(choice)),
    inputTokens: usage.count('prompt_tokens'),
    outputTokens: usage.count('completion_tokens'),
    isError: isObject(event.raw('error')),
  };
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function hasContent(choice: Readonly<Record<string, unknown>>): boolean {
  const delta = choice['delta'] ?? choice['message'];
  if (isText(choice['text'])) return true;
  if (!isObject(delta)) return false;
  const { content, reasoning_content: reasoning, reasoning: other, tool_calls: calls } = delta;
  return [content, reasoning, other].some(isText) || (Array.isArray(calls) && calls.length > 0);
}
