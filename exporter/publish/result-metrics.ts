import { CONTENT_TYPES } from './family.ts';
import type { ExpositionFormat } from './family.ts';
import { familyText } from './family-text.ts';
import type { FamilyText } from './family-text.ts';
import type { Exposition, MetricsPage } from './metrics-page.ts';
import { negotiateFormat } from './negotiate-format.ts';
import { resultPage } from './result-page.ts';
import type { ListedRun } from './run-list.ts';
import { BUILD_INFO, SERIES_DROPPED } from './run-info.ts';
import { readHistograms, readResults, readServers } from './run-parts.ts';
import type { RunPart } from './run-parts.ts';
import type { RunSource } from './run-source.ts';
import { withinBudget } from './series-budget.ts';
import type { RunSummary } from './views/run-summary.ts';

export interface ResultMetricsOptions {
  readonly source: RunSource;
  /** The version of llmbench, for `llmbench_build_info`. */
  readonly version: string;
  /** Told once, in one line, of each run that cannot be read and is therefore left out. */
  readonly problem: (line: string) => void;
  /** How many of the newest runs are shown. 200 unless told. */
  readonly maxRuns?: number;
  /** How many of the newest runs have their histograms too. 5 unless told. */
  readonly histogramRuns?: number;
  /** Runs that ended longer ago are not shown; null, unless told: however long ago. */
  readonly runTtlSeconds?: number | null;
  /** Most series of runs on the page. 100,000 unless told. */
  readonly maxSeries?: number;
  /** Servers' families beyond those that all systems share; `*` stands for any characters. */
  readonly republish?: readonly string[];
}

const LAST_COMPLETED = {
  name: 'llmbench_scenario_last_completed_timestamp_seconds',
  help: 'When the newest completed run of the scenario ended, Unix time.',
  type: 'gauge',
} as const;

/** Imports may have as many scenarios as they have folders. */
const MOST_SCENARIOS = 1_000;

const FINISHED_RUNS = {
  name: 'llmbench_finished_runs',
  help: 'Finished runs: shown on this page, expired (--run-ttl), over the limit (--max-runs), or damaged.',
  type: 'gauge',
} as const;

/** Where the runs of the store stand towards the page. */
interface Selection {
  readonly listed: readonly ListedRun[];
  readonly shown: readonly ListedRun[];
  readonly expired: number;
}

/** What the present page was made of, and the page in the formats in which it was asked for. */
interface CurrentPage {
  readonly selection: Selection;
  readonly families: readonly FamilyText[];
  readonly bodies: Map<ExpositionFormat, Buffer>;
}

/**
 * The finished runs of a store as a metrics page. A finished run never changes: its lines are made once and kept as text
 * for as long as it is among those that are shown, and so is the page until another run comes or one goes.
 */
export class ResultMetrics implements MetricsPage {
  readonly #options: Required<ResultMetricsOptions>;
  readonly #results: KeptParts = new Map();
  readonly #servers: KeptParts = new Map();
  readonly #histograms: KeptParts = new Map();
  readonly #dropped = new Set<string>();
  readonly #told = new Set<string>();
  #droppedSeries = 0;
  #page: CurrentPage | null = null;
  #refreshing: Promise<CurrentPage> | null = null;

