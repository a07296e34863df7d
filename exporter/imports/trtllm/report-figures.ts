import { quotient } from '../../../core/measures/scalar-measures.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import { UNREPORTED } from '../importer.ts';
import { isObject, type Fields } from '../reading/fields.ts';
import { checkedExact, FLOOR_RANK } from '../stated/check-statistics.ts';
import {
  identityOf,
  readStatistics,
  statedDistribution,
  statedScalars,
  type StatedFigure,
  type StatedStatistics,
} from '../stated/stated-measures.ts';

/** A request of `--request_json`; times are nanoseconds of a monotonic clock, of which only differences mean something. */
export interface EngineRequest {
  readonly index: number;
  readonly sent_ns: number;
  /** Null when the response was not streamed. */
  readonly first_ns: number | null;
  /** Null when it never finished. */
  readonly end_ns: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly failed: boolean;
}

/** The requests of the file; what cannot be one is left out and counted. The texts of the responses are not read. */
export function engineRequests(document: unknown, notes: ImportNotes): readonly EngineRequest[] {
  if (!Array.isArray(document)) return [];
  return (document as readonly unknown[]).flatMap((value, index) => {
    const request = engineRequest(value, index);
    if (request === null) notes.count('requests left out: no time of sending', `request ${index}`);
    return request ?? [];
  });
}

function engineRequest(value: unknown, index: number): EngineRequest | null {
  if (!isObject(value)) return null;
  // −1 is what the tool writes for a time that never came.
  const number = (name: string): number | null => {
    const found = Object.hasOwn(value, name) ? value[name] : null;
    return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : null;
  };
  const time = (name: string): number | null => number(name) || null;
  const sent_ns = number('start_timestamp');
  if (sent_ns === null) return null;
  const end_ns = time('end_timestamp');
  return {
    index,
    sent_ns,
    first_ns: time('first_token_timestamp'),
    end_ns,
    input_tokens: number('num_input_tokens'),
    output_tokens: number('num_output_tokens') ?? number('output_tokens'),
    failed: end_ns === null || (number('error_tokens') ?? 0) > 0,
  };
}

/**
 * The records. They hold no times of chunks: the tool measures inside the engine's process, which is no time to first
 * token as a client sees it.
 */
export async function* engineRecords(requests: readonly EngineRequest[]): AsyncGenerator<RequestRecord> {
  const zero_ns = requests.reduce((earliest, { sent_ns }) => Math.min(earliest, sent_ns), Infinity);
  for (const { index, sent_ns, end_ns, input_tokens, output_tokens, failed } of requests) {
    yield {
      ...UNREPORTED,
      index,
      sent_ns: sent_ns - zero_ns,
      end_ns: (end_ns ?? sent_ns) - zero_ns,
      outcome: failed ? 'error' : 'ok',
      reason: failed ? (end_ns === null ? 'no_finish' : 'other') : null,
      input_tokens,
      input_tokens_source: input_tokens === null ? null : 'usage',
      output_tokens: failed ? null : output_tokens,
      output_tokens_source: failed || output_tokens === null ? null : 'usage',
    };
  }
}

const MS = 1e-3;
const NS = 1e-9;

const STATISTICS = {
  ...{ mean: 'average', min: 'minimum', max: 'maximum' },
  percentiles: { p50: 'p50', p90: 'p90', p95: 'p95', p99: 'p99' },
};

const LATENCY: StatedFigure = [
  'performance.request_latency_percentiles_ms',
  'request_latency',
  'engine_request_to_last_token',
  { scale: MS },
];
const TTFT: StatedFigure = [
  'streaming_metrics.ttft_percentiles',
  'time_to_first_token',
  'engine_request_to_first_token',
  { scale: MS },
];
const TPOT: StatedFigure = [
  'streaming_metrics.tpot_percentiles',
  'inter_token_latency',
  'engine_per_request_mean',
  { scale: MS },
];

const DISTRIBUTIONS: readonly StatedFigure[] = [
  LATENCY,
  TTFT,
  TPOT,
  [
    'streaming_metrics.gen_tps_percentiles',
    'output_token_throughput_per_user',
    'engine_generated_tokens_over_generation_time',
  ],
  [
    'decoding_stats.draft_acceptance_rate_percentiles',
    'draft_token_acceptance_ratio',
    'engine_per_request_accepted_over_drafted',
    { unit: 'ratio', origin: 'server' },
  ],
  [
    'decoding_stats.acceptance_length_percentiles',
    'accepted_tokens_per_step',
    'engine_per_request_output_tokens_over_iterations',
    { unit: 'tokens', origin: 'server' },
  ],
];

const SCALARS: readonly StatedFigure[] = [
  ['performance.request_throughput_req_s', 'request_throughput', 'ok_requests_over_window'],
  ['performance.system_output_throughput_tok_s', 'output_token_throughput', 'ok_output_tokens_over_window'],
  ['performance.system_total_throughput_tok_s', 'total_token_throughput', 'ok_input_and_output_tokens_over_window'],
  [
    'performance.output_throughput_per_gpu_tok_s',
    'output_token_throughput_per_gpu',
    'output_token_throughput_over_world_size',
    { unit: 'tokens_per_second' },
  ],
  [
    'request_info.avg_num_concurrent_requests',
    'effective_concurrency',
    'request_time_over_window',
    { population: 'all' },
  ],
];

