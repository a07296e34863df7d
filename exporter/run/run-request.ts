import type { JsonValue } from '../../core/run/canonical-json.ts';
import type { Gates } from '../../core/run/gates.ts';
import type { ArrivalPattern } from '../bench/load-plan.ts';
import type { FixedSchedule } from '../bench/fixed-schedule.ts';
import type { Share } from '../bench/workers/share.ts';
import type { ExportFormat } from '../servers/exports/write-exports.ts';
import type { Target as MetricsTarget } from '../servers/targets.ts';
import type { OutgoingRequest } from '../publish/outgoing-request.ts';
import type { CacheReset } from './reset-kv-cache.ts';
import type { RunExport } from './run-files.ts';
import type { TrafficRequest } from './traffic-request.ts';

/** How requests are to come. */
export interface LoadRequest {
  /** Requests kept in flight, or at most in flight when they come at a rate or by a trace: then null is no limit. */
  readonly concurrency: number | null;
  readonly concurrencyRampSeconds: number;
  readonly prefillConcurrency: number | null;
  /** Absent: 0. */
  readonly prefillConcurrencyRampSeconds?: number;
  /** Null: not at a rate. */
  readonly rate: RateRequest | null;
}

export interface RateRequest {
  /** Requests per second. */
  readonly requestRate: number;
  readonly pattern: ArrivalPattern;
  /** Of the gamma pattern. */
  readonly smoothness: number;
  readonly rampSeconds: number;
}

export interface WarmupRequest {
  readonly load: LoadRequest;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
  readonly gracePeriodSeconds: number;
}

/** What is to be collected of the servers. */
export interface ServerMetricsRequest {
  /** Beside the page of the server that is benchmarked. */
  readonly targets: readonly MetricsTarget[];
  /** Also what answers on this machine's known ports when the run begins. */
  readonly discoverLocal: boolean;
  readonly intervalSeconds: number;
  /** How long to wait for idle servers before the first measured request. */
  readonly drainTimeoutSeconds: number;
  /** Null: no slices. */
  readonly sliceSeconds: number | null;
  readonly definitions: 'llmbench' | 'aiperf';
  readonly formats: readonly ExportFormat[];
}

/** One part of a run that several machines make together. */
export interface ShardRequest {
  readonly share: Share;
  /** When the measure phase begins on all of them, in milliseconds of Unix time. */
  readonly startAt_ms: number;
}

/** What a person asked for: the whole of a run, before anything is known of the server. */
export interface RunRequest {
  /** The first server; `traffic` holds the others. */
  readonly url: string;
  readonly model: string;
  readonly scenario: string;
  readonly load: LoadRequest;
  /** The requests come at the times of the input; null: they do not. */
  readonly fixedSchedule: FixedSchedule | null;
  /** Threads that make the load; null: as many as it needs. */
  readonly workers: number | null;
  /** Null: this machine makes the whole load. */
  readonly shard: ShardRequest | null;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
  readonly gracePeriodSeconds: number;
  /** Null: none. */
  readonly warmup: WarmupRequest | null;
  /** Share of the requests (0 to 1) that are given up, and when; null: none. */
  readonly cancellation: { readonly ratio: number; readonly delaySeconds: number } | null;
  readonly maxOutputTokensTotal: number | null;
  /** The servers' caches are emptied before the first request; null or absent: they are left alone. */
  readonly cacheReset?: CacheReset | null;
  /** Of each request where the dataset does not say otherwise; a mean when lengths are spread. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seed: number;
  /** Which of the texts that the seed gives: another variant has other words of the same lengths. */
  readonly textVariant: number;
  /** The sweep or the repeats that the run belongs to; null: none. */
  readonly group: { readonly group_id: string; readonly step: number | null; readonly repeat: number | null } | null;
  /** Fields that are sent as they are. */
  readonly sampling: Readonly<Record<string, JsonValue>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly traffic: TrafficRequest;
  readonly requestTimeoutSeconds: number;
  readonly failedRequestThreshold: number | null;
  /** Null when nothing has to be met. */
  readonly gates: Gates | null;
  /** Null: nothing is collected. */
  readonly serverMetrics: ServerMetricsRequest | null;
  /** Other tools' files to write beside the run's own. */
  readonly exports: readonly RunExport[];
  readonly runsDirectory: string;
  /** null: made from the time of the start. */
  readonly runId: string | null;
  /** null: only when a `serve` watches the runs directory; 0: any free port. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  readonly lingerMaxSeconds: number | null;
  /** Whom the run tells of itself: receivers of remote write, Grafana; absent: nobody. */
  readonly outgoing?: OutgoingRequest | null;
}
