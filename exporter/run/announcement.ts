import { loadText } from '../../core/run/load-text.ts';
import { things } from '../../core/text/things.ts';
import type { Dataset } from '../load/datasets/dataset.ts';
import type { PhaseLoad } from '../load/schedule/load-plan.ts';
import { loadKey } from './comparison-key.ts';
import type { PlannedLoad } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';

/** What is about to be sent and to which server, in one line, with the upper bound of the output tokens. */
export function announcement(
  request: RunRequest,
  origin: string,
  { dataset, warmup, measure }: PlannedLoad,
  isLimited = true,
): string {
  const before = warmup === null ? '' : `warm-up of ${amount(warmup)}, ${loadText(loadKey(warmup.load))}, then `;
  const limits = isLimited ? outputBound(request, dataset, [warmup, measure]) : 'output tokens without a limit';
  const after = measure.coolDown === true ? ', then a cool-down' : '';
  return `${request.model} at ${origin}: ${before}${amount(measure)}, ${loadText(loadKey(measure.load))}${after}, ${limits}`;
}

function amount({ requestCount, durationSeconds }: PhaseLoad): string {
  if (requestCount === null) return `requests for ${durationSeconds ?? 0} s`;
  return `${things(requestCount, 'requests')}${durationSeconds === null ? '' : ` within ${durationSeconds} s`}`;
}

function outputBound(request: RunRequest, dataset: Dataset, phases: readonly (PhaseLoad | null)[]): string {
  const { outputTokens, maxOutputTokensTotal } = request;
  const longest = dataset.longestOutputTokens ?? null;
  const requests = phases.reduce((sum, phase) => sum + mostRequests(phase), 0);
  // With random lengths the only bound is a configured one.
  const bound = Math.min(requests * (longest ?? Infinity), maxOutputTokensTotal ?? Infinity);
  if (bound !== Infinity) return `at most ${count(bound)} output tokens`;
  return longest === null ? `about ${count(outputTokens)} output tokens each` : `at most ${longest} output tokens each`;
}

/** Those of a cool-down depend on the server. */
const mostRequests = (phase: PhaseLoad | null): number =>
  phase === null ? 0 : phase.coolDown === true ? Infinity : (phase.requestCount ?? Infinity);

const count = (n: number): string => n.toLocaleString('en-US');