/** Means that the report reports without a distribution. */
const MEANS: readonly StatedFigure[] = [
  [
    'performance.output_throughput_per_user_tok_s',
    'e2e_output_token_throughput',
    'engine_output_tokens_over_request_latency',
  ],
  ['request_info.avg_input_length', 'input_sequence_length', 'usage_prompt_tokens'],
  ['request_info.avg_output_length', 'output_sequence_length', 'usage_completion_tokens'],
];

/** The member of a section of the report. */
function amountAt(report: Fields, path: string): number | null {
  const [section = '', name = ''] = path.split('.');
  return report.at(section).amount(name);
}

function statisticsAt(report: Fields, path: string, n: number | null = null): StatedStatistics | null {
  const [section = '', name = ''] = path.split('.');
  const reported = report.at(section).object(name);
  return reported && readStatistics((statistic) => reported.amount(statistic), STATISTICS, n);
}

/** What a report reports, in base units; a section that it lacks is absent. */
export function reportMeasures(report: Fields, n: number | null): MeasureResult[] {
  const distributions = DISTRIBUTIONS.flatMap((row) => {
    const statistics = statisticsAt(report, row[0], n);
    return statistics === null ? [] : [statedDistribution(identityOf(row), statistics, row[3]?.scale)];
  });
  const means = MEANS.flatMap((row) => {
    const mean = amountAt(report, row[0]);
    return mean === null ? [] : [statedDistribution(identityOf(row), { n, mean })];
  });
  return [...distributions, ...statedScalars((path) => amountAt(report, path), SCALARS), ...means];
}

/** A request that came to its end; a first token before the sending is none. */
type FinishedRequest = EngineRequest & { readonly end_ns: number };

/** Of what each finished request has a value, ns, and what its figure is called where the report has it by the same formula. */
const OF_REQUESTS: readonly (readonly [StatedFigure, string | null, (request: FinishedRequest) => number | null])[] = [
  [LATENCY, 'request latency', ({ sent_ns, end_ns }) => end_ns - sent_ns],
  [TTFT, 'time to first token', ({ sent_ns, first_ns }) => (first_ns === null ? null : first_ns - sent_ns)],
  [
    TPOT,
    null,
    ({ first_ns, end_ns, output_tokens: tokens }) =>
      first_ns === null || tokens === null || tokens <= 1 ? null : (end_ns - first_ns) / (tokens - 1),
  ],
];

/** The latencies of the finished requests, exact; the report is compared with them, by the tool's own percentile. */
export function requestMeasures(
  report: Fields,
  requests: readonly EngineRequest[],
  notes: ImportNotes,
): MeasureResult[] {
  const finished = requests.flatMap((request): FinishedRequest[] => {
    const { sent_ns, first_ns, end_ns, failed } = request;
    if (failed || end_ns === null || end_ns < sent_ns) return [];
    return [{ ...request, end_ns, first_ns: first_ns === null || first_ns < sent_ns ? null : first_ns }];
  });
  return OF_REQUESTS.flatMap(([row, what, valueOf]) => {
    const values = Float64Array.from(
      finished.map(valueOf).filter((value) => value !== null),
      (value) => value * NS,
    );
    const statistics = what === null ? null : statisticsAt(report, row[0]);
    return checkedExact(identityOf(row), values, { what: what ?? '', statistics, scale: MS }, FLOOR_RANK, notes);
  });
}

/** The tool computes both sides from the same numbers. */
const TOLERANCE = 0.01;

/** Notes where the figures of a report cannot belong together. */
export function checkConsistency(report: Fields, notes: ImportNotes): void {
  const [performance, info] = [report.at('performance'), report.at('request_info')];
  const compare = (section: Fields, what: string, computed: number | null): void => {
    const reported = section.amount(what);
    if (reported === null || computed === null) return;
    if (Math.abs(reported - computed) <= TOLERANCE * Math.max(reported, computed)) return;
    const [states, gives] = [reported, computed].map((figure) => Number(figure.toPrecision(9)));
    notes.disagreement(`${what}: the file states ${states ?? NaN}, its other figures give ${gives ?? NaN}`);
  };
  const requests = info.amount('num_requests');
  const total_ms = performance.amount('total_latency_ms');
  const output = performance.amount('system_output_throughput_tok_s');
  const rate = performance.amount('request_throughput_req_s');
  const spent_ms = product(requests, performance.amount('avg_request_latency_ms'));
  compare(performance, 'request_throughput_req_s', quotient(requests, product(total_ms, MS)));
  compare(performance, 'system_output_throughput_tok_s', product(rate, info.amount('avg_output_length')));
  const worldSize = report.at('world_info').amount('world_size');
  compare(performance, 'output_throughput_per_gpu_tok_s', quotient(output, worldSize));
  compare(info, 'avg_num_concurrent_requests', quotient(spent_ms, total_ms));
}

function product(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}
