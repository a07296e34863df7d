import { things } from '../../core/measures/things.ts';
import type { PhaseLoad } from '../bench/benchmark-plan.ts';
import type { Dataset } from '../bench/datasets/dataset.ts';
import type { PlannedLoad } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';

/** What is about to be sent where, in one line, with the upper bound of the output tokens. */
export function announcement(request: RunRequest, origin: string, { dataset, warmup, measure }: PlannedLoad): string {
  const before = warmup === null ? '' : `warm-up of ${amount(warmup)}, ${manner(warmup.load)}, then `;
  const limits = outputBound(request, dataset, [warmup, measure]);
  return `${request.model} at ${origin}: ${before}${amount(measure)}, ${manner(measure.load)}, ${limits}`;
}

function amount({ requestCount, durationSeconds }: PhaseLoad): string {
  if (requestCount === null) return `requests for ${durationSeconds ?? 0} s`;
  return `${things(requestCount, 'requests')}${durationSeconds === null ? '' : ` within ${durationSeconds} s`}`;
}

function manner({ concurrency, prefillConcurrency, arrivals }: PhaseLoad['load']): string {
  const inFlight = concurrency === null ? '' : `${count(concurrency)} at a time`;
  const limit = inFlight === '' ? '' : `, at most ${inFlight}`;
  const prefill = prefillConcurrency === null ? '' : `, ${count(prefillConcurrency)} in prefill`;
  if (arrivals === null) return `${inFlight}${prefill}`;
  if (arrivals.kind === 'trace') return `at the times of the trace${limit}${prefill}`;
  return `${arrivals.requestRate} a second (${arrivals.pattern})${limit}${prefill}`;
}

function outputBound(request: RunRequest, dataset: Dataset, phases: readonly (PhaseLoad | null)[]): string {
  const { outputTokens, maxOutputTokensTotal } = request;
  const longest = dataset.longestOutputTokens ?? null;
  const requests = phases.reduce((sum, phase) => sum + (phase === null ? 0 : (phase.requestCount ?? Infinity)), 0);
  // With spread lengths there is no bound but the one that was set.
  const bound = Math.min(requests * (longest ?? Infinity), maxOutputTokensTotal ?? Infinity);
  if (bound !== Infinity) return `at most ${count(bound)} output tokens`;
  return longest === null ? `about ${count(outputTokens)} output tokens each` : `at most ${longest} output tokens each`;
}

const count = (n: number): string => n.toLocaleString('en-US');
