import { closedLoopKey } from '../../../core/run/load-key.ts';
import { FloatColumn } from '../../../core/measures/float-column.ts';
import { PERCENTILES, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportedRun } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { Fields } from '../reading/fields.ts';
import { isObject } from '../reading/fields.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { pythonError } from '../reading/python-error.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';

/** Metrics of a request, and whether they are times, in the unit of the file. */
const METRICS: readonly (readonly [name: string, identity: StatedIdentity, isTime: boolean])[] = [
  ['ttft', { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' }, true],
  [
    'tpot',
    {
      measure: 'inter_token_latency',
      definition: 'per_request_mean_to_end_of_answer_tokens_of_unknown_source',
    },
    true,
  ],
  ['e2e_latency', { measure: 'request_latency', definition: 'sent_to_end_of_answer' }, true],
  ['num_input_tokens', { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' }, false],
  [
    'num_output_tokens',
    { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' },
    false,
  ],
];

/** Figures of the run: `run_duration` is the time of the whole benchmark. */
const RATES: readonly (readonly [string, StatedIdentity])[] = [
  ['requests_per_second', { measure: 'request_throughput', definition: 'ok_requests_over_wall_time' }],
  [
    'mean_output_throughput_tokens_per_s',
    { measure: 'output_token_throughput', definition: 'output_tokens_of_unknown_source_over_wall_time' },
  ],
  [
    'mean_input_throughput_tokens_per_s',
    { measure: 'input_token_throughput', definition: 'input_tokens_of_unknown_source_over_wall_time' },
  ],
  [
    'mean_total_tokens_throughput_tokens_per_s',
    { measure: 'total_token_throughput', definition: 'tokens_of_unknown_source_over_wall_time' },
  ],
];

/** A result: `aggregated_metrics` and `individual_request_metrics`; `metadata` is that of the experiment. */
export function loadRun(result: Fields, metadata: Fields | null, notes: ImportNotes): ImportedRun {
  const aggregate = result.object('aggregated_metrics');
  const scale = result.text('_time_unit') === 'ms' ? 1e-3 : 1;
  const requests = result.list('individual_request_metrics') ?? [];
  const ok = aggregate?.count('num_completed_requests') ?? null;
  const isWhole = aggregateIsWhole(aggregate, requests, ok, notes);
  const engine = metadata?.text('server_engine') ?? null;
  const system = engine?.toLowerCase() ?? null;
  const model = metadata?.text('api_model_name') ?? null;
  const concurrency = aggregate?.text('iteration_type') === 'batch_size' ? null : aggregate?.count('num_concurrency');
  const url = /--api-base[= ](\S+)/.exec(metadata?.text('cmd') ?? '')?.[1];
  if (metadata === null) notes.add('experiment_metadata.json is missing: model, address and engine are unknown');
  notes.add('the file has no time of day and no time of sending per request: the run has no start time and no records');
  notes.add(
    'tokens are those of the server where it reports them, else of a tokenizer: the file does not report which',
  );
  return {
    part: null,
    tool: { name: 'genai-bench', version: metadata?.text('benchmark_version') ?? null },
    format: { name: 'genai-bench', schema_version: null },
    scenario: aggregate?.text('scenario') ?? null,
    target: {
      origin: url === undefined ? null : publicOriginOrNull(url),
      system: system === 'vllm' || system === 'sglang' ? system : null,
      system_version: metadata?.text('server_version') ?? null,
    },
    key: {
      ...(model !== null && { model }),
      ...(metadata?.text('task') === 'text-to-text' && { endpoint_type: 'chat', streaming: true }),
      ...(concurrency != null && { load: closedLoopKey(concurrency) }),
      stop: {
        request_count: metadata?.count('max_requests_per_run') ?? null,
        benchmark_duration_seconds: metadata?.amount('max_time_per_run_s') ?? null,
      },
    },
    status: 'completed',
    failure: null,
    start: null,
    records: null,
    stated: {
      window_seconds: aggregate?.amount('run_duration') ?? null,
      requests: { ok, error: aggregate?.count('num_error_requests') ?? null, timeout: null, cancelled: null },
      errors: errorsOf(aggregate),
      measures: [
        ...METRICS.flatMap(([name, identity, isTime]) => {
          const factor = isTime ? scale : 1;
          const statistics = aggregate?.object('stats')?.object(name) ?? null;
          const values = valuesOf(requests, name, factor);
          // A value that is missing or cannot be true leaves the tool's own figures.
          return isWhole && values.length === ok && values.every((value) => value >= 0)
            ? exactMetric(name, identity, statistics, values, factor, notes)
            : statedMetric(identity, statistics, factor);
        }),
        ...(isWhole ? RATES : RATES.slice(0, 1)).flatMap(([name, identity]) => {
          const rate = aggregate?.amount(name) ?? null;
          return rate === null ? [] : [statedScalar(identity, rate)];
        }),
      ],
    },
    servers: null,
    notes,
  };
}

/**
 * Whether the tool's figures are of all ok requests: with `--warmup-ratio` and `--cooldown-ratio` they are of those in the
 * middle, and its token rates divide their tokens by the time of all.
 */
function aggregateIsWhole(
  aggregate: Fields | null,
  requests: readonly unknown[],
  ok: number | null,
  notes: ImportNotes,
): boolean {
  if (requests.length === 0) return false;
  const values = valuesOf(requests, 'num_input_tokens', 1);
  const sum = values.reduce((a, b) => a + b, 0);
  const stated = aggregate?.object('stats')?.object('num_input_tokens')?.number('sum') ?? null;
  if (ok !== null && values.length === ok && (stated === null || stated === sum)) return true;
  notes.add(
    'the figures are without the warm-up and cool-down that the tool left out, and are taken as it states them',
  );
  return false;
}

/** Of the requests without an error, in base units. */
function valuesOf(requests: readonly unknown[], name: string, factor: number): Float64Array {
  const values = new FloatColumn();
  for (const request of requests) {
    if (!isObject(request) || (request['error_code'] ?? null) !== null) continue;
    const value = request[name];
    if (typeof value === 'number' && Number.isFinite(value)) values.append(value * factor);
  }
  return values.toArray();
}

function exactMetric(
  name: string,
  identity: StatedIdentity,
  statistics: Fields | null,
  values: Float64Array,
  factor: number,
  notes: ImportNotes,
): MeasureResult[] {
  if (statistics !== null) {
    const scaled = (key: string): number | null => {
      const value = statistics.number(key);
      return value === null ? null : value * factor;
    };
    const percentiles = PERCENTILE_NAMES.flatMap((each): [number, number][] => {
      const value = scaled(each);
      return value === null ? [] : [[PERCENTILES[each], value]];
    });
    const reported = { mean: scaled('mean'), std: scaled('stddev'), min: scaled('min'), max: scaled('max') };
    checkStatistics(name, { ...reported, percentiles: new Map(percentiles) }, values, NUMPY_LINEAR, notes);
  }
  const exact = exactStated(identity, values);
  return exact === null ? [] : [exact];
}

function statedMetric(identity: StatedIdentity, statistics: Fields | null, factor: number): MeasureResult[] {
  if (statistics?.number('mean') == null) return [];
  return [
    statedDistribution(
      identity,
      {
        n: null,
        mean: statistics.number('mean'),
        std: statistics.number('stddev'),
        min: statistics.number('min'),
        max: statistics.number('max'),
        percentiles: Object.fromEntries(PERCENTILE_NAMES.map((each) => [each, statistics.number(each)] as const)),
      },
      factor,
    ),
  ];
}

/** By HTTP status; the tool writes 408 for its own timeout and 503 also where it could not connect. */
function errorsOf(aggregate: Fields | null): ImportedRun['stated']['errors'] {
  const codes = aggregate?.object('error_codes_frequency') ?? null;
  const errors: Partial<Record<ErrorReason, number>> = {};
  for (const code of codes?.names ?? []) {
    const reason = code === '408' ? 'request_timeout' : pythonError(`HTTP ${code}`).reason;
    errors[reason] = (errors[reason] ?? 0) + (codes?.count(code) ?? 0);
  }
  return errors;
}
