import { TOKENIZER_DEFINITIONS, UNKNOWN_SOURCE_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import { closedLoop, type Load } from '../../../core/run/load.ts';
import type { RequestRecord, TokenSource, ErrorReason } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import { ImportNotes } from '../import-notes.ts';
import { UNREPORTED, known, reportedRun, type ImportedRun, type KnownKey } from '../importer.ts';
import { Fields, isObject, publicOriginOrNull } from '../reading/fields.ts';
import { readElements } from '../reading/long-json/read-long-document.ts';
import { errorCounts, howEnded, pythonError } from '../reading/python-error.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import {
  identityOf,
  limitsText,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedGoodput,
  statedScalars,
  type StatedFigure,
} from '../stated/stated-measures.ts';

/** Who counted the output tokens that the tool divides by (`use_server_output_tokens`); null: not reported. */
type OutputTokens = 'usage' | 'tokenizer' | null;

/** `median` is p50; percentiles are linear, as numpy has them. */
const STATISTICS = {
  ...{ mean: 'mean', min: 'min', max: 'max' },
  percentiles: percentileNames({ p50: 'median', p99_9: 'p99.9' }),
};

/** The tool reads `content` alone: a response that begins with reasoning has its first token later. */
const latencies = (output: OutputTokens): readonly StatedFigure[] => [
  ['request_latency', 'request_latency', 'sent_to_end_of_answer'],
  ['time_to_first_token', 'time_to_first_token', 'sent_to_first_output_chunk'],
  ['time_per_output_token', 'inter_token_latency', by('per_request_mean_from_usage', output)],
  ['inter_token_latency', 'inter_chunk_latency', 'gap_between_tokens_of_chunks'],
  [
    'normalized_time_per_output_token',
    'time_per_output_token',
    'request_latency_over_output_tokens',
    { unit: 'seconds' },
  ],
];
/** Latencies of which each ok request has one. */
const OF_EACH: ReadonlySet<string> = new Set(['request_latency', 'normalized_time_per_output_token']);

const DELAY: StatedFigure = ['schedule_delay', 'schedule_delay', 'due_to_sent', { clock: 'due', population: 'all' }];

/** Over the time from the first request, also a failed one, to the last response. */
const rates = (output: OutputTokens): readonly StatedFigure[] => [
  ['requests_per_sec', 'request_throughput', 'ok_requests_over_window'],
  ['input_tokens_per_sec', 'input_token_throughput', by('ok_input_tokens_over_window', null)],
  ['output_tokens_per_sec', 'output_token_throughput', by('ok_output_tokens_over_window', output)],
  ['total_tokens_per_sec', 'total_token_throughput', by('ok_input_and_output_tokens_over_window', null)],
];

/**
 * The figures of one stage (`stage_N_lifecycle_metrics.json`, or the summary over all), in seconds and tokens. `limits` are
 * those of the goodput in the configuration.
 */
function stageMeasures(report: Fields, output: OutputTokens, limits: Fields | null): MeasureResult[] {
  const [successes, summary] = [report.at('successes'), report.at('load_summary')];
  const [latency, throughput] = [successes.at('latency'), successes.at('throughput')];
  const ok = successes.count('count');
  const good = successes.object('goodput_metrics');
  const percent = good?.amount('goodput_percentage') ?? null;
  const share = percent === null ? null : percent / 100;
  const text = limits === null ? '[limits not reported]' : limitsText(limits);
  return [
    ...latencies(output).flatMap((row) => distribution(latency, row, OF_EACH.has(row[0]) ? ok : null)),
    ...lengths(successes, ok),
    ...distribution(summary, DELAY, summary.count('count')),
    ...statedScalars((name) => throughput.amount(name), rates(output)),
    ...statedGoodput([good?.amount('request_goodput') ?? null, 'window'], [share, 'ok'], text),
  ];
}

/** Our definition with the tokens of the server, or what takes its place. */
function by(definition: string, source: OutputTokens): string {
  if (source === 'usage') return definition;
  const others = source === 'tokenizer' ? TOKENIZER_DEFINITIONS : UNKNOWN_SOURCE_DEFINITIONS;
  return others[definition] ?? definition;
}

function distribution(parent: Fields, row: StatedFigure, n: number | null): MeasureResult[] {
  const found = parent.object(row[0]);
  if (found?.has('mean') !== true) return [];
  return [
    statedDistribution(
      identityOf(row),
      readStatistics((name) => found.number(name), STATISTICS, n),
    ),
  ];
}

/**
 * From 0.7 on the lengths are those of the server where it reports them, and `client_fallback_requests` counts the others.
 * Before, the output was counted by the tokenizer (`output_len`).
 */
