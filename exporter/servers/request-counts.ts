import type { ServerRequests } from '../../core/run/result.ts';
import { counterGain, histogramGain } from './cumulative-window.ts';
import { HistogramSeries, ScalarSeries, type Series } from './series.ts';
import type { StatisticsWindow } from './statistics.ts';
import type { TargetStore } from './target-store.ts';

/** What the client counted in the measure phase. */
export interface ClientRequests {
  readonly ok: number;
  readonly error: number;
  readonly timeout: number;
  readonly cancelled: number;
  /** By reason. */
  readonly errors: Readonly<Record<string, number>>;
}

/** A target with the window of the run on it, and what it shows that another target shows too. */
export interface CountedTarget {
  readonly store: TargetStore;
  readonly window: StatisticsWindow;
  readonly isRepeated: (series: Series) => boolean;
}

interface CountRule {
  readonly family: string;
  /** Which of the family's series count. */
  readonly counts: (labels: Readonly<Record<string, string>>) => boolean;
  /** The client's requests that the server counts there. */
  readonly clientCounts: (client: ClientRequests) => number;
  readonly population: string;
}

const all = (): boolean => true;
const ok = (client: ClientRequests): number => client.ok;
const answered = (client: ClientRequests): number => client.ok + (client.errors['http_5xx'] ?? 0);
const routed = (client: ClientRequests): number =>
  client.ok + client.error + client.timeout + client.cancelled - (client.errors['http_4xx'] ?? 0);

/**
 * Like with like: which family counts which of the client's requests. In the order in which a request meets them, so that
 * a gateway in front of engines is asked first.
 */
const RULES: readonly CountRule[] = [
  {
    family: 'dynamo_frontend_requests_total',
    counts: ({ status }) => status === 'success',
    clientCounts: ok,
    population: 'ok',
  },
  {
    family: 'smg_router_requests_total',
    counts: all,
    clientCounts: routed,
    population: 'all but those refused with 4xx',
  },
  { family: 'vllm:e2e_request_latency_seconds', counts: all, clientCounts: ok, population: 'ok' },
  { family: 'sglang:num_requests_total', counts: all, clientCounts: ok, population: 'ok' },
  {
    family: 'trtllm_request_success_total',
    counts: ({ finished_reason: reason }) => reason === 'stop' || reason === 'length',
    clientCounts: ok,
    population: 'ok',
  },
  {
    family: 'nv_inference_request_success',
    counts: all,
    clientCounts: answered,
    population: 'ok and failed with 5xx, which Triton counts as successes',
  },
];

/**
 * The server's count of the run's requests beside the client's. The series of all targets are added, each process once.
 * Null: no target has a family that counts requests.
 */
export function serverRequests(targets: readonly CountedTarget[], client: ClientRequests): ServerRequests | null {
  for (const rule of RULES) {
    const counted = targets.flatMap((target) => countOn(target, rule));
    if (counted.length === 0) continue;
    const server = counted.includes(null) ? null : counted.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    const clientCount = rule.clientCounts(client);
    return {
      family: rule.family,
      population: rule.population,
      server,
      client: clientCount,
      difference: server === null ? null : server - clientCount,
    };
  }
  return null;
}

/** Null in it: there is such a series, but what it gained is not known. */
function countOn({ store, window, isRepeated }: CountedTarget, rule: CountRule): (number | null)[] {
  return store.series
    .filter(({ family }) => family.name === rule.family)
    .filter((series) => rule.counts(series.labels) && !isRepeated(series))
    .map((series) => gained(series, store, window));
}

function gained(series: Series, store: TargetStore, { range }: StatisticsWindow): number | null {
  if (series instanceof HistogramSeries) return histogramGain(series, store, range)?.count ?? null;
  return series instanceof ScalarSeries ? (counterGain(series, store, range)?.increase ?? null) : null;
}
