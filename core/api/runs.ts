import type { ObjectiveVerdict } from '../run/objectives.ts';
import type { PhaseName } from '../run/record.ts';
import type { ClientHealth, ResultFile, ServerTargetChange } from '../run/result.ts';
import type { OrderedRun } from '../run/run-id.ts';
import type { RunFile } from '../run/run.ts';
import type { ListPage, PageQuery } from './service.ts';
import type { VerdictName, VerdictSummary } from './verdict.ts';

/** A distribution in a few numbers, in its unit. */
export interface KeyDistribution {
  readonly definition: string;
  /** Null: a summary of another tool does not report it. */
  readonly n: number | null;
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
}

/** The client's main numbers; null if not available. */
export interface KeyNumbers {
  readonly requests: ResultFile['requests'];
  readonly time_to_first_token_seconds: KeyDistribution | null;
  readonly inter_token_latency_seconds: KeyDistribution | null;
  readonly request_latency_seconds: KeyDistribution | null;
  readonly request_throughput: number | null;
  readonly output_token_throughput: number | null;
  /** Texts per second that were embedded, ranked or scored; null for endpoints that generate. */
  readonly document_throughput: number | null;
  readonly error_ratio: number | null;
  readonly goodput: number | null;
  readonly good_request_ratio: number | null;
  readonly client_verdict: ClientHealth['verdict'];
  readonly slos: 'met' | 'not_met' | 'undecided' | null;
}

/** A stage of the load at its time. */
export interface StageRegion {
  readonly stage: number;
  /** Such as `rate=5..20`. */
  readonly load: string;
  readonly start: string;
  readonly end: string;
}

/** One line of the list of runs. */
export interface RunSummary extends Required<OrderedRun> {
  readonly status: RunFile['status'];
  readonly scenario: string;
  readonly model: string | null;
  readonly endpoint_type: string | null;
  readonly load: string | null;
  readonly dataset: string | null;
  readonly system: string | null;
  readonly system_version: string | null;
  readonly origin: string | null;
  readonly tool: string;
  readonly tool_version: string | null;
  readonly fingerprint: string;
  readonly group_id: string | null;
  readonly step: number | null;
  readonly repeat: number | null;
  readonly tags: readonly string[];
  readonly recovered: boolean;
  readonly failure: string | null;
  readonly end: string | null;
  readonly duration_seconds: number | null;
  readonly measure_start: string | null;
  readonly measure_end: string | null;
  readonly phases: RunFile['phases'];
  /** Those that began; empty without stages, and while the run lasts. */
  readonly stages: readonly StageRegion[];
  /** Servers that started and ended during the run; empty while the run lasts. */
  readonly target_changes: readonly ServerTargetChange[];
  readonly progress: RunProgress | null;
  readonly numbers: KeyNumbers | null;
  /** The newest on the run; null when it was not judged. */
  readonly verdict: VerdictSummary | null;
}

/** How far a running run is. */
export interface RunProgress {
  /** The one that lasts; null before the first and after the last. */
  readonly phase: PhaseName | null;
  /** Requests of the measure phase that have ended. */
  readonly requests_done: number;
  /** Those of them that ended with an error or a timeout. */
  readonly requests_failed: number;
  /** Of the ok ones. */
  readonly output_tokens: number;
  /** Null when the run ends by time. */
  readonly requests_planned: number | null;
  /** Since the measure phase began; null before. */
  readonly elapsed_seconds: number | null;
  /** Null when the run ends by number. */
  readonly planned_seconds: number | null;
}

/** The requested runs. An empty list requests all; every part must fit. */
export interface RunFilter {
  readonly scenario: readonly string[];
  readonly model: readonly string[];
  readonly system: readonly string[];
  readonly tool: readonly string[];
  readonly status: readonly string[];
  readonly verdict: readonly string[];
  readonly tag: readonly string[];
  readonly group: readonly string[];
  readonly run_id: readonly string[];
  /** Words that must all stand somewhere in what describes the run. */
  readonly q: string;
  /** Milliseconds since 1970: only runs that had not ended before; null: all. */
  readonly from: number | null;
  /** Only runs that had begun by then. */
  readonly to: number | null;
}

