import { ExpectedError } from '../errors/expected-error.ts';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { loadText } from '../../core/run/load.ts';
import { things } from '../../core/text/quantities.ts';
import type { BenchmarkPlan } from '../load/load-generator.ts';
import { planSha256, type Dataset } from '../load/datasets/dataset.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { arrivalsKey } from '../load/schedule/arrivals.ts';
import { mayWait, mostInFlight, slotsOf, type PhaseLoad, type TracePlan } from '../load/schedule/load-plan.ts';
import { parseTargets } from '../load/transports/open-transport.ts';
import { chooseWorkers, type ChosenWorkers } from '../load/workers/choose-workers.ts';
import { shareOf, WHOLE } from '../load/workers/share.ts';
import { loadKey, modelText, type KeyedLoad } from './comparison-key.ts';
import type { RunRequest } from './run-request.ts';

/** The loads of a run's phases, and the dataset of their requests. */
export interface PlannedLoad extends KeyedLoad {
  readonly dataset: Dataset;
}

/** Endpoints whose requests have roles and calls of tools. */
const WITH_TOOLS: ReadonlySet<string> = new Set(['chat', 'responses', 'messages', 'template']);

/** The requested load on a dataset. Throws an `ExpectedError` when it cannot be sent. */
export function plannedLoad({ measure, warmup, traffic }: RunRequest, dataset: Dataset): PlannedLoad {
  if (dataset.hasTools === true && !WITH_TOOLS.has(traffic.endpointType))
    throw new ExpectedError(
      'refused',
      `the sessions call tools, which --endpoint-type ${traffic.endpointType} cannot send: use ${[...WITH_TOOLS].join(', ')}`,
    );
  if (measure.coolDown === true && dataset.conversation !== undefined)
    throw new ExpectedError(
      'refused',
      '--cool-down cannot be used with conversations: their users pause between turns, so the load is not constant',
    );
  const { arrivals } = measure.load;
  const part = arrivals?.kind === 'trace' ? scheduledPart(dataset, arrivals) : dataset;
  return {
    dataset: part,
    warmup,
    measure: { ...measure, requestCount: requestCountOf(part, measure) },
    planSha256: planHash(part, warmup, measure),
  };
}

/** Of the phase; null: it has no limit. */
function requestCountOf(dataset: Dataset, { load, requestCount, conversationCount }: PhaseLoad): number | null {
  if (conversationCount !== undefined && dataset.conversation === undefined)
    throw new ExpectedError(
      'refused',
      '--conversation-num requires conversations: --session-turns-mean, or a file that has them',
    );
  const due = load.arrivals?.kind === 'trace' ? (dataset.due_ns?.length ?? Infinity) : Infinity;
  const entries = Math.min(due, conversationCount ?? Infinity);
  const requests = Math.min(requestCount ?? Infinity, entries === Infinity ? Infinity : requestsIn(dataset, entries));
  return requests === Infinity ? null : requests;
}

/**
 * The part of a dataset with timestamps that a trace sends: the measure phase begins with the first request of the
 * part, and its times are relative to the start of the phase. Throws an `ExpectedError` when the dataset has no times, when
 * they descend, or when no request remains.
 */
function scheduledPart(dataset: Dataset, schedule: TracePlan): Dataset & { readonly due_ns: Float64Array } {
  const { due_ns } = dataset;
  if (due_ns === undefined) throw new ExpectedError('refused', '--fixed-schedule: the input has no timestamps');
  const unordered = due_ns.findIndex((due, i) => due < (due_ns[i - 1] ?? -Infinity));
  if (unordered >= 0)
    throw new ExpectedError(
      'refused',
      `--fixed-schedule: request ${unordered + 1} of the input has a lower timestamp than the one before it`,
    );
  const start_ns = Math.round((schedule.startOffset_ms ?? 0) * 1e6);
  const end_ns = schedule.endOffset_ms === null ? Infinity : Math.round(schedule.endOffset_ms * 1e6);
  const zero_ns = schedule.autoOffset ? (due_ns[0] ?? 0) : start_ns;
  const from = firstIndex(due_ns, (due) => due >= start_ns);
  const to = firstIndex(due_ns, (due) => due > end_ns);
  if (to <= from)
    throw new ExpectedError(
      'refused',
      '--fixed-schedule: no request of the input is due between the start and the end of the schedule',
    );
  const speedup = schedule.speedup ?? 1;
  const times = due_ns.subarray(from, to).map((due) => Math.round((due - zero_ns) / speedup));
  return { ...fromPosition(dataset, from), due_ns: times };
}

function firstIndex(values: Float64Array, holds: (value: number) => boolean): number {
  const index = values.findIndex(holds);
  return index < 0 ? values.length : index;
}

/** The requests of the first entries of a dataset in the measure phase, each of which may be a conversation. */
function requestsIn({ conversation }: Dataset, entries: number): number {
  if (conversation === undefined) return entries;
  let requests = 0;
  for (let position = 0; position < entries; position++) requests += conversation('measure', position).requests;
  return requests;
}

function fromPosition(dataset: Dataset, from: number): Dataset {
  if (from === 0) return dataset;
  const { shared, conversation } = dataset;
  const at = (phase: string, position: number): number => (phase === 'measure' ? position + from : position);
  return {
    ...dataset,
    request: (phase, position) => dataset.request(phase, at(phase, position)),
    ...(conversation && { conversation: (phase, position) => conversation(phase, at(phase, position)) }),
    ...(shared && { shared: (phase, position) => shared(phase, at(phase, position)) }),
  };
}

