import type { Objective } from './objectives.ts';
import type { ClientHealth } from './result.ts';

/** Which load a search for the capacity varies. */
export type SearchedLoad = 'concurrency' | 'request_rate';

/** Whether all objectives hold at a load, as one probe found. */
export type ProbeVerdict = 'holds' | 'fails' | 'undecided';

/**
 * found: the loads around the capacity are confirmed and within the resolution; not_reached: the objectives hold at the
 * highest load; none_holds: they fail at the lowest; not_monotonic: a load above one that fails holds; undecided: the
 * probes between the two loads could not be decided; budget, interrupted, failed: what ended it before.
 */
export type SearchEnd =
  'found' | 'not_reached' | 'none_holds' | 'not_monotonic' | 'undecided' | 'budget' | 'interrupted' | 'failed';

/** The response of a search, also while it lasts. */
export interface CapacityBounds {
  /** The largest load below every failing one at which the objectives hold; null: none. */
  readonly holds: number | null;
  /** The smallest load at which they fail; null: none. */
  readonly fails: number | null;
  /** Whether each bound that exists was confirmed by at least two probes. */
  readonly confirmed: boolean;
}

/** An objective, and its text as `--slo` reads it. */
export interface SearchedObjective extends Objective {
  readonly text: string;
}

/** What a probe said about one objective. */
export interface CapacityObjective {
  readonly verdict: ProbeVerdict;
  /** In the unit of the objective; null: none, or infinite because of failed requests. */
  readonly value: number | null;
  /** Judged requests. */
  readonly n: number;
  /** n as independent requests would give the same certainty. */
  readonly effective_n: number;
  /** Requests beyond the limit. */
  readonly beyond: number;
}

/** A run of the search. */
export interface CapacityProbe {
  readonly run_id: string;
  readonly load: number;
  /** From 0. */
  readonly repeat: number;
  readonly verdict: ProbeVerdict;
  /** False: good enough to choose the next load, not to confirm this one. */
  readonly conclusive: boolean;
  /** What ended the probe: its objectives were decided, the load grew steadily, or its limits were reached. */
  readonly ended_by: 'objectives' | 'growth' | 'limits';
  /** The reason in one line; null when the objectives say enough. */
  readonly why: string | null;
  /** In the order of the objectives of the search. */
  readonly objectives: readonly CapacityObjective[];
  /** Whether the client itself was the limit; absent in files of earlier versions. */
  readonly client?: ClientHealth['verdict'];
  /** Sent, with the warm-up. */
  readonly requests: number;
  readonly output_tokens: number;
  readonly seconds: number;
}

/** Limits of a whole search, or what it used of them; null: no limit. */
export interface SearchAmounts<T extends number | null = number> {
  readonly requests: T;
  readonly seconds: T;
  readonly output_tokens: T;
}

/** `scenarios/<scenario>/capacity/<group_id>.json`: a search for the capacity; its runs have the group's ID. */
export interface CapacityFile extends CapacityBounds {
  readonly schema_version: 1;
  readonly group_id: string;
  readonly scenario: string;
  readonly model: string;
  readonly load: SearchedLoad;
  readonly objectives: readonly SearchedObjective[];
  /** The first load, the lowest and the highest. */
  readonly range: { readonly start: number; readonly min: number; readonly max: number };
  /** Of the two bounds together. */
  readonly confidence: number;
  /** Null while the search lasts, or after a crash. */
  readonly end: SearchEnd | null;
  /** The response in one sentence. */
  readonly sentence: string;
  readonly budget: SearchAmounts<number | null>;
  readonly used: SearchAmounts;
  /** In the order in which they were made. */
  readonly probes: readonly CapacityProbe[];
  /** RFC 3339 in UTC. */
  readonly started_at: string;
  readonly updated_at: string;
}
