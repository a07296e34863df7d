import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** Gaps between the chunks of one response: with them a line has about 3 KB, as AIPerf's own. */
const CHUNKS = 96;
const START_NS = 1_795_279_610_000_000_000n;
const LINES_AT_ONCE = 500;

/**
 * Writes a `profile_export.jsonl` of so many bytes with the keys of AIPerf 0.13.0 and invented values. Returns how many
 * requests it has.
 */
export async function writeAiperfFile(path: string, bytes: number): Promise<number> {
  const out = createWriteStream(path);
  let written = 0;
  let requests = 0;
  while (written < bytes) {
    let text = '';
    for (let i = 0; i < LINES_AT_ONCE; i++) text += line(requests++);
    written += text.length;
    if (!out.write(text)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  return requests;
}

function line(index: number): string {
  const random = (salt: number): number => ((index * 2_654_435_761 + salt * 40_503) % 1_000_003) / 1_000_003;
  // As Python makes milliseconds of nanoseconds: about half of them have 16 digits.
  const ms = (value: number): number => Math.round(value * 1e6) * 1e-6;
  const start = START_NS + BigInt(index) * 1_234_567n;
  const ttft = ms(40 + 200 * random(1));
  const gaps = Array.from({ length: CHUNKS - 1 }, (_, i) => ms(4 + 10 * random(i + 2)));
  const latency = ms(ttft + gaps.reduce((sum, gap) => sum + gap, 0));
  const end = start + BigInt(Math.round(latency * 1e6));
  const metadata =
    `"session_num":${index},"x_request_id":"4c3f8bb6-88c2-4f13-adfa-cc4aa2d0f452","x_correlation_id":"8b4850e4-05f4-4959-88c2",` +
    `"conversation_id":"session_${index}","turn_index":0,"credit_issued_ns":${start - 157_000n},"request_start_ns":${start},` +
    `"request_ack_ns":${start + 9_000n},"request_end_ns":${end},"worker_id":"worker_c7fe5273",` +
    `"record_processor_id":"record_processor_4268733f","benchmark_phase":"profiling","was_cancelled":false,"agent_depth":0`;
  const metric = (tag: string, value: number | readonly number[], unit: string): string =>
    `"${tag}":{"value":${JSON.stringify(value)},"unit":"${unit}"}`;
  const metrics = [
    metric('usage_completion_tokens', CHUNKS, 'tokens'),
    metric('request_latency', latency, 'ms'),
    metric('output_sequence_length', CHUNKS + 1, 'tokens'),
    metric('output_token_count', CHUNKS + 1, 'tokens'),
    metric('time_to_first_output_token', ttft, 'ms'),
    metric('time_to_first_token', ttft, 'ms'),
    metric('usage_total_tokens', 358, 'tokens'),
    metric('input_sequence_length', 260, 'tokens'),
    metric('usage_prompt_tokens', 262, 'tokens'),
    metric('time_to_second_token', gaps[0] ?? 0, 'ms'),
    metric('inter_chunk_latency', gaps, 'ms'),
    metric('e2e_output_token_throughput', 1000 * random(99), 'tokens/sec/user'),
    metric('osl_mismatch_diff_pct', 100 / CHUNKS, '%'),
    metric('inter_token_latency', (latency - ttft) / CHUNKS, 'ms'),
    metric('decode_duration', ms(latency - ttft), 'ms'),
    metric('prefill_throughput_per_user', 260_000 / ttft, 'tokens/sec/user'),
    metric('output_token_throughput_per_user', 100 * random(98), 'tokens/sec/user'),
  ];
  return `{"metadata":{${metadata}},"metrics":{${metrics.join(',')}}}\n`;
}
