import type { SearchedLoad } from '../../core/run/capacity.ts';
import type { Objective } from '../../core/run/objectives.ts';
import { NOT_COUNTED, NOT_TRACED, type RequestRecord } from '../../core/run/record.ts';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { ObjectiveTest } from '../../exporter/run/find/objective-test.ts';
import { probeSize, ProbeWatch, type ProbeDecision } from '../../exporter/run/find/probe-watch.ts';
import { Engine } from '../../simulator/engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS, type EngineParameters } from '../../simulator/engine/parameters.ts';
import type { SimulatedSystem } from '../../simulator/main.ts';
import { SGLANG_PARAMETERS } from '../../simulator/sglang/start.ts';
import { TRTLLM_PARAMETERS } from '../../simulator/trtllm/start.ts';

/**
 * A probe of a search on the engine of the simulator and its virtual clock: what takes a minute against a server takes
 * milliseconds here. The requests go through the same `ProbeWatch` as those of a run.
 */

/** What the client of a probe sends. */
interface VirtualLoad {
  readonly load: SearchedLoad;
  readonly arrivals: 'constant' | 'poisson';
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface VirtualProbe extends ProbeDecision {
  /** Requests that were sent. */
  readonly requests: number;
  readonly seconds: number;
}

/** Time in which a client sends the next request of a slot. */
const TURNAROUND_NS = 200_000;
const MAX_SECONDS = 600;

/** Performs one probe at a load; the seed determines jitter and arrivals. */
export function virtualProbe(
  parameters: EngineParameters,
  traffic: VirtualLoad,
  tests: readonly ObjectiveTest[],
  { load, isConfirming, seed }: { readonly load: number; readonly isConfirming: boolean; readonly seed: number },
): VirtualProbe {
  const engine = new Engine({ ...parameters, seed });
  const closed = traffic.load === 'concurrency';
  let isOver = false;
  const watch = new ProbeWatch({
    tests,
    size: probeSize(tests, closed ? load : 0, null),
    isConfirming,
    concurrency: closed ? load : null,
    decided: () => (isOver = true),
  });
  watch.phaseStarted('measure', 0);
  const gaps = seededRandom(`arrivals ${seed}`);
  let sent = 0;
  const submit = (arrival_ns: number): void => {
    const { inputTokens: promptTokens, outputTokens } = traffic;
    engine.submit({ id: String(sent++), arrival_ns, promptTokens, outputTokens });
    watch.requestSent('measure', arrival_ns, arrival_ns);
  };
  if (closed) for (let slot = 0; slot < load; slot++) submit(TURNAROUND_NS);
  let nextArrival_ns = closed ? Infinity : 1;
  while (!isOver) {
    const next = Math.min(engine.nextEventTime() ?? Infinity, nextArrival_ns);
    if (next > MAX_SECONDS * 1e9) break;
    if (next === nextArrival_ns) {
      submit(nextArrival_ns);
      const gap = traffic.arrivals === 'constant' ? 1 : -Math.log(1 - gaps());
      nextArrival_ns += Math.max(1, Math.round((gap / load) * 1e9));
      continue;
    }
    for (const event of engine.advanceTo(next)) {
      if (event.kind !== 'finished' || isOver) continue;
      watch.requestEnded(recordOf(event.request, event.time_ns));
      if (closed) submit(event.time_ns + TURNAROUND_NS);
    }
  }
  return { ...watch.result(), requests: sent, seconds: Math.max(0, engine.now_ns) / 1e9 };
}

function recordOf(
  request: {
    readonly id: string;
    readonly arrival_ns: number;
    readonly firstToken_ns: number | null;
    readonly lastToken_ns: number | null;
    readonly promptTokens: number;
    readonly outputTokens: number;
  },
  end_ns: number,
): RequestRecord {
  return {
    ...NOT_COUNTED,
    ...NOT_TRACED,
    index: Number(request.id),
    phase: 'measure',
    due_ns: request.arrival_ns,
    sent_ns: request.arrival_ns,
    first_content_ns: request.firstToken_ns,
    first_output_ns: request.firstToken_ns,
    last_content_ns: request.lastToken_ns,
    end_ns,
    connection_reused: true,
    connect_ns: null,
    connection_retried: false,
    outcome: 'ok',
    reason: null,
    http_status: 200,
    input_tokens: request.promptTokens,
    input_tokens_source: 'usage',
    output_tokens: request.outputTokens,
    output_tokens_source: 'usage',
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: request.outputTokens,
    chunk_offsets_ns: [],
  };
}

/**
 * Simulated servers whose capacity follows from their parameters. The derivations are by hand, from the rules of the engine in
 * `simulator/engine`: a step takes base + (tokens in prefill) × p + (requests in decode) × d, and a request is in one step with
 * its whole prompt (which gives its first token) and in `osl − 1` steps with one token each. So a request adds
 *
 *     w = isl × p + (osl − 1) × d
 *
 * milliseconds to the steps that it is in, and with n requests in every step a step takes on average T(n) = base + n × w ÷ osl.
 */

export interface CapacityConfiguration {
  readonly name: string;
  readonly system: SimulatedSystem;
  /** What differs from the defaults of the system. */
  readonly engine: Partial<Omit<EngineParameters, 'seed'>>;
  readonly parameters: EngineParameters;
  readonly traffic: VirtualLoad;
  readonly slo: Objective;
  /** The objective as `--slo` reads it. */
  readonly objectiveText: string;
  /** The load up to which the objective holds. */
  readonly capacity: number;
  /** How the capacity follows from the parameters. */
  readonly derivation: string;
}

const BASE = DEFAULT_ENGINE_PARAMETERS.stepBaseMilliseconds;
const D = DEFAULT_ENGINE_PARAMETERS.decodeMillisecondsPerSequence;
const P = DEFAULT_ENGINE_PARAMETERS.prefillMillisecondsPerToken;

/** Milliseconds that a request adds to its steps. */
const added = (isl: number, osl: number, p = P): number => isl * p + (osl - 1) * D;

/** Mean time of a step with n requests in it. */
const stepWith = (n: number, isl: number, osl: number, p = P): number => BASE + (n * added(isl, osl, p)) / osl;

const upTo = (measure: string, stat: Objective['stat'], milliseconds: number): Objective => ({
  measure,
  stat,
  comparison: '<=',
  limit: milliseconds / 1000,
  unit: 'seconds',
});

function configuration(
  given: Omit<CapacityConfiguration, 'parameters' | 'objectiveText' | 'slo'> & {
    readonly measure: string;
    readonly stat: NonNullable<Objective['stat']>;
    readonly milliseconds: number;
  },
): CapacityConfiguration {
  const { measure, stat, milliseconds, ...rest } = given;
  const ofSystem = { vllm: {}, sglang: SGLANG_PARAMETERS, trtllm: TRTLLM_PARAMETERS }[given.system as 'vllm'] ?? {};
  return {
    ...rest,
    parameters: { ...DEFAULT_ENGINE_PARAMETERS, ...ofSystem, ...given.engine },
    slo: upTo(measure, stat, milliseconds),
    objectiveText: `${measure}:${stat}<=${milliseconds}ms`,
  };
}

const round = (value: number): number => Number(value.toPrecision(6));

/** Prompts cost almost nothing: whether requests prefill together or one after the other does not matter. */
const CHEAP_PREFILL = 0.005;

/** Of X accepted and own tokens of a step with 3 draft tokens that are each right with 0.65: 1, 2, 3 or 4. */
const DRAFTED = { mean: 2.3471, meanSquare: 6.9851 };

/** Steps that 63 tokens take: a renewal process, of which the last step yields on average so many tokens too many. */
const TRTLLM_STEPS = (63 + (DRAFTED.meanSquare / (2 * DRAFTED.mean) - 0.5)) / DRAFTED.mean;

export const CONFIGURATIONS: readonly CapacityConfiguration[] = [
  configuration({
    name: 'vllm-itl',
    system: 'vllm',
    engine: { prefillMillisecondsPerToken: CHEAP_PREFILL },
    traffic: { load: 'concurrency', arrivals: 'constant', inputTokens: 64, outputTokens: 64 },
    measure: 'inter_token_latency',
    stat: 'p95',
    milliseconds: round(stepWith(40.5, 64, 64, CHEAP_PREFILL)),
    capacity: 40.5,
    derivation: 'The time between two tokens is a step: T(n) ≤ limit. The limit is T(40.5): 40 hold, 41 do not.',
  }),
  configuration({
    name: 'vllm-rate',
    system: 'vllm',
    engine: { maxNumSeqs: 16 },
    traffic: { load: 'request_rate', arrivals: 'constant', inputTokens: 64, outputTokens: 32 },
    measure: 'time_to_first_token',
    stat: 'p95',
    milliseconds: 200,
    // 16 places, each taken for 32 steps of T(16) = 20.675 ms: 16 ÷ 0.6616 s.
    capacity: round((16 / (32 * stepWith(16, 64, 32))) * 1000),
    derivation:
      'All 16 places are taken for osl steps of T(16): more than 16 ÷ (osl × T(16)) requests per second wait ever longer, ' +
      'fewer (at constant gaps) find a place and wait two steps at most.',
  }),
  configuration({
    name: 'sglang-slots',
    system: 'sglang',
    engine: { maxNumSeqs: 24, prefillMillisecondsPerToken: CHEAP_PREFILL },
    traffic: { load: 'concurrency', arrivals: 'constant', inputTokens: 64, outputTokens: 48 },
    measure: 'time_to_first_token',
    stat: 'mean',
    milliseconds: round(3 * stepWith(24, 64, 48, CHEAP_PREFILL)),
    capacity: 24.5,
    derivation:
      'Up to 24 requests have a place: a request waits for the end of the current step and takes one, at most 2 T. Of 25, one ' +
      'waits at any time: by Little’s law each waits osl × T ÷ 24 = 2 T more. The limit is 3 T(24).',
  }),
  configuration({
    name: 'sglang-latency',
    system: 'sglang',
    engine: { maxNumSeqs: 256 },
    traffic: { load: 'request_rate', arrivals: 'constant', inputTokens: 128, outputTokens: 32 },
    measure: 'request_latency',
    stat: 'mean',
    milliseconds: 1000,
    capacity: round((1000 * (1 - (32.5 * BASE) / 1000)) / added(128, 32)),
    derivation:
      'Requests take the share λ w of the time, the base of the steps the rest: T = base ÷ (1 − λ w). A request waits half a ' +
      'step and takes osl of them: (osl + ½) × base ÷ (1 − λ w) ≤ limit.',
  }),
  configuration({
    name: 'trtllm-itl',
    system: 'trtllm',
    engine: { prefillMillisecondsPerToken: CHEAP_PREFILL },
    traffic: { load: 'concurrency', arrivals: 'constant', inputTokens: 64, outputTokens: 64 },
    measure: 'inter_token_latency',
    stat: 'mean',
    milliseconds: round(((BASE + 24.5 * D) * TRTLLM_STEPS) / 63),
    capacity: 24.5,
    derivation:
      'With 3 draft tokens of acceptance 0.65 a step yields 1 to 4 tokens, 2.3471 on average. 63 tokens after the first take ' +
      '(63 + 0.988) ÷ 2.3471 = 27.26 steps of base + n × d. The limit is that time ÷ 63 with n = 24.5.',
  }),
];
