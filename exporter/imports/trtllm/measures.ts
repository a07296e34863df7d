import type { MeasureResult } from '../../../core/run/result.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { checkStatistics, FLOOR_RANK } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';
import type { EngineRequest } from './requests.ts';

const MS = 1e-3;
const NS = 1e-9;
const PERCENTILES: readonly (readonly [PercentileName, number])[] = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
];

const LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'engine_request_to_last_token' };
const TTFT: StatedIdentity = { measure: 'time_to_first_token', definition: 'engine_request_to_first_token' };
const TPOT: StatedIdentity = { measure: 'inter_token_latency', definition: 'engine_per_request_mean' };
const SPEED: StatedIdentity = {
  measure: 'output_token_throughput_per_user',
  definition: 'engine_generated_tokens_over_generation_time',
};
const ACCEPTANCE: StatedIdentity = {
  measure: 'draft_token_acceptance_ratio',
  definition: 'engine_per_request_accepted_over_drafted',
  unit: 'ratio',
  origin: 'server',
};
const ACCEPTED: StatedIdentity = {
  measure: 'accepted_tokens_per_step',
  definition: 'engine_per_request_output_tokens_over_iterations',
  unit: 'tokens',
  origin: 'server',
};

/** Section, key, measure and the factor to base units. */
const DISTRIBUTIONS: readonly (readonly [string, string, StatedIdentity, number])[] = [
  ['performance', 'request_latency_percentiles_ms', LATENCY, MS],
  ['streaming_metrics', 'ttft_percentiles', TTFT, MS],
  ['streaming_metrics', 'tpot_percentiles', TPOT, MS],
  ['streaming_metrics', 'gen_tps_percentiles', SPEED, 1],
  ['decoding_stats', 'draft_acceptance_rate_percentiles', ACCEPTANCE, 1],
  ['decoding_stats', 'acceptance_length_percentiles', ACCEPTED, 1],
];

const SCALARS: readonly (readonly [string, string, StatedIdentity])[] = [
  ['performance', 'request_throughput_req_s', { measure: 'request_throughput', definition: 'ok_requests_over_window' }],
  [
    'performance',
    'system_output_throughput_tok_s',
    { measure: 'output_token_throughput', definition: 'ok_output_tokens_over_window' },
  ],
  [
    'performance',
    'system_total_throughput_tok_s',
    { measure: 'total_token_throughput', definition: 'ok_input_and_output_tokens_over_window' },
  ],
  [
    'performance',
    'output_throughput_per_gpu_tok_s',
    {
      measure: 'output_token_throughput_per_gpu',
      definition: 'output_token_throughput_over_world_size',
      unit: 'tokens_per_second',
    },
  ],
  [
    'request_info',
    'avg_num_concurrent_requests',
    { measure: 'effective_concurrency', definition: 'request_time_over_window', population: 'all' },
  ],
];

/** Means that the report reports without a distribution. */
const MEANS: readonly (readonly [string, string, StatedIdentity])[] = [
  [
    'performance',
    'output_throughput_per_user_tok_s',
    { measure: 'e2e_output_token_throughput', definition: 'engine_output_tokens_over_request_latency' },
  ],
  ['request_info', 'avg_input_length', { measure: 'input_sequence_length', definition: 'usage_prompt_tokens' }],
  ['request_info', 'avg_output_length', { measure: 'output_sequence_length', definition: 'usage_completion_tokens' }],
];

/** What a report reports, in base units; a section that it lacks is absent. */
export function reportMeasures(report: Fields, n: number | null): MeasureResult[] {
  const distributions = DISTRIBUTIONS.flatMap(([section, key, identity, factor]) => {
    const reported = report.object(section)?.object(key) ?? null;
    if (reported === null) return [];
    const percentiles = Object.fromEntries(PERCENTILES.map(([name]) => [name, reported.amount(name)] as const));
    const edges = {
      mean: reported.amount('average'),
      min: reported.amount('minimum'),
      max: reported.amount('maximum'),
    };
    return [statedDistribution(identity, { n, ...edges, percentiles }, factor)];
  });
  const scalars = SCALARS.flatMap(([section, key, identity]) => {
    const value = report.object(section)?.amount(key) ?? null;
    return value === null ? [] : [statedScalar(identity, value)];
  });
  const means = MEANS.flatMap(([section, key, identity]) => {
    const mean = report.object(section)?.amount(key) ?? null;
    return mean === null ? [] : [statedDistribution(identity, { n, mean })];
  });
  return [...distributions, ...scalars, ...means];
}

/** The latencies of the finished requests, exact. */
export function requestMeasures(requests: readonly EngineRequest[]): MeasureResult[] {
  const { latency, ttft, tpot } = valuesOf(requests);
  const exact = [exactStated(LATENCY, latency), exactStated(TTFT, ttft), exactStated(TPOT, tpot)];
  return exact.filter((result) => result !== null);
}

/** Compares the latencies of a report with its requests, by the tool's own percentile. */
export function checkReport(report: Fields, requests: readonly EngineRequest[], notes: ImportNotes): void {
  const { latency, ttft } = valuesOf(requests);
  compare(report.object('performance')?.object('request_latency_percentiles_ms'), 'request latency', latency, notes);
  compare(report.object('streaming_metrics')?.object('ttft_percentiles'), 'time to first token', ttft, notes);
}

function compare(reported: Fields | null | undefined, what: string, values: Float64Array, notes: ImportNotes): void {
  if (reported == null) return;
  const seconds = (name: string): number | null => {
    const value = reported.amount(name);
    return value === null ? null : value * MS;
  };
  const percentiles = new Map(
    PERCENTILES.flatMap(([name, q]): [number, number][] => {
      const value = seconds(name);
      return value === null ? [] : [[q, value]];
    }),
  );
  const figures = {
    mean: seconds('average'),
    std: null,
    min: seconds('minimum'),
    max: seconds('maximum'),
    percentiles,
  };
  checkStatistics(what, figures, values, FLOOR_RANK, notes);
}

function valuesOf(requests: readonly EngineRequest[]): Readonly<Record<'latency' | 'ttft' | 'tpot', Float64Array>> {
  const values: Record<'latency' | 'ttft' | 'tpot', number[]> = { latency: [], ttft: [], tpot: [] };
  for (const { sent_ns, first_ns, end_ns, output_tokens, failed } of requests) {
    if (failed || end_ns === null || end_ns < sent_ns) continue;
    values.latency.push((end_ns - sent_ns) * NS);
    if (first_ns === null || first_ns < sent_ns) continue;
    values.ttft.push((first_ns - sent_ns) * NS);
    if (output_tokens !== null && output_tokens > 1) values.tpot.push(((end_ns - first_ns) * NS) / (output_tokens - 1));
  }
  return {
    latency: Float64Array.from(values.latency),
    ttft: Float64Array.from(values.ttft),
    tpot: Float64Array.from(values.tpot),
  };
}