/** A closed load has no arrival times: its plan is that of the dataset. */
function planHash(dataset: Dataset, warmup: PhaseLoad | null, measure: PhaseLoad): string {
  const arrivals = Object.entries({ warmup, measure }).flatMap(([phase, planned]) => {
    if (planned === null || planned.load.arrivals === null) return [];
    const key = arrivalsKey(planned.load.arrivals, dataset);
    return Object.entries(key).map(([name, value]) => [`${phase}_${name}`, value] as const);
  });
  if (arrivals.length === 0) return dataset.planSha256;
  return planSha256({ dataset: dataset.planSha256, ...Object.fromEntries(arrivals) });
}

/** Everything that determines what a run sends, identical in every worker that is given the same request. */
export function plannedBenchmark(
  request: RunRequest,
  { form, secrets }: { readonly form: RequestForm; readonly secrets: readonly string[] },
  planned: PlannedLoad,
  measureStart_ns: number | null,
): BenchmarkPlan {
  return {
    form,
    warmup: planned.warmup,
    measure: planned.measure,
    shard: request.shard?.share ?? WHOLE,
    measureStart_ns,
    cancellation: request.cancellation && { ...request.cancellation, seed: request.seed },
    maxOutputTokensTotal: request.maxOutputTokensTotal,
    errorLimit: request.errorLimit,
    failedRequestThreshold: request.failedRequestThreshold,
    secrets,
    requestTimeoutSeconds: request.requestTimeoutSeconds,
    firstTokenTimeoutSeconds: request.firstTokenTimeoutSeconds,
    idleTimeoutSeconds: request.idleTimeoutSeconds,
  };
}

/** Number of threads that generate a run's load on this machine. Throws an `ExpectedError` when a shard has no load. */
export function neededWorkers({ measure, warmup, outputTokens, workers, shard }: RunRequest): ChosenWorkers {
  const loads = [measure.load, ...(warmup === null ? [] : [warmup.load])];
  if (shard !== null) {
    const { share } = shard;
    const least = Math.min(measure.requestCount ?? Infinity, ...loads.map(slotsOf));
    if (shareOf(least, share) === 0)
      throw new ExpectedError(
        'refused',
        `a load of ${least} requests or slots leaves none for shard ${share.part} of ${share.parts}`,
      );
  }
  const chosen = chooseWorkers(workers, loads, outputTokens, availableParallelism(), shard?.share ?? WHOLE);
  if (chosen.workers === 1 || !loads.some(mayWait)) return chosen;
  const line = `${chosen.line ?? `workers: ${chosen.workers}`}; each has a part of the limit of requests in flight or in prefill`;
  return { ...chosen, line };
}

/** More concurrent requests than this against a server that is not on this machine require `--yes`. */
const CAREFUL_CONCURRENCY = 64;

/** Only the hosts matter. */
const ANY_API = { type: 'template', path: '' };

/** Open files of a run other than the connections of its requests: files, its page, the servers' pages. */
const OTHER_FILES = 64;

/**
 * Refuses a load that this process cannot generate, or that may be too much for a remote server. `steps`: how many runs
 * with different loads follow each other; `confirmed`: the user confirmed the load. Throws an `ExpectedError`.
 */
export function checkLoad(request: RunRequest, steps: number, confirmed: boolean): void {
  const phases = [request.measure, ...(request.warmup === null ? [] : [request.warmup])];
  const inFlight = mostInFlight(phases.map(({ load }) => load));
  checkOpenFiles(inFlight, openFilesLimit());
  if (request.traffic.connection.unixSocket !== null) return;
  for (const { origin } of parseTargets([request.url, ...request.traffic.moreUrls], ANY_API))
    checkLoadIsMeant(origin, { inFlight, steps }, confirmed);
}

/** The largest load of one command. */
interface IntendedLoad {
  /** Maximum number of requests in flight; null: no limit. */
  readonly inFlight: number | null;
  /** Number of runs with different loads. */
  readonly steps: number;
}

/** Protects shared servers: throws an `ExpectedError` when a large load on another machine was not confirmed. */
export function checkLoadIsMeant(origin: string, { inFlight, steps }: IntendedLoad, confirmed: boolean): void {
  if (confirmed || isLoopback(new URL(origin).hostname)) return;
  const remark = `to ${origin}, which is another machine: confirm with --yes`;
  const limit = `(up to ${CAREFUL_CONCURRENCY} concurrent requests need no confirmation)`;
  if (inFlight === null) throw new ExpectedError('refused', `a load without a --concurrency limit ${remark} ${limit}`);
  if (inFlight > CAREFUL_CONCURRENCY)
    throw new ExpectedError('refused', `${inFlight} concurrent requests ${remark} ${limit}`);
  if (steps > 1) throw new ExpectedError('refused', `a sweep of ${steps} loads ${remark}`);
}

/** 127.0.0.0/8, ::1 and localhost. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Throws an `ExpectedError` when the limit of open files is too low for the connections of the load; null: unknown. */
export function checkOpenFiles(inFlight: number | null, limit: number | null): void {
  if (inFlight === null || limit === null || inFlight + OTHER_FILES <= limit) return;
  throw new ExpectedError(
    'refused',
    `${inFlight} concurrent requests require as many connections, but the limit of open files is ${limit}: ` +
      `\`ulimit -n ${inFlight + OTHER_FILES}\` raises the limit, or spread the load with --shard`,
  );
}

/**
 * The limit of open files of this process, from Linux's /proc/self/limits (proc(5)); null on other systems, and without
 * a limit.
 */
export function openFilesLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? NaN) || null;
  } catch {
    // Not Linux.
    return null;
  }
}

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
  return `${modelText(request)} at ${origin}: ${before}${amount(measure)}, ${loadText(loadKey(measure.load))}${after}, ${limits}`;
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
