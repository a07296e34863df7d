import { ERROR_REASON_RULES } from '../../core/measures/error-reasons.ts';
import type { LoadPhase, RequestRecord } from '../../core/run/record.ts';
import type { RunFile } from '../../core/run/run.ts';
import { aiperfValues } from './aiperf-metrics.ts';

/** A request that was given up carries this code in AIPerf's files. */
const CANCELLED = { code: 499, type: 'RequestCancellationError' };

const PHASES: Readonly<Record<LoadPhase, string>> = { warmup: 'warmup', measure: 'profiling' };

/** A record of a phase that AIPerf's files know: they have no cool-down. */
export interface AiperfRecord extends RequestRecord {
  readonly phase: LoadPhase;
}

export const isAiperfRecord = (record: RequestRecord): record is AiperfRecord => record.phase !== 'cooldown';

export interface AiperfError {
  /** HTTP status; null when there was no response. */
  readonly code: number | null;
  readonly type: string;
  readonly message: string;
}

/** Why a request is not ok, as AIPerf's files have it; null when it is. */
export function aiperfError({ reason, http_status }: RequestRecord): AiperfError | null {
  if (reason === null) return null;
  const message = ERROR_REASON_RULES[reason];
  return reason === 'cancelled' ? { ...CANCELLED, message } : { code: http_status, type: reason, message };
}

/**
 * The request's line of `profile_export.jsonl`. Times are nanoseconds since 1970, which are above 2^53: whole in the text,
 * but a reader has to take them as 64-bit integers. `start` is the wall time of the records' zero. As in AIPerf's file,
 * what is null is left out and failed requests have no metrics.
 */
export function aiperfLine(
  record: AiperfRecord,
  { run_id, shard }: Pick<RunFile, 'run_id' | 'shard'>,
  start: string,
): string {
  const start_ns = BigInt(Date.parse(start)) * 1_000_000n;
  const wall = (at_ns: number): bigint => start_ns + BigInt(at_ns);
  const cancelled = record.outcome === 'cancelled';
  const phase = PHASES[record.phase];
  const metadata = {
    session_num: record.index,
    x_request_id: `${run_id}-${record.index}`,
    conversation_id: `session_${String(record.index).padStart(6, '0')}`,
    turn_index: 0,
    ...(record.due_ns === null ? {} : { credit_issued_ns: wall(record.due_ns) }),
    request_start_ns: wall(record.sent_ns),
    request_end_ns: wall(record.end_ns),
    worker_id: `worker_${shard}`,
    record_processor_id: `llmbench_${shard}`,
    benchmark_phase: phase,
    phase_name: phase,
    phase_kind: phase,
    was_cancelled: cancelled,
    ...(cancelled ? { cancellation_time_ns: wall(record.end_ns) } : {}),
  };
  const error = aiperfError(record);
  const parts = [
    `"metadata":${withBigints(metadata)}`,
    `"metrics":${JSON.stringify(error === null ? aiperfValues(record) : {})}`,
    ...(error === null ? [] : [`"error":${JSON.stringify(error)}`]),
  ];
  return `{${parts.join(',')}}\n`;
}

function withBigints(members: Readonly<Record<string, string | number | boolean | bigint>>): string {
  const texts = Object.entries(members).map(
    ([key, value]) => `${JSON.stringify(key)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`,
  );
  return `{${texts.join(',')}}`;
}
