import { TOKENIZER_DEFINITIONS, UNKNOWN_SOURCE_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { Fields } from '../reading/fields.ts';
import {
  identityOf,
  limitsText,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedGoodput,
  statedScalars,
} from '../stated/stated-measures.ts';
import type { StatedFigure } from '../stated/stated-measures.ts';

/** Who counted the output tokens that the tool divides by (`use_server_output_tokens`); null: not reported. */
export type OutputTokens = 'usage' | 'tokenizer' | null;

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
export function stageMeasures(report: Fields, output: OutputTokens, limits: Fields | null): MeasureResult[] {
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
