import type { JsonObject } from '../../endpoints/endpoint.ts';
import type { InputRow } from '../row.ts';

/** A recorded request of which only its times say what it waited for. */
export interface RecordedCall {
  /** The agent that sent it, after the agents that called that one; empty: the only one. */
  readonly agents: readonly string[];
  readonly start_s: number;
  /** Equal to the start if it is not known. */
  readonly end_s: number;
  /** By how much a request that followed it may seem to begin before its end; absent: not at all. */
  readonly tolerance_s?: number;
  /** What came before it was the result of a tool, and not of a user. */
  readonly isOfTool: boolean;
  /** Its other fields, as in `session.schema.json`. */
  readonly fields: JsonObject;
}

/**
 * The requests of a session in its format, from those in the order of their starts. Each waits for all that had ended
 * when it started, of its own agent, of those that called it and of those that it called, and for the rest of the time
 * until then: the pause of a user, or the time of tools. Agents that run beside each other do not wait for each other.
 */
export function sessionRequests(calls: readonly RecordedCall[]): readonly JsonObject[] {
  const waits = recordedWaits(calls);
  const origin_s = calls[0]?.start_s ?? 0;
  return calls.map(({ agents, start_s, isOfTool, fields }, i): JsonObject => {
    const after = waits[i] ?? [];
    const from_s = Math.max(origin_s, ...after.map((earlier) => calls[earlier]?.end_s ?? 0));
    const pause_ms = milliseconds(Math.max(0, start_s - from_s));
    return {
      id: String(i),
      agent: agents.join('/') || 'main',
      after: after.map(String),
      ...(isOfTool ? { tool_ms: pause_ms } : { think_ms: pause_ms }),
      start_ms: milliseconds(start_s - origin_s),
      ...fields,
    };
  });
}

/** Seconds since 1970 of a time in ISO 8601. */
export function instant_s(text: string, row: InputRow): number {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? row.refuse(`'${text}' is not a time in ISO 8601`) : ms / 1000;
}

/** To the microsecond, so that times read as they were written. */
const milliseconds = (seconds: number): number => Math.round(seconds * 1e6) / 1e3;

/** By request, the numbers of those that it waits for, without those that they wait for themselves. */
function recordedWaits(calls: readonly RecordedCall[]): readonly (readonly number[])[] {
  const known: Uint8Array[] = [];
  return calls.map((call, i) => {
    const implied = new Uint8Array(calls.length);
    const after: number[] = [];
    for (let earlier = i - 1; earlier >= 0; earlier--) {
      const other = calls[earlier];
      if (implied[earlier] === 1 || other === undefined) continue;
      if (other.end_s - (other.tolerance_s ?? 0) > call.start_s || !isRelated(other.agents, call.agents)) continue;
      after.unshift(earlier);
      implied[earlier] = 1;
      known[earlier]?.forEach((is, at) => {
        if (is === 1) implied[at] = 1;
      });
    }
    known.push(implied);
    return after;
  });
}

/** Whether one of them is the other, or called it. */
function isRelated(a: readonly string[], b: readonly string[]): boolean {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  return shorter.every((agent, level) => longer[level] === agent);
}