/** `scale`: servers that started and ended during runs. */
export const ANNOTATION_KINDS = ['run', 'phase', 'stage', 'scale'] as const;

export type AnnotationKind = (typeof ANNOTATION_KINDS)[number];

/** A region of time, or a moment, as Grafana's annotations have it. */
export interface Annotation {
  /** Always the same for the same region. */
  readonly id: string;
  readonly run_id: string;
  readonly kind: AnnotationKind;
  readonly phase: PhaseName | null;
  /** Number, from 1. */
  readonly stage: number | null;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Null while it lasts; of a moment the same as `time`. */
  readonly timeEnd: number | null;
  readonly title: string;
  /** Plain text, with line breaks. */
  readonly text: string;
  readonly tags: readonly string[];
}

/** Query parameters that choose runs; absent and empty ones choose all. */
export type RunFilterQuery = Partial<RunFilter>;

/** Query parameters of `GET /runs`: the filter, the order and the page. */
export interface RunsQuery extends RunFilterQuery, PageQuery {
  /** A key of the order; a leading minus reverses it. */
  readonly sort?: string;
  /** Whether the runs of a group are one row: the first of them in this order stands for all. */
  readonly fold?: 'true' | 'false';
}

/** The runs of a group that are one row of a list, over those that fit its filter. */
export interface RunGroup {
  readonly group_id: string;
  readonly runs: number;
  /** Different loads, and those of the first and of the last step. */
  readonly loads: number;
  readonly first_load: string | null;
  readonly last_load: string | null;
  readonly statuses: Readonly<Record<RunFile['status'], number>>;
  /** Runs by whether their objectives were met; those without objectives are in none. */
  readonly slos: Readonly<Record<ObjectiveVerdict, number>>;
  /** The worst of them; null when none was judged. */
  readonly verdict: VerdictName | null;
  /** Of all of them; null when no run has the number. */
  readonly ok_requests: number | null;
  /** The smallest and the largest value of the runs that have one. */
  readonly ranges: Readonly<Record<RangedKey, readonly [low: number, high: number] | null>>;
}

/** Figures of which a group has a range: keys of the order of a list. */
export const RANGED_KEYS = [
  'error_ratio',
  'time_to_first_token_p50',
  'time_to_first_token_p99',
  'inter_token_latency_p50',
  'output_token_throughput',
] as const;

export type RangedKey = (typeof RANGED_KEYS)[number];

/** `GET /runs`. */
export interface RunsResponse extends ListPage {
  readonly runs: readonly RunSummary[];
  /** Of a folded list: the groups for which one of these runs stands; absent otherwise. */
  readonly groups?: readonly RunGroup[];
}

/** `GET /runs/{run_id}`. */
export interface RunResponse {
  readonly summary: RunSummary;
  readonly run: RunFile;
  /** Null while it is running. */
  readonly result: ResultFile | null;
  readonly has_servers: boolean;
}

/** `POST /runs/{run_id}/tags`. */
export interface ChangedTags {
  readonly run_id: string;
  readonly tags: readonly string[];
}

/** Query parameters of `GET /annotations` besides the filter. */
export interface AnnotationsQuery {
  readonly kind?: readonly Annotation['kind'][];
  readonly limit?: number;
}

/** `GET /annotations`. */
export interface AnnotationsResponse {
  readonly annotations: readonly Annotation[];
  /** Number of matching runs; beyond the limit, the oldest are left out. */
  readonly total: number;
}

export type ValueName = 'scenarios' | 'models' | 'systems' | 'tools' | 'tags' | 'statuses' | 'verdicts' | 'groups';

/** `GET /values/{name}`. */
export interface ValuesResponse {
  readonly name: ValueName;
  readonly values: readonly { readonly value: string; readonly runs: number }[];
}
