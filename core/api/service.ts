/** An invalid parameter and its allowed values. */
export interface WrongParameter {
  readonly name: string;
  /** Null if missing. */
  readonly value: string | null;
  /** The values, or a rule in words. */
  readonly allowed: readonly string[];
}

/** A run that a client started. */
export interface StartedRun {
  /** Of the run; of the group if the scenario is a sweep or has repeats. */
  readonly run_id: string;
  readonly scenario: string;
  readonly state: 'queued' | 'running' | 'ended';
  /** Instants in RFC 3339, UTC; null: not yet. */
  readonly requested: string;
  readonly began: string | null;
  readonly ended: string | null;
  /** Of `llmbench run`; null before its end, and if a signal ended it. */
  readonly exit_code: number | null;
  /** The last line that it printed to standard error if it did not end with 0 or 99; else null. */
  readonly message: string | null;
}

/** What a client may do: read everything, tag runs, change baselines, start runs. No role includes another. */
export const ROLES = ['read', 'annotate', 'write-baseline', 'start-runs'] as const;

export type Role = (typeof ROLES)[number];

/** A run that is not in the lists because it cannot be read. */
export interface DamagedRun {
  readonly run_id: string;
  readonly reason: string;
}

/** What part of a list a response has. */
export interface ListPage {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** On all pages. */
  readonly total: number;
}

/** Query parameters that choose a page. */
export interface PageQuery {
  readonly page?: number;
  readonly limit?: number;
}

/** `GET /status`. */
export interface StatusResponse {
  readonly version: string;
  readonly api_version: 'v1';
  readonly runs: { readonly finished: number; readonly running: number; readonly damaged: number };
  /** At most 100. */
  readonly damaged: readonly DamagedRun[];
  /** Whether a page can offer them to the client. */
  readonly allows_baseline_changes: boolean;
  readonly roles: readonly Role[];
}

/** The body of every error response (RFC 9457). */
export interface ProblemDetails {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly parameters: readonly WrongParameter[];
}

/** `GET /starts`. */
export interface StartsResponse {
  readonly scenarios: readonly string[];
  readonly runs: readonly StartedRun[];
}