  constructor(options: ResultMetricsOptions) {
    this.#options = {
      maxRuns: 200,
      histogramRuns: 5,
      runTtlSeconds: null,
      maxSeries: 100_000,
      republish: [],
      ...options,
    };
  }

  /** Whether the runs that were there at the start have been read. */
  get loaded(): boolean {
    return this.#page !== null;
  }

  /** The runs that cannot be read, one line each. */
  get damaged(): readonly string[] {
    const listed = this.#page?.selection.listed ?? [];
    return listed.flatMap(({ run_id, damage }) => (damage === null ? [] : [run_id]));
  }

  /** Rejects when the runs cannot be listed; a single run that cannot be read is left out and told of. */
  async render(accept: string | undefined): Promise<Exposition<Buffer>> {
    const format = negotiateFormat(accept);
    const { families, bodies } = await this.#refreshed();
    const body = bodies.get(format) ?? resultPage(families, format);
    bodies.set(format, body);
    return { contentType: CONTENT_TYPES[format], body };
  }

  /** Reads what is new. Scrapes that come together share one reading. */
  async refresh(): Promise<void> {
    await this.#refreshed();
  }

  #refreshed(): Promise<CurrentPage> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #read(): Promise<CurrentPage> {
    const selection = await this.#select();
    const { listed, shown } = selection;
    const now = this.#page?.selection;
    if (this.#page !== null && now?.listed === listed && now.shown.length === shown.length) return this.#page;
    const { source, republish, histogramRuns, maxSeries } = this.#options;
    const results = await keep(this.#results, shown, ({ run_id }) =>
      this.#orNull(`run ${run_id} is`, readResults(source, run_id)),
    );
    const servers = await keep(this.#servers, shown, ({ run_id }) =>
      this.#orNull(`the servers of run ${run_id} are`, readServers(source, run_id, republish)),
    );
    const histograms = await keep(this.#histograms, shown.slice(0, histogramRuns), ({ run_id }) =>
      this.#orNull(`the histograms of run ${run_id} are`, readHistograms(source, run_id, republish)),
    );
    const scenarios = withinBudget(lastCompletedParts(listed), Math.min(MOST_SCENARIOS, maxSeries));
    const budgeted = withinBudget([...results, ...histograms, ...servers], maxSeries - scenarios.shown.length);
    this.#count([...scenarios.dropped, ...budgeted.dropped]);
    const families = this.#families(selection, budgeted.shown, scenarios.shown);
    this.#page = { selection, families, bodies: new Map() };
    return this.#page;
  }

  async #select(): Promise<Selection> {
    const { source, maxRuns, runTtlSeconds } = this.#options;
    const listed = await source.list();
    for (const { run_id, damage } of listed) if (damage !== null) this.#tell(`run ${run_id} is`, damage);
    const oldest = runTtlSeconds === null ? -Infinity : Date.now() - runTtlSeconds * 1000;
    const current = listed.filter(({ summary }) => summary !== null && !(Date.parse(summary.end ?? '') < oldest));
    const readable = listed.filter(({ summary }) => summary !== null).length;
    return { listed, shown: current.slice(0, maxRuns), expired: readable - current.length };
  }

  #families(
    { listed, shown, expired }: Selection,
    parts: readonly RunPart[],
    scenarios: readonly RunPart[],
  ): FamilyText[] {
    const runs = listed.flatMap(({ summary }) => (summary === null ? [] : [summary]));
    const states = {
      shown: shown.length,
      expired,
      over_limit: runs.length - expired - shown.length,
      damaged: listed.length - runs.length,
    };
    const families = parts.flatMap((part) => part.families);
    return [
      familyText({ ...BUILD_INFO, type: 'gauge', samples: [{ labels: { version: this.#options.version }, value: 1 }] }),
      ...families.filter(({ name }) => !isOfServer(name)),
      ...families
        .filter(({ name }) => isOfServer(name))
        .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
      ...scenarios.flatMap((part) => part.families),
      familyText({
        ...FINISHED_RUNS,
        samples: Object.entries(states).map(([state, value]) => ({ labels: { state }, value })),
      }),
      familyText({ ...SERIES_DROPPED, type: 'counter', samples: [{ labels: {}, value: this.#droppedSeries }] }),
    ];
  }

  /** Counts, once, the series of a part for which there is no room. */
  #count(dropped: readonly RunPart[]): void {
    for (const { key, series } of dropped) {
      if (this.#dropped.has(key)) continue;
      this.#dropped.add(key);
      this.#droppedSeries += series;
    }
  }

  async #orNull(what: string, reading: Promise<RunPart>): Promise<RunPart | null> {
    try {
      return await reading;
    } catch (error) {
      this.#tell(what, error);
      return null;
    }
  }

  #tell(what: string, reason: unknown): void {
    const line = `${what} left out of the metrics: ${reason instanceof Error ? reason.message : String(reason)}`;
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#options.problem(line);
  }
}

const isOfServer = (name: string): boolean => name.startsWith('llmbench_server_');

/** By run id: what it was made for, and what came of it; null: it cannot be read. */
type KeptParts = Map<string, { readonly run: ListedRun; readonly part: RunPart | null }>;

/** The parts of these runs, made for those that are new or have changed, in their order; those of others are let go. */
async function keep(
  kept: KeptParts,
  runs: readonly ListedRun[],
  make: (run: ListedRun) => Promise<RunPart | null>,
): Promise<RunPart[]> {
  const wanted = new Set(runs.map(({ run_id }) => run_id));
  for (const runId of kept.keys()) if (!wanted.has(runId)) kept.delete(runId);
  const all: RunPart[] = [];
  for (const run of runs) {
    const known = kept.get(run.run_id);
    const part = known?.run === run ? known.part : await make(run);
    kept.set(run.run_id, { run, part });
    if (part !== null) all.push(part);
  }
  return all;
}

/** One series for each scenario, those completed last first. */
function lastCompletedParts(listed: readonly ListedRun[]): RunPart[] {
  const runs = listed.flatMap(({ summary }) => (summary === null ? [] : [summary]));
  const newestFirst = lastCompleted(runs).sort((a, b) => b.value - a.value);
  return newestFirst.map((sample) => ({
    key: `scenario ${sample.labels.scenario}`,
    series: 1,
    families: [familyText({ ...LAST_COMPLETED, samples: [sample] })],
  }));
}

/** A run without a time of its own says nothing of when its scenario was last completed. */
function lastCompleted(runs: readonly RunSummary[]): { labels: { scenario: string }; value: number }[] {
  const latest = new Map<string, number>();
  for (const { status, scenario, start, end } of runs) {
    if (status !== 'completed' || start === null || end === null) continue;
    latest.set(scenario, Math.max(latest.get(scenario) ?? -Infinity, Date.parse(end) / 1000));
  }
  return [...latest].map(([scenario, value]) => ({ labels: { scenario }, value }));
}
