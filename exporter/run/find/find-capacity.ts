import type {
  CapacityFile,
  CapacityObjective,
  CapacityProbe,
  SearchAmounts,
  SearchedObjective,
  SearchEnd,
} from '../../../core/run/capacity.ts';
import { joinedEvents, type RunEvents } from '../../../core/run/run-output.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { pause } from '../../clock/pause.ts';
import { RunControls } from '../../load/phases/run-controls.ts';
import { MAX_DELAY_MS } from '../../load/schedule/schedule.ts';
import type { PerformedRun } from '../perform-run.ts';
import type { RunRequest } from '../run-request.ts';
import { boundsOf, nextStep, type LoadRange, type ProbeOutcome, capacitySentence } from './next-step.ts';
import type { ObjectiveTest } from './objective-test.ts';
import { probeSize, ProbeWatch, type ProbeDecision, type Growth } from './probe-watch.ts';
import { SearchBudget, type ProbeAllowance } from './search-budget.ts';
import type { RequestRecord } from '../../../core/run/record.ts';

/** Both bounds are right; each is confirmed by probes that are wrong in 2.5 % of cases at most. */
const CONFIDENCE = 0.95;

/** A search as the user requested it. */
export interface CapacitySearch {
  readonly groupId: string;
  readonly scenario: string;
  readonly model: string;
  readonly range: LoadRange;
  readonly tests: readonly ObjectiveTest[];
  readonly objectives: readonly SearchedObjective[];
  readonly budget: SearchAmounts<number | null>;
  /** The user's limit of the judged requests of one probe; null: by the objectives. */
  readonly mostRequests: number | null;
  readonly servers: number;
  /** Between the end of a probe and the start of the next. */
  readonly cooldownSeconds: number;
  /** The run of a probe. */
  request(probe: PlannedProbe): RunRequest;
}

/** A probe before it is made. */
export interface PlannedProbe {
  readonly load: number;
  /** Index of its load, in the order in which the search came to them. */
  readonly step: number;
  readonly repeat: number;
  /** Index of the probe in the search. */
  readonly number: number;
  /** Measured requests at most; null: only the duration ends the probe. */
  readonly requestCount: number | null;
  readonly allowance: ProbeAllowance;
}

/** What a search requires from the program that performs it. */
interface SearchHost {
  announce(probe: PlannedProbe, request: RunRequest): void;
  perform(request: RunRequest, controls: RunControls, observer: RunEvents): Promise<PerformedRun>;
  /** After each probe, and at the end: keeps the state of a search that has probes. */
  save(file: CapacityFile): Promise<void>;
  finished(probe: CapacityProbe, performed: PerformedRun): void;
}

/**
 * Searches the capacity: performs the probes that `nextStep` asks for until it has the answer, the budget is used up or the
 * user interrupts. `previous`: the state of a search of that name, whose probes are not repeated. Errors of a run are thrown
 * after the state was saved.
 */
export async function findCapacity(
  search: CapacitySearch,
  previous: CapacityFile | null,
  controls: RunControls,
  host: SearchHost,
): Promise<CapacityFile> {
  const budget = new SearchBudget(search.budget, search.servers, previous?.used);
  const probes = [...(previous?.probes ?? [])];
  const startedAt = previous?.started_at ?? new Date().toISOString();
  const state = (end: SearchEnd | null): CapacityFile =>
    capacityFile(search, { probes, used: budget.used, end, startedAt });
  const ended = async (end: SearchEnd): Promise<CapacityFile> => {
    const file = state(end);
    if (probes.length > 0) await host.save(file);
    return file;
  };
  const closing = new ClosingTime();
  for (let made = 0; ; made++) {
    const outcomes = probes.map(outcomeOf);
    const step = nextStep(search.range, outcomes);
    if (step.kind === 'end') return ended(step.end);
    if (made > 0) await pause(search.cooldownSeconds * 1000, controls.draining);
    if (controls.draining.aborted) return ended('interrupted');
    const size = probeSize(search.tests, concurrencyOf(search, step.load) ?? 0, search.mostRequests);
    const planned = plannedProbe(search, outcomes, { ...step, looks: size.looks }, budget.allowance);
    if (!isAffordable(planned, size.looks[0] ?? 0, closing)) return ended('budget');
    if (probes.length > 0) await host.save(state(null));
    let probed: Probed | null;
    try {
      probed = await performProbe(search, planned, {
        isConfirming: step.isConfirming,
        controls,
        host,
        budget,
        closing,
      });
    } catch (error) {
      await ended(controls.draining.aborted ? 'interrupted' : 'failed');
      throw error;
    }
    if (probed === null) return ended(controls.draining.aborted ? 'interrupted' : 'budget');
    if (probed.isCounted) {
      probes.push(probed.probe);
      host.finished(probed.probe, probed.performed);
    }
    if (controls.draining.aborted) return ended('interrupted');
    if (probed.isOutOfBudget) return ended('budget');
    if (!probed.isCounted) return ended('failed');
  }
}

