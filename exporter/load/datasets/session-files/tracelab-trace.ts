import type { InputRow } from '../row.ts';
import { instant_s, type RecordedCall, sessionRequests } from './recorded-calls.ts';

const INPUT = ['user_message', 'tool_result'];
const OUTPUT = ['text', 'reasoning', 'tool_call'];

/**
 * TraceLab's rounds of coding agents, one per line: github.com/uw-syfi/TraceLab, README "Data format" at 0b8a262
 * (2026-06-25). A round has no text and no blocks, but the part of its input that was cached: its first blocks are those
 * of the round before. Sessions of subagents have no link to the one that called them, and are sessions of their own.
 * Throws a `ConfigurationError` of the row.
 */
export function tracelabSessions(rounds: readonly InputRow[], blockTokens: number): readonly InputRow[] {
  const sessions = Map.groupBy(rounds, (round) => round.string('session_id') ?? round.refuse('session_id is missing'));
  return [...sessions].flatMap(([id, rows]): readonly InputRow[] => {
    const calls = rows.flatMap(timed).sort((a, b) => a.start_s - b.start_s);
    const [row] = rows;
    if (row === undefined || calls.length === 0) return [];
    let minted = 0;
    let before: readonly number[] = [];
    const sent = calls.map(({ cached, input_length, ...call }): RecordedCall => {
      const count = Math.floor(input_length / blockTokens);
      const reused = before.slice(0, Math.min(count, Math.floor(cached / blockTokens)));
      const hash_ids = [...reused, ...Array.from({ length: count - reused.length }, () => minted++)];
      before = hash_ids;
      return { ...call, fields: { ...call.fields, input_length, hash_ids } };
    });
    const requests = sessionRequests(sent);
    return [row.with({ session_id: id, block_size: blockTokens, local_hash_ids: true, requests })];
  });
}

/** Of a round without times it is not known when it was sent. */
function timed(
  round: InputRow,
): readonly (RecordedCall & { readonly cached: number; readonly input_length: number })[] {
  const events = round.listed('timing_events').map(({ json }) => json);
  const timesOf = (types: readonly string[]): readonly number[] =>
    events.flatMap(({ event_type: type, timestamp }) =>
      types.includes(String(type)) && typeof timestamp === 'string' ? [instant_s(timestamp, round)] : [],
    );
  const inputs = timesOf(INPUT);
  const outputs = timesOf(OUTPUT);
  if (inputs.length + outputs.length === 0) return [];
  // It is sent when the last of its inputs is there, as the results of tools that ran in parallel.
  const start_s = inputs.length > 0 ? Math.max(...inputs) : Math.min(...outputs);
  const input_length = round.tokens('input_tokens_total') ?? round.refuse('input_tokens_total is missing');
  const reasoning = round.count('reasoning_output_tokens') ?? 0;
  return [
    {
      agents: [],
      start_s,
      end_s: Math.max(start_s, ...outputs),
      isOfTool: events.find(({ event_type: type }) => INPUT.includes(String(type)))?.event_type === 'tool_result',
      cached: round.count('prefix_tokens') ?? 0,
      input_length,
      fields: { output_length: Math.max(1, (round.count('output_tokens') ?? 0) + reasoning) },
    },
  ];
}
