import { TOKENIZER_DEFINITIONS, UNKNOWN_SOURCE_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { Fields } from '../reading/fields.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';

/** What the statistics of a report are called in it: `p99p9` is the 99.9th percentile. */
const PERCENTILE_KEYS: Readonly<Record<PercentileName, string>> = {
  p1: 'p1',
  p5: 'p5',
  p10: 'p10',
  p25: 'p25',
  p50: 'p50',
  p75: 'p75',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  p99_9: 'p99p9',
};

/** The report's own units of each kind of figure, and what makes base units of them. */
type Scales = Readonly<Record<string, number>>;
const TIMES: Scales = { s: 1, ms: 1e-3, us: 1e-6, 's/token': 1, 'ms/token': 1e-3, 'us/token': 1e-6 };
const COUNTS: Scales = { count: 1, tokens: 1 };
const REQUESTS_PER_SECOND: Scales = { 'queries/s': 1 };
const TOKENS_PER_SECOND: Scales = { 'tokens/s': 1 };

type Latency =
  | 'time_to_first_token'
  | 'time_per_output_token'
  | 'normalized_time_per_output_token'
  | 'inter_token_latency'
  | 'request_latency';

const NORMALIZED: StatedIdentity = {
  measure: 'time_per_output_token',
  definition: 'request_latency_over_output_tokens',
  unit: 'seconds',
};
const PER_REQUEST_MEAN = UNKNOWN_SOURCE_DEFINITIONS['per_request_mean_from_usage'] ?? '';

type Rate = 'request_rate' | 'input_token_rate' | 'output_token_rate' | 'total_token_rate';

/** What the figures of a report mean: it has them under common names, not by common definitions. */
interface ToolDefinitions {
  readonly latencies: Readonly<Partial<Record<Latency, StatedIdentity>>>;
  readonly rates: Readonly<Record<Rate, string>>;
  /** Default: of an unknown source. */
  readonly lengths?: Readonly<Record<Length, string>>;
}

type Length = 'input_length' | 'output_length';

const OVER_WALL_TIME: ToolDefinitions['rates'] = {
  request_rate: 'ok_requests_over_wall_time',
  input_token_rate: 'input_tokens_of_unknown_source_over_wall_time',
  output_token_rate: 'output_tokens_of_unknown_source_over_wall_time',
  total_token_rate: 'tokens_of_unknown_source_over_wall_time',
};

/** By the tool that measured. */
const TOOLS: Readonly<Record<string, ToolDefinitions>> = {
  'inference-perf': {
    latencies: {
      time_to_first_token: { measure: 'time_to_first_token', definition: 'sent_to_first_output_chunk' },
      time_per_output_token: { measure: 'inter_token_latency', definition: PER_REQUEST_MEAN },
      normalized_time_per_output_token: NORMALIZED,
      inter_token_latency: { measure: 'inter_chunk_latency', definition: 'gap_between_tokens_of_chunks' },
      request_latency: { measure: 'request_latency', definition: 'sent_to_end_of_answer' },
    },
    rates: {
      request_rate: 'ok_requests_over_window',
      input_token_rate: 'ok_input_tokens_of_unknown_source_over_window',
      output_token_rate: 'ok_output_tokens_of_unknown_source_over_window',
      total_token_rate: 'ok_input_and_output_tokens_of_unknown_source_over_window',
    },
  },
  'vllm-benchmark': {
    latencies: {
      time_to_first_token: { measure: 'time_to_first_token', definition: 'sent_to_first_chunk' },
      time_per_output_token: {
        measure: 'inter_token_latency',
        definition: 'per_request_mean_between_chunks_tokens_of_unknown_source',
      },
      inter_token_latency: { measure: 'inter_chunk_latency', definition: 'gap_between_chunks' },
      request_latency: { measure: 'request_latency', definition: 'sent_to_last_chunk' },
    },
    rates: OVER_WALL_TIME,
  },
  guidellm: {
    latencies: {
      time_to_first_token: { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' },
      time_per_output_token: {
        measure: 'time_per_output_token',
        definition: 'time_to_last_token_over_output_tokens',
        unit: 'seconds',
      },
      inter_token_latency: { measure: 'inter_token_latency', definition: 'per_request_mean_weighted_by_tokens' },
      request_latency: { measure: 'request_latency', definition: 'sent_to_end_of_answer' },
    },
    rates: {
      request_rate: 'ok_requests_ended_over_measurement',
      input_token_rate: 'ok_input_tokens_spread_over_measurement',
      output_token_rate: 'ok_output_tokens_spread_over_measurement',
      total_token_rate: 'ok_tokens_spread_over_measurement',
    },
  },
};

/** AIPerf's, converted by llm-d-benchmark; its rates are over the whole phase. `serverTokens`: null if that is not reported. */
function aiperfDefinitions(serverTokens: boolean | null): ToolDefinitions {
  const table = serverTokens === null ? UNKNOWN_SOURCE_DEFINITIONS : serverTokens ? {} : TOKENIZER_DEFINITIONS;
  const counted = (definition: string): string => table[definition] ?? definition;
  const overWallTime = (definition: string): string => counted(definition).replace(/_over_window$/, '_over_wall_time');
  return {
    latencies: {
      time_to_first_token: { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' },
      inter_token_latency: { measure: 'inter_token_latency', definition: counted('per_request_mean_from_usage') },
      request_latency: { measure: 'request_latency', definition: 'sent_to_last_content_chunk' },
    },
    rates:
      serverTokens === null
        ? OVER_WALL_TIME
        : {
            request_rate: OVER_WALL_TIME.request_rate,
            input_token_rate: overWallTime('ok_input_tokens_over_window'),
            output_token_rate: overWallTime('ok_output_tokens_over_window'),
            total_token_rate: overWallTime('ok_input_and_output_tokens_over_window'),
          },
    lengths: { input_length: counted('usage_prompt_tokens'), output_length: counted('usage_completion_tokens') },
  };
}

const LENGTHS: Readonly<Record<Length, StatedIdentity>> = {
  input_length: { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' },
  output_length: { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' },
};

/** Each rate with its name in version 0.1, where it is a plain number, and its measure. */
const RATES: readonly (readonly [Rate, string, string])[] = [
  ['request_rate', 'requests_per_sec', 'request_throughput'],
  ['input_token_rate', 'input_tokens_per_sec', 'input_token_throughput'],
  ['output_token_rate', 'output_tokens_per_sec', 'output_token_throughput'],
  ['total_token_rate', 'total_tokens_per_sec', 'total_token_throughput'],
];

/**
 * The figures of `results.request_performance.aggregate` (0.2) or `metrics` (0.1): `requests`, `latency` and `throughput`.
 * `tool` is what measured: where its definitions are not known here, only lengths are taken. `ok`: successful requests.
 * `serverTokens`: whether AIPerf took the server's counts of tokens; null if that is not reported.
 */
export function reportMeasures(
  aggregate: Fields,
  tool: string | null,
  { ok, serverTokens }: { readonly ok: number | null; readonly serverTokens: boolean | null },
  notes: ImportNotes,
): MeasureResult[] {
  const requests = aggregate.object('requests');
  const ofTool = tool !== null && Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  const known = tool === 'aiperf' ? aiperfDefinitions(serverTokens) : ofTool;
  const lengths = (Object.keys(LENGTHS) as Length[]).flatMap((name) => {
    const identity = { ...LENGTHS[name], ...(known?.lengths && { definition: known.lengths[name] }) };
    return distribution(requests, name, identity, COUNTS, ok, notes);
  });
  if (known === undefined) {
    const why =
      tool === null ? 'the report does not name the tool that measured' : `the definitions of ${tool} are unknown`;
    notes.add(`latencies and rates left out: ${why}`);
    return lengths;
  }
  const latencies = aggregate.object('latency');
  const throughput = aggregate.object('throughput');
  return [
    ...Object.entries(known.latencies).flatMap(([name, identity]) => {
      const isOfEach = name === 'request_latency' || name === 'time_to_first_token';
      return distribution(latencies, name, identity, TIMES, isOfEach ? ok : null, notes);
    }),
    ...lengths,
    ...RATES.flatMap(([name, before, measure]) => {
      const rate = throughput?.has(name) === true ? rateOf(throughput, name, notes) : throughput?.amount(before);
      return rate == null ? [] : [statedScalar({ measure, definition: known.rates[name] }, rate)];
    }),
  ];
}

function rateOf(throughput: Fields, name: Rate, notes: ImportNotes): number | null {
  const rate = throughput.object(name);
  const scale = rate && scaleOf(rate, name, name === 'request_rate' ? REQUESTS_PER_SECOND : TOKENS_PER_SECOND, notes);
  const mean = rate?.amount('mean') ?? null;
  return scale === null || mean === null ? null : mean * scale;
}

/** What makes base units of a figure; null, and a note, if its units are not known. */
function scaleOf(figure: Fields, name: string, scales: Scales, notes: ImportNotes): number | null {
  const units = figure.text('units') ?? '';
  const scale = Object.hasOwn(scales, units) ? scales[units] : undefined;
  if (scale === undefined) notes.add(`${name} left out: its units, "${units}", are not known here`);
  return scale ?? null;
}

function distribution(
  parent: Fields | null,
  name: string,
  identity: StatedIdentity,
  scales: Scales,
  n: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const statistics = parent?.has(name) === true ? parent.object(name) : null;
  if (statistics === null || isNothing(statistics)) return [];
  const scale = scaleOf(statistics, name, scales, notes);
  if (scale === null) return [];
  return [
    statedDistribution(
      identity,
      {
        n,
        mean: statistics.amount('mean'),
        std: statistics.amount('stddev'),
        min: statistics.amount('min'),
        max: statistics.amount('max'),
        percentiles: Object.fromEntries(
          PERCENTILE_NAMES.map((each) => [each, statistics.amount(PERCENTILE_KEYS[each])] as const),
        ),
      },
      scale,
    ),
  ];
}

/** The converter to version 0.1 writes a mean of 0 alone where the tool reports nothing. */
function isNothing(statistics: Fields): boolean {
  const figures = statistics.names.filter((name) => name !== 'units');
  return figures.every(
    (name) => statistics.number(name) === null || (name === 'mean' && statistics.number(name) === 0),
  );
}