function lengths(successes: Fields, ok: number | null): MeasureResult[] {
  const fallbacks = successes.object('client_fallback_requests');
  const source = (side: 'prompt' | 'output'): OutputTokens => (fallbacks?.count(side) === 0 ? 'usage' : null);
  const first = (...rows: readonly StatedFigure[]): MeasureResult[] =>
    rows.map((row) => distribution(successes, row, ok)).find((found) => found.length > 0) ?? [];
  const input = by('usage_prompt_tokens', source('prompt'));
  const output = by('usage_completion_tokens', source('output'));
  return [
    ...first(['prompt_tokens', 'input_sequence_length', input], ['prompt_len', 'input_sequence_length', input]),
    ...first(
      ['output_tokens', 'output_sequence_length', output],
      ['output_len', 'output_sequence_length', by('usage_completion_tokens', 'tokenizer')],
    ),
  ];
}

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
    ...howEnded(failure),
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

/** What there is of one stage. */
export interface StageFiles {
  /** Its report, or that of the whole run; null when there are requests alone. */
  readonly report: Fields | null;
  readonly config: Fields | null;
  readonly records: StageRecords | null;
  /** Its number; null for the whole run. */
  readonly stage: number | null;
  /** When it was set up, RFC 3339; null when not reported. */
  readonly start: string | null;
}

export function stageRun({ report, config, records, stage, start }: StageFiles, notes: ImportNotes): ImportedRun {
  const server = config?.at('server');
  const url = server?.text('base_url') ?? null;
  const system = server?.text('type') ?? null;
  const failures = report?.at('failures');
  if (records !== null) notes.add('times are from a monotonic clock');
  if (start !== null)
    notes.add('the start is that of the set-up of the stage, about a second before its first request');
  else notes.add('the files report no time of day: the run has no time');
  if (config === null) notes.add('config.yaml is missing: model, address and load are unknown');
  const model = server?.text('model_name') ?? null;
  const type = config?.at('api').text('type') ?? null;
  if (type === 'chat') notes.add('the tool reads no reasoning: the first chunk with other content counts as the first');
  const limits = config?.at('report').at('goodput').object('constraints') ?? null;
  return reportedRun({
    tool: 'inference-perf',
    format: 'inference-perf',
    target: {
      origin: url === null ? null : publicOriginOrNull(url),
      system: system !== null && ['vllm', 'sglang'].includes(system) ? system : null,
    },
    key: { ...keyOf(config, report, stage), ...known({ model }), ...endpointOf(type) },
    start,
    records: records?.records ?? null,
    stated: {
      window_seconds: report?.amount('benchmark_time_seconds') ?? null,
      requests: { ok: report?.at('successes').count('count') ?? null, error: failures?.count('count') ?? null },
      errors: errorsOf(failures?.object('by_label') ?? null),
      measures: report === null ? [] : stageMeasures(report, outputTokens(config), limits),
    },
    notes,
  });
}

function endpointOf(type: string | null): KnownKey {
  if (type === 'chat') return { endpoint_type: 'chat' };
  return type === 'completion' ? { endpoint_type: 'completions' } : {};
}

function outputTokens(config: Fields | null): OutputTokens {
  if (config === null) return null;
  const isServers = config.at('report').at('request_lifecycle').boolean('use_server_output_tokens') === true;
  return isServers ? 'usage' : 'tokenizer';
}

function keyOf(config: Fields | null, report: Fields | null, stage: number | null): KnownKey {
  const stages = config?.at('load').list('stages') ?? [];
  const only = stages[stage ?? (stages.length === 1 ? 0 : NaN)];
  const own = isObject(only) ? new Fields(only, new ImportNotes()) : null;
  const load = loadOf(config?.at('load').text('type') ?? null, own, report?.at('load_summary') ?? null);
  return {
    ...known({ streaming: config?.at('api').boolean('streaming'), load }),
    ...(own !== null && {
      stop: { request_count: own.count('num_requests'), benchmark_duration_seconds: own.amount('duration') },
    }),
  };
}

function loadOf(type: string | null, stage: Fields | null, summary: Fields | null): Load | undefined {
  const concurrency = stage?.count('concurrency_level') ?? summary?.count('concurrency') ?? null;
  if (concurrency !== null && type !== 'constant' && type !== 'poisson') return closedLoop(concurrency);
  const request_rate = stage?.amount('rate') ?? summary?.amount('requested_rate') ?? null;
  if (request_rate === null) return undefined;
  const arrival_pattern = type === 'constant' || type === 'poisson' ? type : null;
  return { ...closedLoop(null), mode: 'request_rate', request_rate, arrival_pattern };
}

/** By the labels of 0.7: `503 - Service Unavailable`, `Timeout`, `Connection Error`. */
function errorsOf(labels: Fields | null): ImportedRun['stated']['errors'] {
  const reasonOf = (label: string): ErrorReason => {
    const status = /^(\d{3}) - /.exec(label)?.[1];
    return pythonError(status === undefined ? label : `HTTP ${status}`).reason;
  };
  return errorCounts((labels?.names ?? []).map((label) => [reasonOf(label), labels?.at(label).count('count') ?? null]));
}
