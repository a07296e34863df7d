import { TOKENIZER_DEFINITIONS, UNKNOWN_SOURCE_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { Fields } from '../reading/fields.ts';
import { limitsText, statedGoodput, statedGoodRatio } from '../stated/stated-goodput.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';

/** Who counted the output tokens that the tool divides by (`use_server_output_tokens`); null: not reported. */
export type OutputTokens = 'usage' | 'tokenizer' | null;

/**
 * The figures of one stage (`stage_N_lifecycle_metrics.json`, or the summary over all), in seconds and tokens. `limits` are
 * those of the goodput in the configuration.
 */
export function stageMeasures(report: Fields, output: OutputTokens, limits: Fields | null): MeasureResult[] {
  const successes = report.object('successes');
  const latency = successes?.object('latency') ?? null;
  const ok = successes?.count('count') ?? null;
  const total = report.object('load_summary')?.count('count') ?? null;
  return [
    ...distribution(latency, 'request_latency', { ...LATENCY, definition: 'sent_to_end_of_answer' }, ok),
    ...distribution(latency, 'time_to_first_token', TTFT, null),
    ...distribution(
      latency,
      'time_per_output_token',
      { ...TPOT, definition: by('per_request_mean_from_usage', output) },
      null,
    ),
    ...distribution(latency, 'inter_token_latency', GAPS, null),
    ...distribution(latency, 'normalized_time_per_output_token', NORMALIZED, ok),
    ...lengths(successes, ok),
    ...distribution(report.object('load_summary'), 'schedule_delay', { ...DELAY, population: 'all' }, total),
    ...rates(successes?.object('throughput') ?? null, output),
    ...goodput(successes?.has('goodput_metrics') === true ? successes.object('goodput_metrics') : null, limits),
  ];
}

const LATENCY = { measure: 'request_latency' };
/** The tool reads `content` alone: a response that begins with reasoning has its first token later. */
const TTFT: StatedIdentity = { measure: 'time_to_first_token', definition: 'sent_to_first_output_chunk' };
const TPOT = { measure: 'inter_token_latency' };
const GAPS: StatedIdentity = { measure: 'inter_chunk_latency', definition: 'gap_between_tokens_of_chunks' };
const NORMALIZED: StatedIdentity = {
  measure: 'time_per_output_token',
  definition: 'request_latency_over_output_tokens',
  unit: 'seconds',
};
const DELAY: StatedIdentity = { measure: 'schedule_delay', definition: 'due_to_sent', clock: 'due' };

/** Our definition with the tokens of the server, or what takes its place. */
function by(definition: string, source: OutputTokens): string {
  if (source === 'usage') return definition;
  const others = source === 'tokenizer' ? TOKENIZER_DEFINITIONS : UNKNOWN_SOURCE_DEFINITIONS;
  return others[definition] ?? definition;
}

/** `median` is p50; percentiles are linear, as numpy has them. */
function percentileKey(name: PercentileName): string {
  return name === 'p50' ? 'median' : name.replace('_', '.');
}

function distribution(
  parent: Fields | null,
  name: string,
  identity: StatedIdentity,
  n: number | null,
): MeasureResult[] {
  const statistics = parent?.has(name) === true ? parent.object(name) : null;
  if (statistics === null || !statistics.has('mean')) return [];
  return [
    statedDistribution(identity, {
      n,
      mean: statistics.number('mean'),
      min: statistics.number('min'),
      max: statistics.number('max'),
      percentiles: Object.fromEntries(
        PERCENTILE_NAMES.map((each) => [each, statistics.number(percentileKey(each))] as const),
      ),
    }),
  ];
}

/**
 * From 0.7 on the lengths are those of the server where it reports them, and `client_fallback_requests` counts the others.
 * Before, the output was counted by the tokenizer (`output_len`).
 */
function lengths(successes: Fields | null, ok: number | null): MeasureResult[] {
  const fallbacks =
    successes?.has('client_fallback_requests') === true ? successes.object('client_fallback_requests') : null;
  const source = (side: 'prompt' | 'output'): OutputTokens => (fallbacks?.count(side) === 0 ? 'usage' : null);
  const input = { measure: 'input_sequence_length', definition: by('usage_prompt_tokens', source('prompt')) };
  const output = { measure: 'output_sequence_length', definition: by('usage_completion_tokens', source('output')) };
  const counted = { ...output, definition: by('usage_completion_tokens', 'tokenizer') };
  const inputs = distribution(successes, 'prompt_tokens', input, ok);
  const outputs = distribution(successes, 'output_tokens', output, ok);
  return [
    ...(inputs.length > 0 ? inputs : distribution(successes, 'prompt_len', input, ok)),
    ...(outputs.length > 0 ? outputs : distribution(successes, 'output_len', counted, ok)),
  ];
}

/** Over the time from the first request, also a failed one, to the last response. */
function rates(throughput: Fields | null, output: OutputTokens): MeasureResult[] {
  const each: readonly (readonly [string, string, string])[] = [
    ['requests_per_sec', 'request_throughput', 'ok_requests_over_window'],
    ['input_tokens_per_sec', 'input_token_throughput', by('ok_input_tokens_over_window', null)],
    ['output_tokens_per_sec', 'output_token_throughput', by('ok_output_tokens_over_window', output)],
    ['total_tokens_per_sec', 'total_token_throughput', by('ok_input_and_output_tokens_over_window', null)],
  ];
  return each.flatMap(([name, measure, definition]) => {
    const value = throughput?.amount(name) ?? null;
    return value === null ? [] : [statedScalar({ measure, definition }, value)];
  });
}

function goodput(metrics: Fields | null, limits: Fields | null): MeasureResult[] {
  const rate = metrics?.amount('request_goodput') ?? null;
  const percent = metrics?.amount('goodput_percentage') ?? null;
  const text = limits === null ? '[limits not reported]' : limitsText(limits);
  return [
    ...(rate === null ? [] : [statedGoodput(rate, 'window', text)]),
    ...(percent === null ? [] : [statedGoodRatio(percent / 100, 'ok', text)]),
  ];
}
