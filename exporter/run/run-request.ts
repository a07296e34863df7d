import type { JsonValue } from '../../core/run/canonical-json.ts';
import type { ModelMix } from '../../core/run/run.ts';
import type { Objectives } from '../../core/run/objectives.ts';
import type { ConnectionOptions, ApiKeySource } from '../load/transports/open-transport.ts';
import type { DatasetRequest } from '../load/datasets/open-dataset.ts';
import type { EndpointType } from '../load/endpoints/endpoint-types.ts';
import type { ErrorLimit } from '../load/phases/early-end.ts';
import type { PhaseLoad } from '../load/schedule/load-plan.ts';
import type { Share } from '../load/workers/share.ts';
import type { ExportFormat } from '../servers/files/exports/aiperf-view.ts';
import type { NamedPage, SearchedPages } from '../servers/scrape/named-pages.ts';
import type { PageCredentials } from '../servers/scrape/targets.ts';
import type { OutgoingRequest } from '../publish/outgoing-request.ts';
import type { ProvenanceRequest } from '../provenance/provenance-request.ts';
import type { CacheReset } from './reset-kv-cache.ts';

/** File formats of other tools that a run can be exported to. */
export const RUN_EXPORTS = ['aiperf'] as const;
export type RunExport = (typeof RUN_EXPORTS)[number];

/** What is sent, to which servers and in which form, as the user configured it. */
export interface TrafficRequest {
  /** URLs in addition to the first one: servers are used round-robin. */
  readonly moreUrls: readonly string[];
  readonly connection: Omit<ConnectionOptions, 'urls'>;
  readonly apiKey: ApiKeySource;
  readonly endpointType: EndpointType;
  /** Path of the file, with the type `template`. */
  readonly endpointTemplate: string | null;
  /** Of fields of unknown names only these count as output; null or absent: all that have text. */
  readonly outputFields?: readonly string[] | null;
  /** Below the URLs, with its query; null: by the type. */
  readonly endpointPath: string | null;
  /** Field of the maximum output length; null: the endpoint's own, or another one that the server accepts. */
  readonly lengthField: string | null;
  /** Null: streamed if the endpoint supports it. */
  readonly stream: boolean | null;
  /** Null: none. */
  readonly tokenizer: { readonly name: string; readonly revision: string } | null;
  /** The tokenizer also counts the output of responses when the server reports a count; absent: no. */
  readonly checkUsage?: boolean;
  /** Part of the requests whose traces the servers are to record; 0 or absent: no request carries a `traceparent`. */
  readonly traceSampleRatio?: number;
  /** Tokens of a block of the servers' prefix caches; null or absent: as they report it. */
  readonly cacheBlockTokens?: number | null;
  readonly dataset: Omit<DatasetRequest, 'seed' | 'repeat'>;
}

/** What is collected from the servers. */
export interface ServerMetricsRequest {
  /** Of each search among the targets; absent: the default. */
  readonly maxFoundPages?: number;
  /** Besides the page of the benchmarked server. */
  readonly targets: readonly (NamedPage | SearchedPages)[];
  /** Also scrape local ports of known systems that respond when the run begins. */
  readonly discoverLocal: boolean;
  /** Also scrape pages at default ports of the benchmarked hosts. */
  readonly discovery: boolean;
  /** The servers also count the requests of other shards; absent: they do not. */
  readonly hasOtherShards?: boolean;
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
  /** When the measure phase begins on all of them, in milliseconds of Unix time; null: they agree on it. */
  readonly startAt_ms: number | null;
}

/** What the user requested: the whole run, before anything is known about the server. */
export interface RunRequest {
  /** The first server; `traffic` contains the others. */
  readonly url: string;
  /** The first one of several. */
  readonly model: string;
  /** Absent: all requests are for the same model. */
  readonly models?: ModelMix;
  readonly scenario: string;
  /** Sorted; absent: none. */
  readonly tags?: readonly string[];
  readonly measure: PhaseLoad;
  /** Null: none. */
  readonly warmup: PhaseLoad | null;
  /** Number of threads that generate the load; null: as many as it requires. */
  readonly workers: number | null;
  /** Null: this machine generates the whole load. */
  readonly shard: ShardRequest | null;
  /** Share of the requests (0 to 1) that are cancelled, and when; null: none. */
  readonly cancellation: { readonly ratio: number; readonly delaySeconds: number } | null;
  readonly maxOutputTokensTotal: number | null;
  /** The servers' caches are reset before the first request; null or absent: they are not. */
  readonly cacheReset?: CacheReset | null;
  /** For each request unless the dataset sets it; a mean when lengths are random. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seed: number;
  /** Variant of the texts of a seed: another variant has different words of the same lengths. */
  readonly textVariant: number;
  /** The sweep or the repeats that the run belongs to; null: none. */
  readonly group: { readonly group_id: string; readonly step: number | null; readonly repeat: number | null } | null;
  /** Fields that are sent unchanged. */
  readonly sampling: Readonly<Record<string, JsonValue>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly traffic: TrafficRequest;
  readonly requestTimeoutSeconds: number;
  /** How long the first contact waits for a server that is not ready; 0: not at all. */
  readonly waitReadySeconds: number;
  /** 0: no limit. */
  readonly firstTokenTimeoutSeconds: number;
  /** 0: no limit. */
  readonly idleTimeoutSeconds: number;
  /** Ends the run early; null: never. */
  readonly errorLimit: ErrorLimit;
  readonly failedRequestThreshold: number | null;
  /** Null: no objectives. */
  readonly objectives: Objectives | null;
  /** Null: nothing is collected. */
  readonly serverMetrics: ServerMetricsRequest | null;
  /** For the metrics pages of the servers and of `serverMetrics` only; absent: none. Never stored. */
  readonly metricsCredentials?: PageCredentials;
  /** Other tools' file formats to write in addition to the run's own. */
  readonly exports: readonly RunExport[];
  /** The words of a command that measures the same again, without secrets; null or absent: not known. */
  readonly commandLine?: readonly string[] | null;
  /** What the user states about the run; absent: nothing. */
  readonly stated?: ProvenanceRequest;
  readonly runsDirectory: string;
  /** null: made from the time of the start. */
  readonly runId: string | null;
  /** null: only when a `serve` process watches the runs directory; 0: any free port. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  /** Host names, besides this machine's own, that requests for the live metrics may be addressed to. */
  readonly allowedHosts: readonly string[];
  readonly lingerMaxSeconds: number | null;
  /** Whether the load waits for the first scrape of the live metrics; absent: it does not. */
  readonly awaitScrape?: boolean;
  /** Receivers of the run's data: remote write, Grafana annotations; absent: none. */
  readonly outgoing?: OutgoingRequest | null;
  /** Called when the run is in its runs directory; absent: nothing else is done. */
  readonly stored?: (runsDirectory: string, runId: string) => Promise<void>;
}
