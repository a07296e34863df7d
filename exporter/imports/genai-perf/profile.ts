import type { RequestRecord } from '../../../core/run/record.ts';
import { NOT_COUNTED, NOT_TRACED } from '../../../core/run/record.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { readElements, readLongDocument } from '../reading/long-json/read-long-document.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { responseContent } from './response-content.ts';

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
  return {
    index,
    phase: 'measure',
    due_ns: null,
    sent_ns,
    first_content_ns: streamed ? at(chunks[0]) : null,
    first_output_ns: null,
    last_content_ns: at(chunks.at(-1)),
    end_ns: Number(last - zero_ns),
    connection_reused: null,
    connect_ns: null,
    connection_retried: null,
    outcome: failed || none ? 'error' : 'ok',
    reason: failed ? 'error_event' : none ? 'no_content' : null,
    http_status: null,
    ...usageOf(contents),
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: payloadOf(request)?.count('max_tokens') ?? null,
    chunk_offsets_ns: streamed ? chunks : [],
    ...NOT_TRACED,
    ...NOT_COUNTED,
  };
}

function usageOf(
  contents: readonly { readonly inputTokens: number | null; readonly outputTokens: number | null }[],
): Pick<RequestRecord, 'input_tokens' | 'input_tokens_source' | 'output_tokens' | 'output_tokens_source'> {
  const input = contents.findLast(({ inputTokens }) => inputTokens !== null)?.inputTokens ?? null;
  const output = contents.findLast(({ outputTokens }) => outputTokens !== null)?.outputTokens ?? null;
  return {
    input_tokens: input,
    input_tokens_source: input === null ? null : 'usage',
    output_tokens: output,
    output_tokens_source: output === null ? null : 'usage',
  };
}

/** What was sent, as far as it is kept: the model, whether it streams, how much was requested. Its text is not looked at. */
function payloadOf(request: unknown): Fields | null {
  const inputs = isObject(request) ? request['request_inputs'] : null;
  const payload = isObject(inputs) ? inputs['payload'] : null;
  if (typeof payload !== 'string') return null;
  try {
    return new Fields(parseJson(payload).value, new ImportNotes());
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}
