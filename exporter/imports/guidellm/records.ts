import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import { NOT_COUNTED, NOT_TRACED } from '../../../core/run/record.ts';
import type { PhaseName, RequestRecord, TokenSource } from '../../../core/run/record.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { GuideRequest } from './request.ts';
import type { GuideRequests } from './requests.ts';

const NS_PER_SECOND = 1e9;

/** A due time further than this from the sending is no time of day. */
const MAX_DUE_SECONDS = 86_400;

/** What applies to every request of a benchmark. */
export interface RecordContext {
  /** Seconds since 1970: the records' zero. */
  readonly zero_s: number;
  /** The tool's measurement, in seconds since 1970; null when the report reports none. */
  readonly window: { readonly start_s: number; readonly end_s: number } | null;
  /** Whether requests were due at times of a schedule, not as soon as one before had ended. */
  readonly hasSchedule: boolean;
  readonly tokenSource: TokenSource | null;
}

/** The records of a benchmark's requests, in the order in which they were sent. Those of the cool-down are left out. */
export async function* guideRecords(
  requests: GuideRequests,
  context: RecordContext,
  notes: ImportNotes,
): AsyncGenerator<RequestRecord> {
  for (const [index, place] of requests.inOrder().entries()) {
    const request = requests.at(place);
    const phase = phaseOf(request, context.window);
    if (phase === null) notes.count('requests of the cool-down, left out', `request ${index}`);
    else yield recordOf(request, index, phase, context, notes);
  }
}

/** As the tool takes them: whatever overlaps the measurement is measured. Null: after it. */
function phaseOf({ sent_s, end_s }: GuideRequest, window: RecordContext['window']): PhaseName | null {
  if (window === null) return 'measure';
  if (end_s < window.start_s) return 'warmup';
  return sent_s > window.end_s ? null : 'measure';
}

function recordOf(
  request: GuideRequest,
  index: number,
  phase: PhaseName,
  context: RecordContext,
  notes: ImportNotes,
): RequestRecord {
  const at = (time_s: number): number => Math.round((time_s - context.zero_s) * NS_PER_SECOND);
  const maybeAt = (time_s: number | null): number | null => (time_s === null ? null : at(time_s));
  const { failure } = request;
  const due_s = context.hasSchedule ? dueOf(request, index, notes) : null;
  return {
    index,
    phase,
    due_ns: maybeAt(due_s),
    sent_ns: at(request.sent_s),
    first_content_ns: maybeAt(request.first_s),
    first_output_ns: maybeAt(request.first_output_s),
    last_content_ns: maybeAt(request.last_s),
    end_ns: at(request.end_s),
    connection_reused: null,
    connect_ns: null,
    connection_retried: null,
    outcome: outcomeOf(failure?.reason ?? null),
    reason: failure?.reason ?? null,
    http_status: failure?.http_status ?? (failure === null ? 200 : null),
    input_tokens: request.input_tokens,
    // The server reports input and output; of a failed request the tool counted the input itself.
    input_tokens_source: request.output_tokens === null ? null : context.tokenSource,
    output_tokens: request.output_tokens,
    output_tokens_source: request.output_tokens === null ? null : context.tokenSource,
    reasoning_tokens: null,
    cached_tokens: request.cached_tokens,
    requested_output_tokens: null,
    chunk_offsets_ns: [],
    ...NOT_TRACED,
    ...NOT_COUNTED,
  };
}

/** 0.8.1 writes due times since its own start instead of times of day for a poisson schedule. */
function dueOf({ due_s, sent_s }: GuideRequest, index: number, notes: ImportNotes): number | null {
  if (due_s === null || Math.abs(sent_s - due_s) <= MAX_DUE_SECONDS) return due_s;
  notes.count('due times that are no time of day, read as unknown', `request ${index}`);
  return null;
}
