import { TOKENIZER_DEFINITIONS, UNKNOWN_SOURCE_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { Fields } from '../reading/fields.ts';
import {
  identityOf,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedScalar,
} from '../stated/stated-measures.ts';
import type { StatedFigure } from '../stated/stated-measures.ts';

const STATISTICS = {
  ...{ mean: 'mean', std: 'stddev', min: 'min', max: 'max' },
  percentiles: percentileNames({ p99_9: 'p99p9' }),
};

/** The report's own units of each kind of figure, and what makes base units of them. */
type Scales = Readonly<Record<string, number>>;
const TIMES: Scales = { s: 1, ms: 1e-3, us: 1e-6, 's/token': 1, 'ms/token': 1e-3, 'us/token': 1e-6 };
const COUNTS: Scales = { count: 1, tokens: 1 };
const REQUESTS_PER_SECOND: Scales = { 'queries/s': 1 };
const TOKENS_PER_SECOND: Scales = { 'tokens/s': 1 };

/** Each rate: its name, that in version 0.1, where it is a plain number, and its measure. */
const RATES = [
  ['request_rate', 'requests_per_sec', 'request_throughput'],
  ['input_token_rate', 'input_tokens_per_sec', 'input_token_throughput'],
  ['output_token_rate', 'output_tokens_per_sec', 'output_token_throughput'],
  ['total_token_rate', 'total_tokens_per_sec', 'total_token_throughput'],
] as const;

/** What the figures of a report mean: it has them under common names, not by common definitions. */
interface ToolDefinitions {
  readonly latencies: readonly StatedFigure[];
  /** In the order of `RATES`. */
  readonly rates: readonly [string, string, string, string];
  readonly lengths: readonly StatedFigure[];
}

const LENGTHS: ToolDefinitions['lengths'] = [
  ['input_length', 'input_sequence_length', 'prompt_tokens_of_unknown_source'],
  ['output_length', 'output_sequence_length', 'completion_tokens_of_unknown_source'],
];

const OVER_WALL_TIME: ToolDefinitions['rates'] = [
  'ok_requests_over_wall_time',
  'input_tokens_of_unknown_source_over_wall_time',
  'output_tokens_of_unknown_source_over_wall_time',
  'tokens_of_unknown_source_over_wall_time',
];

const PER_OUTPUT_TOKEN = { unit: 'seconds' } as const;

/** By the tool that measured. */
const TOOLS: Readonly<Record<string, ToolDefinitions>> = {
  'inference-perf': {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_output_chunk'],
      ['time_per_output_token', 'inter_token_latency', 'per_request_mean_tokens_of_unknown_source'],
      [
        'normalized_time_per_output_token',
        'time_per_output_token',
        'request_latency_over_output_tokens',
        PER_OUTPUT_TOKEN,
      ],
      ['inter_token_latency', 'inter_chunk_latency', 'gap_between_tokens_of_chunks'],
      ['request_latency', 'request_latency', 'sent_to_end_of_answer'],
    ],
    rates: [
      'ok_requests_over_window',
      'ok_input_tokens_of_unknown_source_over_window',
      'ok_output_tokens_of_unknown_source_over_window',
      'ok_input_and_output_tokens_of_unknown_source_over_window',
    ],
    lengths: LENGTHS,
  },
  'vllm-benchmark': {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_chunk'],
      ['time_per_output_token', 'inter_token_latency', 'per_request_mean_between_chunks_tokens_of_unknown_source'],
      ['inter_token_latency', 'inter_chunk_latency', 'gap_between_chunks'],
      ['request_latency', 'request_latency', 'sent_to_last_chunk'],
    ],
    rates: OVER_WALL_TIME,
    lengths: LENGTHS,
  },
  guidellm: {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_content_chunk'],
      ['time_per_output_token', 'time_per_output_token', 'time_to_last_token_over_output_tokens', PER_OUTPUT_TOKEN],
      ['inter_token_latency', 'inter_token_latency', 'per_request_mean_weighted_by_tokens'],
      ['request_latency', 'request_latency', 'sent_to_end_of_answer'],
    ],
    rates: [
      'ok_requests_ended_over_measurement',
      'ok_input_tokens_spread_over_measurement',
      'ok_output_tokens_spread_over_measurement',
      'ok_tokens_spread_over_measurement',
    ],
    lengths: LENGTHS,
  },
};

/** AIPerf's, converted by llm-d-benchmark; its rates are over the whole phase. `serverTokens`: null if that is not reported. */
function aiperfDefinitions(serverTokens: boolean | null): ToolDefinitions {
  const table = serverTokens === null ? UNKNOWN_SOURCE_DEFINITIONS : serverTokens ? {} : TOKENIZER_DEFINITIONS;
  const counted = (definition: string): string => table[definition] ?? definition;
  const overWallTime = (definition: string): string => counted(definition).replace(/_over_window$/, '_over_wall_time');
  return {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_content_chunk'],
      ['inter_token_latency', 'inter_token_latency', counted('per_request_mean_from_usage')],
      ['request_latency', 'request_latency', 'sent_to_last_content_chunk'],
    ],
    rates:
      serverTokens === null
        ? OVER_WALL_TIME
        : [
            OVER_WALL_TIME[0],
            overWallTime('ok_input_tokens_over_window'),
            overWallTime('ok_output_tokens_over_window'),
            overWallTime('ok_input_and_output_tokens_over_window'),
          ],
    lengths: [
      ['input_length', 'input_sequence_length', counted('usage_prompt_tokens')],
      ['output_length', 'output_sequence_length', counted('usage_completion_tokens')],
    ],
  };
}

/** Of each ok request there is one. */
const OF_EACH: ReadonlySet<string> = new Set([
  'request_latency',
  'time_to_first_token',
  'input_length',
  'output_length',
]);

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
  const ofTool = tool !== null && Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  const known = tool === 'aiperf' ? aiperfDefinitions(serverTokens) : ofTool;
  const distributions = (parent: Fields, table: readonly StatedFigure[], scales: Scales): MeasureResult[] =>
    table.flatMap((row) => {
      const [name] = row;
      const found = parent.object(name);
      if (found === null || isNothing(found)) return [];
      const scale = scaleOf(found, name, scales, notes);
      if (scale === null) return [];
      const statistics = readStatistics((each) => found.amount(each), STATISTICS, OF_EACH.has(name) ? ok : null);
      return [statedDistribution(identityOf(row), statistics, scale)];
    });
  const lengths = distributions(aggregate.at('requests'), known?.lengths ?? LENGTHS, COUNTS);
  if (known === undefined) {
    const why =
      tool === null ? 'the report does not name the tool that measured' : `the definitions of ${tool} are unknown`;
    notes.add(`latencies and rates left out: ${why}`);
    return lengths;
  }
  const latencies = distributions(aggregate.at('latency'), known.latencies, TIMES);
  const throughput = aggregate.at('throughput');
  const rates = RATES.flatMap(([name, before, measure], i) => {
    const rate = throughput.has(name) ? rateOf(throughput, name, notes) : throughput.amount(before);
    return rate === null ? [] : [statedScalar({ measure, definition: known.rates[i] ?? '' }, rate)];
  });
  return [...latencies, ...lengths, ...rates];
}

function rateOf(throughput: Fields, name: string, notes: ImportNotes): number | null {
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

/** The converter to version 0.1 writes a mean of 0 alone where the tool reports nothing. */
function isNothing(statistics: Fields): boolean {
  const figures = statistics.names.filter((name) => name !== 'units');
  return figures.every(
    (name) => statistics.number(name) === null || (name === 'mean' && statistics.number(name) === 0),
  );
}
