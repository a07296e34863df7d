import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { RequestRecord, TokenSource } from '../../../core/run/record.ts';
import { UNREPORTED } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import { Fields } from '../reading/fields.ts';
import { readElements } from '../reading/long-json/read-long-document.ts';
import { pythonError } from '../reading/python-error.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/** How many requests a stage has, and how long it took, as its own file states. */
export interface StageSize {
  readonly requests: number | null;
  readonly seconds: number | null;
}

/** The requests of a stage in `per_request_lifecycle_metrics.json`. */
export interface StageRecords {
  /** The time of sending of the first one, seconds on the tool's monotonic clock. */
  readonly zero_s: number;
  readonly records: AsyncIterable<RequestRecord>;
}

/**
 * Which of the requests belong to which stage: the file does not report it. Stages run one after the other, so that in
 * the order of sending the first belong to the first stage, as many as its file counts. Null when the counts or the
 * times of the stages do not agree with that, which is noted.
 */
export async function recordsOfStages(
  file: SourceFile,
  stages: readonly StageSize[],
  notes: ImportNotes,
  reading: Reading,
): Promise<readonly StageRecords[] | null> {
  const sent_s = new FloatColumn();
  const end_s = new FloatColumn();
  for await (const requests of readElements(file, [], [], reading)) {
    for (const value of requests) {
      const request = new Fields(value, notes);
      sent_s.append(request.number('start_time') ?? NaN);
      end_s.append(request.number('end_time') ?? NaN);
    }
  }
  const sent = sent_s.toArray();
  const ends = end_s.toArray();
  const order = Uint32Array.from(sent, (_, i) => i)
    .filter((i) => Number.isFinite(sent[i]) && Number.isFinite(ends[i]))
    .sort((a, b) => (sent[a] ?? 0) - (sent[b] ?? 0));
  const [only] = stages;
  const isOnly = stages.length === 1;
  // The summary of several stages has the sum of their times, not the span.
  const sizes = isOnly ? [{ requests: only?.requests ?? order.length, seconds: null }] : stages;
  const stageOf = new Uint32Array(sent.length);
  let from = 0;
  const zeros: number[] = [];
  for (const [stage, { requests, seconds }] of sizes.entries()) {
    const members = order.subarray(from, from + (requests ?? 0));
    const first = sent[members[0] ?? NaN];
    const span = members.reduce((last, i) => Math.max(last, ends[i] ?? NaN), -Infinity) - (first ?? NaN);
    if (first === undefined || (seconds !== null && Math.abs(span - seconds) > 1e-3)) {
      notes.add(`${file.name}: its requests cannot be assigned to the stages, and are not imported`);
      return null;
    }
    for (const i of members) stageOf[i] = stage + 1;
    zeros.push(first);
    from += members.length;
  }
  if (from !== order.length) {
    notes.add(`${file.name}: it has ${order.length} requests, the stages count ${from}: they are not imported`);
    return null;
  }
  return zeros.map((zero_s, stage) => ({
    zero_s,
    records: readStage(file, (i) => stageOf[i] === stage + 1, zero_s, notes, reading),
  }));
}

async function* readStage(
  file: SourceFile,
  isMember: (index: number) => boolean,
  zero_s: number,
  notes: ImportNotes,
  reading: Reading,
): AsyncGenerator<RequestRecord> {
  let place = 0;
  let index = 0;
  for await (const requests of readElements(file, [], [], reading)) {
    for (const value of requests) {
      if (isMember(place++)) yield recordOf(new Fields(value, notes, `request ${place - 1}: `), index++, zero_s);
    }
  }
}

function recordOf(request: Fields, index: number, zero_s: number): RequestRecord {
  const at = (time_s: number | null | undefined): number | null =>
    time_s == null ? null : Math.round((time_s - zero_s) * 1e9);
  const info = request.at('info');
  // Up to 0.5 the figures of the response were in `info` itself.
  const response = info.object('response_metrics') ?? info;
  const sent_ns = at(request.number('start_time')) ?? 0;
  const end_ns = at(request.number('end_time')) ?? sent_ns;
  const failure = failureOf(request.object('error'));
  const chunks = contentChunks(response);
  const usage = response.object('server_usage');
  const counted = (server: string, own: number | null): readonly [number | null, TokenSource | null] => {
    const byServer = usage?.count(server) ?? null;
    if (byServer !== null) return [byServer, 'usage'];
    return failure !== null || own === null ? [null, null] : [own, 'tokenizer'];
  };
  const inputs = info.object('request_metrics')?.at('text').count('input_tokens') ?? info.count('input_tokens');
  const [input_tokens, input_tokens_source] = counted('prompt_tokens', inputs);
  const [output_tokens, output_tokens_source] = counted('completion_tokens', response.count('output_tokens'));
  return {
    ...UNREPORTED,
    index,
    sent_ns,
    first_content_ns: at(chunks[0]),
    last_content_ns: at(chunks.at(-1)) ?? (failure === null ? end_ns : null),
    end_ns,
    outcome: outcomeOf(failure?.reason ?? null),
    reason: failure?.reason ?? null,
    http_status: failure === null ? 200 : failure.http_status,
    input_tokens,
    input_tokens_source,
    output_tokens,
    output_tokens_source,
    cached_tokens: usage?.object('prompt_tokens_details')?.count('cached_tokens') ?? null,
    requested_output_tokens: requestedTokens(request.raw('request')),
    chunk_offsets_ns: chunks.map((time_s) => (at(time_s) ?? NaN) - sent_ns),
  };
}

/** The times of the chunks with content, seconds: the tool repeats the time of a chunk for each of its tokens. */
function contentChunks(response: Fields): number[] {
  const times = response.numbers('output_token_times');
  return (times ?? []).filter((time_s, i, all): time_s is number => time_s !== null && time_s !== all[i - 1]);
}

function failureOf(error: Fields | null): ReturnType<typeof pythonError> | null {
  if (error === null) return null;
  const type = error.text('error_type') ?? '';
  const status = /^HTTP Error (\d{3})$/.exec(type)?.[1];
  // The message of an HTTP error is the body of the response, which does not describe the connection.
  return pythonError(status === undefined ? `${type}: ${error.text('error_msg') ?? ''}` : `HTTP ${status}`);
}

/** Of the request's body, which is JSON as text; nothing else of it is looked at. */
function requestedTokens(body: unknown): number | null {
  if (typeof body !== 'string') return null;
  const found = /"max_(?:completion_)?tokens":\s*(\d{1,9})\b/.exec(body.slice(-1000))?.[1];
  return found === undefined ? null : Number(found);
}

/** Whether a list is of requests, from how it begins. */
export function beginsWithRequest(text: string): boolean {
  return /^\s*\[\s*\{\s*"(stage_id|session_id|start_time)"\s*:/.test(text) && /"info"\s*:/.test(text);
}