const outcomeOf = ({ load, verdict, conclusive }: CapacityProbe): ProbeOutcome => ({
  load,
  verdict,
  isConclusive: conclusive,
});

const concurrencyOf = ({ range }: CapacitySearch, load: number): number | null =>
  range.load === 'concurrency' ? load : null;

function plannedProbe(
  search: CapacitySearch,
  outcomes: readonly ProbeOutcome[],
  { load, looks }: { readonly load: number; readonly looks: readonly number[] },
  allowance: ProbeAllowance,
): PlannedProbe {
  const loads = [...new Set(outcomes.map((outcome) => outcome.load))];
  const step = loads.indexOf(load);
  const concurrency = concurrencyOf(search, load);
  return {
    load,
    step: step < 0 ? loads.length : step,
    repeat: outcomes.filter((outcome) => outcome.load === load).length,
    number: outcomes.length,
    // The first request of each slot is not judged, and those in flight at the end have to end.
    requestCount: concurrency === null ? null : (looks.at(-1) ?? 0) + 2 * concurrency,
    allowance,
  };
}

const MIN_PROBE_SECONDS = 2;

/** The time that a probe needs after its load, to cancel its requests and to store its run: by the probes so far. */
class ClosingTime {
  #longest_s = 1;

  /** Half as long again as the longest so far: it depends on the disk and on what else the machine does. */
  get seconds(): number {
    return 1.5 * this.#longest_s;
  }

  took(seconds: number): void {
    this.#longest_s = Math.max(this.#longest_s, seconds);
  }
}

/** Whether the budget lets a probe come to its first look. */
function isAffordable(
  { allowance, load, requestCount }: PlannedProbe,
  firstLook: number,
  closing: ClosingTime,
): boolean {
  const needed = firstLook + (requestCount === null ? 0 : load);
  const seconds = MIN_PROBE_SECONDS + closing.seconds;
  return allowance.requests >= needed && allowance.outputTokens >= needed && allowance.seconds >= seconds;
}

interface ProbeParts {
  readonly isConfirming: boolean;
  readonly controls: RunControls;
  readonly host: SearchHost;
  readonly budget: SearchBudget;
  readonly closing: ClosingTime;
}

interface Probed {
  readonly probe: CapacityProbe;
  readonly performed: PerformedRun;
  /** False: the run was interrupted or failed for another reason than its load. */
  readonly isCounted: boolean;
  readonly isOutOfBudget: boolean;
}

/** Null if the budget ended before the run began. */
async function performProbe(search: CapacitySearch, planned: PlannedProbe, parts: ProbeParts): Promise<Probed | null> {
  const { controls, host, budget, isConfirming, closing } = parts;
  const own = new RunControls();
  const tally = new ProbeTally();
  const concurrency = concurrencyOf(search, planned.load);
  let isDecided = false;
  let concludedAt: number | null = null;
  const watch = new ProbeWatch({
    tests: search.tests,
    size: probeSize(search.tests, concurrency ?? 0, search.mostRequests),
    isConfirming,
    concurrency,
    decided: ({ by }) => {
      isDecided = true;
      concludedAt = performance.now();
      own.conclude(by === 'growing');
    },
  });
  const release = followUser(controls, own);
  let isLate = false;
  const deadline = timer(planned.allowance.seconds - closing.seconds, () => {
    isLate = true;
    concludedAt = performance.now();
    own.conclude(true);
  });
  const start = performance.now();
  try {
    const request = search.request(planned);
    host.announce(planned, request);
    const performed = await host.perform(request, own, joinedEvents([tally, watch]));
    const end = performance.now();
    const seconds = (end - start) / 1000;
    if (concludedAt !== null) closing.took((end - concludedAt) / 1000);
    const probe = capacityProbe(planned, watch.result(), { performed, tally, seconds });
    const isCounted = isDecided || (performed.result.status === 'completed' && !controls.draining.aborted);
    const isOutOfBudget = isLate || (!isDecided && isAtLimit(planned.allowance, tally));
    return { probe, performed, isCounted: isCounted && !(isOutOfBudget && !isDecided), isOutOfBudget };
  } catch (error) {
    if (isLate) return null;
    throw error;
  } finally {
    clearTimeout(deadline);
    release();
    budget.spend(tally.requests, tally.outputTokens);
  }
}

