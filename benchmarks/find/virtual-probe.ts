/**
 * A probe of a search on the engine of the simulator and its virtual clock: what takes a minute against a server takes
 * milliseconds here. The requests go through the same `ProbeWatch` as those of a run.
 */
import type { RequestRecord } from '../../core/run/record.ts';
import { NOT_COUNTED, NOT_TRACED } from '../../core/run/record.ts';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { SearchedLoad } from '../../core/run/capacity.ts';
import type { ObjectiveTest } from '../../exporter/run/find/objective-test.ts';
import { probeSize, ProbeWatch, type ProbeDecision } from '../../exporter/run/find/probe-watch.ts';
import { Engine } from '../../simulator/engine/engine.ts';
import type { EngineParameters } from '../../simulator/engine/parameters.ts';

/** What the client of a probe sends. */
export interface VirtualLoad {
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
