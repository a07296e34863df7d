import type { Clock } from '../../core/run/statistic.ts';
import type { RequestRecord } from '../../core/run/record.ts';

/** A metric of AIPerf 0.13.0 with a value per request. */
export interface AiperfMetric {
  readonly tag: string;
  /** Its name in the CSV, without the unit. */
  readonly header: string;
  readonly unit: string;
  /** The measure of ours that has the same definition: its statistics are in result.json; null when there is none. */
  readonly measure: { readonly name: string; readonly clock: Clock; readonly scale: number } | null;
  /** The request's value in the unit, null when it has none; of a metric that is no measure of ours. */
  readonly value: (record: RequestRecord) => number | null;
}

const MS = 1000;
const NS_PER_MS = 1e6;

/** A metric that one of our measures is, in AIPerf's unit. */
const same = (
  tag: string,
  header: string,
  unit: string,
  scale = 1,
  name = tag,
  clock: Clock = 'sent',
): AiperfMetric => ({
  ...{ tag, header, unit },
  measure: { name, clock, scale },
  value: () => null,
});

const ofUsage = (tag: string, header: string, name: string): AiperfMetric => same(tag, header, '%', 100, name);

const own = (tag: string, header: string, unit: string, value: AiperfMetric['value']): AiperfMetric => ({
  ...{ tag, header, unit, value },
  measure: null,
});

const usage = (source: RequestRecord['input_tokens_source'], tokens: number | null): number | null =>
  source === 'usage' ? tokens : null;

const usagePrompt = (r: RequestRecord): number | null => usage(r.input_tokens_source, r.input_tokens);
const usageCompletion = (r: RequestRecord): number | null => usage(r.output_tokens_source, r.output_tokens);

const usageReasoning = (r: RequestRecord): number | null => usage(r.output_tokens_source, r.reasoning_tokens);

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** Time for which a connection was opened; 0 over one that was open, null when it is not known. */
function connecting_ms({ connection_reused: reused, connect_ns, http_connecting_ns }: RequestRecord): number | null {
  const opened_ns = http_connecting_ns ?? connect_ns;
  if (opened_ns !== null) return opened_ns / NS_PER_MS;
  return reused === true ? 0 : null;
}

const ms = (duration_ns: number | null): number | null => (duration_ns === null ? null : duration_ns / NS_PER_MS);

const kB = (bytes: number | null): number | null => (bytes === null ? null : bytes / 1000);

/** Sending, waiting and receiving. */
function duration_ns(r: RequestRecord): number | null {
  return sum(sum(r.http_sending_ns, r.http_waiting_ns), r.http_receiving_ns);
}

/** What comes before the sending; a look-up or a connection that was not needed took no time. */
function overhead_ns(r: RequestRecord): number | null {
  return sum(r.http_blocked_ns, (r.http_dns_lookup_ns ?? 0) + (r.http_connecting_ns ?? 0));
}

/** Reasoning tokens over the others of the response. */
function thinkingEfficiency({ output_tokens: output, reasoning_tokens: reasoning }: RequestRecord): number | null {
  return output === null || !reasoning || output <= reasoning ? null : reasoning / (output - reasoning);
}

