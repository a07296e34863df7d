import type { InputRow } from '../row.ts';
import { type RecordedCall, sessionRequests } from './recorded-calls.ts';

/** Many files have whole seconds: a request that began within the second in which another ended followed it. */
const WHOLE_SECOND = 1;

/**
 * Weka's traces of coding agents, an object per session: github.com/callanjfox/kv-cache-tester, docs/trace_replay_tester.md
 * at 94f6046 (2026-07-12), and with absolute times of subagents as in the data sets that AIPerf 0.13 reads
 * (semianalysisai/cc-traces-weka-…). Blocks have ids of the session. Throws a `ConfigurationError` of the row.
 */
export function wekaSession(trace: InputRow): InputRow {
  const calls: RecordedCall[] = [];
  let last_s = 0;
  for (const row of trace.rows('requests')) {
    if (row.string('type') !== 'subagent') {
      const call = wekaCall(row, [], 0);
      calls.push(call);
      last_s = call.end_s;
      continue;
    }
    const marked_s = secondsOf(row);
    const inner = row.listed('requests');
    // The tool that records them counts from the start of the agent, which begins where its marker stands.
    const isRelative = inner.some((each) => secondsOf(each) + 1e-6 < marked_s);
    const agent = row.string('agent_id') ?? `subagent ${calls.length}`;
    for (const each of inner) calls.push(wekaCall(each, [agent], isRelative ? last_s : 0));
  }
  calls.sort((a, b) => a.start_s - b.start_s);
  return trace.with({
    session_id: trace.json.id,
    block_size: trace.tokens('block_size') ?? trace.refuse('block_size is missing'),
    local_hash_ids: true,
    requests: sessionRequests(calls),
  });
}

const secondsOf = (row: InputRow): number => row.seconds('t') ?? row.refuse('t is missing');

function wekaCall(row: InputRow, agents: readonly string[], origin_s: number): RecordedCall {
  const start_s = origin_s + secondsOf(row);
  return {
    agents,
    start_s,
    end_s: start_s + (row.seconds('api_time') ?? 0),
    tolerance_s: Number.isInteger(row.json.t) ? WHOLE_SECOND : 0,
    isOfTool: row.names('input_types')?.includes('tool_result') === true,
    fields: {
      input_length: row.tokens('in') ?? row.refuse('in is missing'),
      hash_ids: row.integers('hash_ids') ?? [],
      output_length: row.tokens('out') ?? row.refuse('out is missing'),
    },
  };
}
