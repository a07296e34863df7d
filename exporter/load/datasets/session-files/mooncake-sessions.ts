import type { InputRow } from '../row.ts';

/** Names that Dynamo accepts too, by those of the trace. */
const ALIASES = {
  input_length: 'input_tokens',
  output_length: 'output_tokens',
  timestamp: 'created_time',
  delay: 'delay_ms',
} as const;

/**
 * A Mooncake trace with `session_id`, as AIPerf 0.13 (dataset/loader/models.py, `MooncakeTrace`) and Dynamo 1.6.1
 * (dynamo-data-gen, `MooncakeRow`) read it: a row is a request, which follows the response before it in its session after
 * `delay`, or after the difference of their timestamps. Rows with `hash_ids` or `messages` have the whole prompt; those
 * with a text or only a length follow what was said before. Throws a `ConfigurationError` of the row.
 */
export function mooncakeSessions(rows: readonly InputRow[], blockTokens: number): readonly InputRow[] {
  const sessions = Map.groupBy(rows, (row, i) => row.string('session_id') ?? `row ${i}`);
  return [...sessions].map(([session_id, turns]) => {
    const requests = turns.map((row, turn) => mooncakeRequest(row, turns[turn - 1], turn));
    const { start_ms } = requests[0] as { start_ms: number | null };
    return (turns[0] as InputRow).with({ session_id, start_ms, block_size: blockTokens, requests });
  });
}

function mooncakeRequest(row: InputRow, before: InputRow | undefined, turn: number): object {
  const named = (name: keyof typeof ALIASES): string => (row.has(name) ? name : ALIASES[name]);
  if (row.has('payload')) row.refuse('payload is not supported in a session: use messages');
  const text = row.string('text_input');
  const isWhole = row.has('messages') || (row.integers('hash_ids') ?? []).length > 0;
  const start_ms = row.milliseconds(named('timestamp'));
  const before_ms = before?.milliseconds('timestamp') ?? before?.milliseconds('created_time') ?? null;
  const between_ms = start_ms === null || before_ms === null ? 0 : start_ms - before_ms;
  if (between_ms < 0) row.refuse('timestamp is lower than that of the row before it in its session');
  return {
    ...(turn === 0 ? {} : { after: [String(turn - 1)], think_ms: row.milliseconds(named('delay')) ?? between_ms }),
    ...(isWhole || turn === 0 ? {} : { continues: String(turn - 1) }),
    start_ms,
    output_length: row.tokens(named('output_length')),
    tools: row.json.tools,
    extra: row.json.extra,
    ...(row.has('messages')
      ? { messages: row.json.messages }
      : text !== null
        ? { messages: [{ role: 'user', content: text }] }
        : { input_length: row.tokens(named('input_length')), hash_ids: row.json.hash_ids }),
  };
}