/** AIPerf's metrics that a run's records give, in the order of AIPerf's table of latencies, tokens and HTTP. */
export const AIPERF_METRICS: readonly AiperfMetric[] = [
  same('request_latency', 'Request Latency', 'ms', MS),
  same('time_to_first_token', 'Time to First Token', 'ms', MS),
  same('time_to_first_output_token', 'Time to First Output Token', 'ms', MS),
  same('time_to_second_token', 'Time to Second Token', 'ms', MS),
  same('inter_token_latency', 'Inter Token Latency', 'ms', MS),
  same('inter_chunk_latency', 'Inter Chunk Latency', 'ms', MS),
  same('decode_duration', 'Decode Duration', 'ms', MS),
  own('effective_latency', 'Effective Latency (CO-aware)', 'ms', (r) =>
    r.due_ns === null ? null : (r.end_ns - r.due_ns) / NS_PER_MS,
  ),
  same('credit_to_start_latency', 'Credit-to-Start Latency', 'ms', MS, 'schedule_delay', 'due'),
  same('output_token_throughput_per_user', 'Output Token Throughput Per User', 'tokens/sec/user'),
  same('prefill_throughput_per_user', 'Prefill Throughput Per User', 'tokens/sec/user'),
  same('e2e_output_token_throughput', 'E2E Output Token Throughput', 'tokens/sec/user'),
  same('input_sequence_length', 'Input Sequence Length', 'tokens'),
  same('output_sequence_length', 'Output Sequence Length', 'tokens'),
  same('output_token_count', 'Output Token Count', 'tokens'),
  // AIPerf has it only of responses that reason.
  own('reasoning_token_count', 'Reasoning Token Count', 'tokens', (r) => r.reasoning_tokens || null),
  own('thinking_efficiency', 'Thinking Efficiency', 'ratio', thinkingEfficiency),
  own('usage_prompt_tokens', 'Usage Prompt Tokens', 'tokens', usagePrompt),
  own('usage_completion_tokens', 'Usage Completion Tokens', 'tokens', usageCompletion),
  own('usage_total_tokens', 'Usage Total Tokens', 'tokens', (r) => sum(usagePrompt(r), usageCompletion(r))),
  // AIPerf has it only of responses that reason.
  own('usage_reasoning_tokens', 'Usage Reasoning Tokens', 'tokens', (r) => usageReasoning(r) || null),
  same('usage_prompt_cache_read_tokens', 'Usage Prompt Cache Read Tokens', 'tokens', 1, 'cached_input_tokens'),
  ofUsage('usage_prompt_tokens_diff_pct', 'Usage Prompt Diff %', 'usage_prompt_tokens_diff_ratio'),
  ofUsage('usage_completion_tokens_diff_pct', 'Usage Completion Diff %', 'usage_completion_tokens_diff_ratio'),
  ofUsage('usage_reasoning_tokens_diff_pct', 'Usage Reasoning Diff %', 'usage_reasoning_tokens_diff_ratio'),
  same('osl_mismatch_diff_pct', 'OSL Mismatch Diff %', '%', 100, 'output_length_difference_ratio'),
  own('http_req_blocked', 'HTTP Blocked', 'ms', (r) => ms(r.http_blocked_ns)),
  own('http_req_dns_lookup', 'HTTP DNS Lookup', 'ms', (r) => ms(r.http_dns_lookup_ns)),
  own('http_req_connecting', 'HTTP Connecting', 'ms', connecting_ms),
  own('http_req_sending', 'HTTP Sending', 'ms', (r) => ms(r.http_sending_ns)),
  own('http_req_waiting', 'HTTP Waiting (TTFB)', 'ms', (r) => ms(r.http_waiting_ns)),
  own('http_req_receiving', 'HTTP Receiving', 'ms', (r) => ms(r.http_receiving_ns)),
  own('http_req_duration', 'HTTP Duration (excl. conn)', 'ms', (r) => ms(duration_ns(r))),
  own('http_req_connection_overhead', 'HTTP Connection Overhead', 'ms', (r) => ms(overhead_ns(r))),
  own('http_req_total', 'HTTP Total Time', 'ms', (r) => ms(sum(overhead_ns(r), duration_ns(r)))),
  own('http_req_data_sent', 'HTTP Data Sent', 'KB', (r) => kB(r.http_data_sent_bytes)),
  own('http_req_data_received', 'HTTP Data Received', 'KB', (r) => kB(r.http_data_received_bytes)),
  own('http_req_connection_reused', 'HTTP Connection Reused', 'ratio', (r) =>
    r.connection_reused === null ? null : Number(r.connection_reused),
  ),
];
