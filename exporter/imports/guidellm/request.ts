import { isObject } from '../reading/fields.ts';
import { pythonError } from '../reading/python-error.ts';
import type { PythonError } from '../reading/python-error.ts';
import { wallInstant } from '../reading/wall-time.ts';

/** What a report reports of one request, whatever its version; times in seconds since 1970. */
export interface GuideRequest {
  readonly status: 'successful' | 'incomplete' | 'errored';
  readonly sent_s: number;
  readonly end_s: number;
  readonly first_s: number | null;
  /** The first token that is not reasoning. */
  readonly first_output_s: number | null;
  readonly last_s: number | null;
  /** When the schedule wanted it. */
  readonly due_s: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
  /** Why it failed; null when it is ok. */
  readonly failure: PythonError | null;
}

export const STATUSES = ['successful', 'incomplete', 'errored'] as const;

type Members = Readonly<Record<string, unknown>>;

/** A request of a report; null when it does not report when it was sent and when it ended. Its texts are not read. */
export function guideRequest(value: unknown, status: GuideRequest['status']): GuideRequest | null {
  if (!isObject(value)) return null;
  const info = value['info'];
  const request = isObject(info) ? ofTimings(value, info, status) : ofFlatTimes(value, status);
  // One time of another clock among them would put all others out of reach.
  return request !== null && isTimeOfDay(request.sent_s) && isTimeOfDay(request.end_s) ? request : null;
}

function isTimeOfDay(time_s: number): boolean {
  return wallInstant(time_s * 1000) !== null;
}

/** From 0.4 on. */
function ofTimings(request: Members, info: Members, status: GuideRequest['status']): GuideRequest | null {
  const timings = isObject(info['timings']) ? info['timings'] : {};
  const sent_s = time(timings, 'request_start') ?? time(timings, 'resolve_start');
  const end_s = time(timings, 'request_end') ?? time(timings, 'resolve_end');
  if (sent_s === null || end_s === null) return null;
  const input = isObject(request['input_metrics']) ? request['input_metrics'] : {};
  const output = isObject(request['output_metrics']) ? request['output_metrics'] : {};
  return {
    status,
    sent_s,
    end_s,
    first_s: time(timings, 'first_token_iteration') ?? time(timings, 'first_iteration'),
    first_output_s: time(timings, 'first_output_token_iteration'),
    last_s: time(timings, 'last_token_iteration') ?? time(timings, 'last_iteration'),
    due_s: time(timings, 'targeted_start'),
    input_tokens: count(input, 'total_tokens'),
    // Not `output_tokens`, which counts chunks where the server reported no tokens.
    output_tokens: count(output, 'total_tokens'),
    cached_tokens: count(input, 'cached_tokens'),
    failure: failureOf(status, text(info, 'error')),
  };
}

/** Up to 0.3. */
function ofFlatTimes(request: Members, status: GuideRequest['status']): GuideRequest | null {
  const sent_s = time(request, 'start_time');
  const end_s = time(request, 'end_time');
  if (sent_s === null || end_s === null) return null;
  const scheduler = isObject(request['scheduler_info']) ? request['scheduler_info'] : {};
  return {
    status,
    sent_s,
    end_s,
    first_s: time(request, 'first_token_time'),
    first_output_s: null,
    last_s: time(request, 'last_token_time'),
    due_s: time(scheduler, 'targeted_start_time'),
    input_tokens: count(request, 'prompt_tokens'),
    output_tokens: count(request, 'output_tokens'),
    cached_tokens: null,
    failure: failureOf(status, text(request, 'error')),
  };
}

/** What was not complete when the benchmark ended was given up by the tool. */
function failureOf(status: GuideRequest['status'], error: string | null): PythonError | null {
  if (status === 'successful') return null;
  return status === 'incomplete' ? { reason: 'cancelled', http_status: null } : pythonError(error ?? '');
}

function time(members: Members, name: string): number | null {
  const value = Object.hasOwn(members, name) ? members[name] : null;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function count(members: Members, name: string): number | null {
  const value = time(members, name);
  return value !== null && Number.isInteger(value) && value >= 0 ? value : null;
}

function text(members: Members, name: string): string | null {
  const value = Object.hasOwn(members, name) ? members[name] : null;
  return typeof value === 'string' ? value : null;
}