const timer = (seconds: number, then: () => void): NodeJS.Timeout | undefined =>
  seconds * 1000 < MAX_DELAY_MS ? setTimeout(then, Math.max(0, seconds) * 1000) : undefined;

/** Whether a probe without a decision ended because the next request was beyond the budget. */
const isAtLimit = ({ requests, outputTokens }: ProbeAllowance, tally: ProbeTally): boolean =>
  tally.requests >= requests || outputTokens - tally.outputTokens < tally.longestOutputTokens;

/** Ctrl-C ends the probe as it ends a run. */
function followUser(user: RunControls, probe: RunControls): () => void {
  const drain = (): void => probe.drain();
  const abort = (): void => probe.abort();
  user.draining.addEventListener('abort', drain);
  user.aborting.addEventListener('abort', abort);
  if (user.draining.aborted) drain();
  return () => {
    user.draining.removeEventListener('abort', drain);
    user.aborting.removeEventListener('abort', abort);
  };
}

function capacityProbe(
  { load, repeat }: PlannedProbe,
  decision: ProbeDecision,
  made: { readonly performed: PerformedRun; readonly tally: ProbeTally; readonly seconds: number },
): CapacityProbe {
  const { result } = made.performed;
  const endedBy = { objectives: 'objectives', growing: 'growth', ended: 'limits' } as const;
  const isClear = decision.verdict !== 'undecided';
  return {
    run_id: result.run_id,
    load,
    repeat,
    verdict: decision.verdict,
    conclusive: decision.isConclusive,
    ended_by: !isClear && decision.by === 'objectives' ? 'limits' : endedBy[decision.by],
    why: decision.growth === null ? null : growthText(decision.growth),
    objectives: decision.judgments.map(({ verdict, value, n, effectiveN, beyond }): CapacityObjective => ({
      ...{ verdict, value, n, beyond },
      effective_n: effectiveN,
    })),
    client: result.client.verdict,
    requests: made.tally.requests,
    output_tokens: made.tally.outputTokens,
    seconds: made.seconds,
  };
}

function growthText({ quantity: grown, from, to, seconds, p }: Growth): string {
  const unit = grown === 'requests in flight' ? 'requests' : 'seconds';
  const amounts = `from ${quantity(from, unit)} to ${quantity(to, unit)} within ${quantity(seconds, 'seconds')}`;
  return `${grown} grew ${amounts} (p = ${p.toExponential(0)})`;
}

interface SearchState {
  readonly probes: readonly CapacityProbe[];
  readonly used: SearchAmounts;
  readonly end: SearchEnd | null;
  readonly startedAt: string;
}

function capacityFile(search: CapacitySearch, { probes, used, end, startedAt }: SearchState): CapacityFile {
  const { load, start, min, max } = search.range;
  const bounds = boundsOf(probes.map(outcomeOf));
  const range = { start, min, max };
  return {
    schema_version: 1,
    group_id: search.groupId,
    scenario: search.scenario,
    model: search.model,
    load,
    objectives: search.objectives,
    range,
    confidence: CONFIDENCE,
    end,
    sentence: capacitySentence({ ...bounds, end, load, range, confidence: CONFIDENCE }),
    ...bounds,
    budget: search.budget,
    used,
    probes: [...probes],
    started_at: startedAt,
    updated_at: new Date().toISOString(),
  };
}

/** Counts what a probe sends, with its warm-up. */
class ProbeTally implements RunEvents {
  #requests = 0;
  #tokens = 0;
  #longest = 1;

  get requests(): number {
    return this.#requests;
  }

  /** A request without a count has its maximum. */
  get outputTokens(): number {
    return this.#tokens;
  }

  /** The largest `max_tokens` of a request. */
  get longestOutputTokens(): number {
    return this.#longest;
  }

  requestSent(): void {
    this.#requests++;
  }

  requestEnded({ output_tokens, requested_output_tokens }: RequestRecord): void {
    this.#longest = Math.max(this.#longest, requested_output_tokens ?? 1);
    this.#tokens += output_tokens ?? requested_output_tokens ?? 0;
  }
}
