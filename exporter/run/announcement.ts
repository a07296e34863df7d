import type { PhaseLoad } from '../bench/benchmark-plan.ts';
import type { PlannedLoad } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';

/** What is about to be sent where, in one line, with the upper bound of the output tokens. */
export function announcement(request: RunRequest, origin: string, { warmup, measure }: PlannedLoad): string {
  const before = warmup === null ? '' : `warm-up of ${amount(warmup)}, ${manner(warmup.load)}, then `;
  const limits = outputBound(request, [warmup, measure]);
  return `${request.model} at ${origin}: ${before}${amount(measure)}, ${manner(measure.load)}, ${limits}`;
}

function amount({ requestCount, durationSeconds }: PhaseLoad): string {
  if (requestCount === null) return `requests for ${durationSeconds ?? 0} s`;
  return `${count(requestCount)} requests${durationSeconds === null ? '' : ` within ${durationSeconds} s`}`;
}

function manner({ concurrency, prefillConcurrency, arrivals }: PhaseLoad['load']): string {
  const inFlight = concurrency === null ? '' : `${count(concurrency)} at a time`;
  const limit = inFlight === '' ? '' : `, at most ${inFlight}`;
  const prefill = prefillConcurrency === null ? '' : `, ${count(prefillConcurrency)} in prefill`;
  if (arrivals === null) return `${inFlight}${prefill}`;
  if (arrivals.kind === 'trace') return `at the times of the trace${limit}${prefill}`;
  return `${arrivals.requestRate} a second (${arrivals.pattern})${limit}${prefill}`;
}

function outputBound(request: RunRequest, phases: readonly (PhaseLoad | null)[]): string {
  const { outputTokens, maxOutputTokensTotal } = request;
  const requests = phases.reduce((sum, phase) => sum + (phase === null ? 0 : (phase.requestCount ?? Infinity)), 0);
  const bound = Math.min(requests * outputTokens, maxOutputTokensTotal ?? Infinity);
  return bound === Infinity ? `at most ${outputTokens} output tokens each` : `at most ${count(bound)} output tokens`;
}

const count = (n: number): string => n.toLocaleString('en-US');
