import { CONTENT_TYPES } from '../../core/exposition/index.ts';
import type { PageFormat } from '../../core/exposition/index.ts';
import {
  keptFamily,
  pagePieces,
  negotiateFormat,
  type KeptFamily,
  type MetricsPage,
  type PagePieces,
  type RenderedPage,
} from './metrics-page.ts';
import type { ListedRun } from './views/run-library.ts';
import { BUILD_INFO, SERIES_DROPPED } from './run-info.ts';
import {
  readHistograms,
  readResults,
  readServers,
  isOfResults,
  NewRuns,
  withinBudget,
  type LastResult,
  type ResultPart,
  type RunPart,
  type PagePart,
} from './page-parts.ts';
import type { ResultSeries } from './result-samples.ts';
import type { RunReader } from './run-reader.ts';
import { lastCompletedFamily, MAX_SCENARIOS, scenarioFamilies, lastCompleted } from './scenario-families.ts';
import type { ScenarioState } from '../judge/scenario-state.ts';

export interface ResultMetricsOptions {
  readonly source: RunReader;
  /** The version of llmbench, for `llmbench_build_info`. */
  readonly version: string;
  /** Each run that cannot be read is left out and reported once, in one line. */
  readonly problem: (line: string) => void;
  /** How many of the newest runs are shown. 200 unless set. */
  readonly maxRuns?: number;
  /** How many of the newest runs have their histograms too. 5 unless set. */
  readonly histogramRuns?: number;
  /** Which of their series the runs have, besides histograms. All unless set. */
  readonly resultSeries?: ResultSeries;
  /** Runs that ended longer ago are not shown; null (default): no limit. */
  readonly runTtlSeconds?: number | null;
  /** Most series of runs on the page. 100,000 unless set. */
  readonly maxSeries?: number;
  /** Servers' families beyond those that all systems share; `*` stands for any characters. */
  readonly republish?: readonly string[];
  /** Reads what the judge decided; the same array as long as nothing has changed. Unless given: nothing was judged. */
  readonly scenarioStates?: () => Promise<readonly ScenarioState[]>;
  /** How often a scenario is expected to complete, in seconds, by its name. */
  readonly expectedScenarios?: ReadonlyMap<string, number>;
  /** Lines about the process itself; default: none. */
  readonly processLines?: (format: PageFormat) => Promise<string>;
  /** Milliseconds on any clock; default: the time of day. */
  readonly now_ms?: () => number;
}

/** One array, so that it never looks like a change. */
const NOTHING_JUDGED: readonly ScenarioState[] = [];

const FINISHED_RUNS = {
  name: 'llmbench_finished_runs',
  help: 'Finished runs by state: shown on this page, expired (--run-ttl), over the limit (--max-runs), of a newer version of llmbench, or damaged.',
  type: 'gauge',
} as const;

/** Where the runs of the store stand towards the page. */
interface Selection {
  readonly listed: readonly ListedRun[];
  readonly shown: readonly ListedRun[];
  readonly expired: number;
  readonly states: readonly ScenarioState[];
  /** Runs that were not here a short time ago. */
  readonly newRuns: ReadonlySet<string>;
}

/** What the present page was made of, and the page in the formats in which it was requested. */
interface CurrentPage {
  readonly selection: Selection;
  readonly families: Readonly<Record<PagePart, readonly KeptFamily[]>>;
  readonly bodies: Map<`${PagePart} ${PageFormat}`, PagePieces>;
}

/**
 * The finished runs of a store as a metrics page. A finished run never changes: its lines are made once and kept as text
 * for as long as it is among those that are shown, and so is the page until another run comes or one goes.
 */
export class ResultMetrics implements MetricsPage {
  readonly #options: Required<ResultMetricsOptions>;
  readonly #results: KeptParts<ResultPart> = new Map();
  readonly #servers: KeptParts<RunPart> = new Map();
  readonly #histograms: KeptParts<RunPart> = new Map();
  readonly #dropped = new Set<string>();
  readonly #reported = new Set<string>();
  readonly #newRuns = new NewRuns();
  #droppedSeries = 0;
  #page: CurrentPage | null = null;
  #refreshing: Promise<CurrentPage> | null = null;

  constructor(options: ResultMetricsOptions) {
    this.#options = {
      maxRuns: 200,
      histogramRuns: 5,
      resultSeries: 'all',
      now_ms: () => Date.now(),
      processLines: () => Promise.resolve(''),
      runTtlSeconds: null,
      maxSeries: 100_000,
      republish: [],
      scenarioStates: () => Promise.resolve(NOTHING_JUDGED),
      expectedScenarios: new Map(),
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

  /** Rejects when the runs cannot be listed; a single run that cannot be read is left out and reported. */
  render(accept: string | undefined): Promise<RenderedPage<PagePieces>> {
    return this.renderPart('all', accept);
  }

  /** The same for a part of the page. */
  async renderPart(part: PagePart, accept: string | undefined): Promise<RenderedPage<PagePieces>> {
    const format = negotiateFormat(accept);
    const { families, bodies } = await this.#refreshed();
    const body = bodies.get(`${part} ${format}`) ?? pagePieces(families[part], format);
    bodies.set(`${part} ${format}`, body);
    const before = part === 'results' ? '' : await this.#options.processLines(format);
    return { contentType: CONTENT_TYPES[format], body, before };
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
    const same =
      now?.listed === listed &&
      now.shown.length === shown.length &&
      now.states === selection.states &&
      now.newRuns.size === selection.newRuns.size;
    if (this.#page !== null && same) return this.#page;
    const { source, republish, histogramRuns, maxSeries, resultSeries } = this.#options;
    const results = await keep(this.#results, shown, ({ run_id }) =>
      this.#orNull(`run ${run_id} is`, readResults(source, run_id, resultSeries)),
    );
    const servers = await keep(this.#servers, shown, ({ run_id }) =>
      this.#orNull(`the servers of run ${run_id} are`, readServers(source, run_id, republish, resultSeries)),
    );
    const histograms = await keep(this.#histograms, shown.slice(0, histogramRuns), ({ run_id }) =>
      this.#orNull(`the histograms of run ${run_id} are`, readHistograms(source, run_id, republish)),
    );
    const scenarios = withinBudget(lastCompletedParts(listed), Math.min(MAX_SCENARIOS, maxSeries));
    const budgeted = withinBudget(
      [...results, ...lastResults(results), ...histograms, ...servers],
      maxSeries - scenarios.shown.length,
    );
    this.#count([...scenarios.dropped, ...budgeted.dropped]);
    const families = this.#families(selection, budgeted.shown, scenarios.shown);
    this.#page = { selection, families, bodies: new Map() };
    return this.#page;
  }

  async #select(): Promise<Selection> {
    const { source, maxRuns, runTtlSeconds, scenarioStates, now_ms } = this.#options;
    const listed = await source.list();
    const states = await scenarioStates();
    for (const { run_id, damage } of listed) if (damage !== null) this.#report(`run ${run_id} is`, damage);
    const oldest = runTtlSeconds === null ? -Infinity : Date.now() - runTtlSeconds * 1000;
    const current = listed.filter(({ summary }) => summary !== null && !(Date.parse(summary.end ?? '') < oldest));
    const readable = listed.filter(({ summary }) => summary !== null).length;
    const shown = current.slice(0, maxRuns);
    const newRuns = this.#newRuns.of(
      shown.map(({ run_id }) => run_id),
      now_ms(),
    );
    return { listed, shown, expired: readable - current.length, states, newRuns };
  }

  #families(
    { listed, shown, expired, states: judged, newRuns }: Selection,
    parts: readonly RunPart[],
    scenarios: readonly RunPart[],
  ): CurrentPage['families'] {
    const runs = listed.flatMap(({ summary }) => (summary === null ? [] : [summary]));
    const newer = listed.filter((run) => run.summary === null && run.isNewer === true).length;
    const counts = {
      shown: shown.length,
      expired,
      over_limit: runs.length - expired - shown.length,
      newer,
      damaged: listed.length - runs.length - newer,
    };
    const head = keptFamily({ ...BUILD_INFO, samples: [{ labels: { version: this.#options.version }, value: 1 }] });
    const ofRuns = serversLast(parts.flatMap((part) => part.families));
    const ofNewRuns = parts.flatMap((part) => (newRuns.has(part.runId ?? '') ? part.families : []));
    const tail = [
      ...scenarios.flatMap((part) => part.families),
      ...scenarioFamilies(judged.slice(0, MAX_SCENARIOS), this.#options.expectedScenarios).map(keptFamily),
      keptFamily({
        ...FINISHED_RUNS,
        samples: Object.entries(counts).map(([state, value]) => ({ labels: { state }, value })),
      }),
      keptFamily({ ...SERIES_DROPPED, samples: [{ labels: {}, value: this.#droppedSeries }] }),
    ];
    const states = ofRuns.filter((family) => !isOfResults(family));
    return {
      all: [head, ...ofRuns, ...tail],
      results: ofRuns.filter(isOfResults),
      current: [head, ...states, ...serversLast(ofNewRuns.filter(isOfResults)), ...tail],
    };
  }

  /** Counts, once, the series of a part for which there is no room. */
  #count(dropped: readonly RunPart[]): void {
    for (const { key, series } of dropped) {
      if (this.#dropped.has(key)) continue;
      this.#dropped.add(key);
      this.#droppedSeries += series;
    }
  }

  async #orNull<P extends RunPart>(what: string, reading: Promise<P>): Promise<P | null> {
    try {
      return await reading;
    } catch (error) {
      this.#report(what, error);
      return null;
    }
  }

  #report(what: string, reason: unknown): void {
    const line = `${what} left out of the metrics: ${reason instanceof Error ? reason.message : String(reason)}`;
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#options.problem(line);
  }
}

/** The families of servers by name, after the others. */
function serversLast(families: readonly KeptFamily[]): KeptFamily[] {
  const isOfServer = ({ name }: KeptFamily): boolean => name.startsWith('llmbench_server_');
  return [
    ...families.filter((family) => !isOfServer(family)),
    ...families.filter(isOfServer).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  ];
}

/** By run id: what it was made for, and what came of it; null: it cannot be read. */
type KeptParts<P extends RunPart> = Map<string, { readonly run: ListedRun; readonly part: P | null }>;

/** The parts of these runs, made for those that are new or have changed, in their order; those of others are let go. */
async function keep<P extends RunPart>(
  kept: KeptParts<P>,
  runs: readonly ListedRun[],
  make: (run: ListedRun) => Promise<P | null>,
): Promise<P[]> {
  const wanted = new Set(runs.map(({ run_id }) => run_id));
  for (const runId of kept.keys()) if (!wanted.has(runId)) kept.delete(runId);
  const all: P[] = [];
  for (const run of runs) {
    const known = kept.get(run.run_id);
    const part = known?.run === run ? known.part : await make(run);
    kept.set(run.run_id, { run, part });
    if (part !== null) all.push(part);
  }
  return all;
}

/** Of each scenario and fingerprint, the results of the run that completed last. */
function lastResults(parts: readonly ResultPart[]): RunPart[] {
  const newest = new Map<string, LastResult>();
  for (const { last } of parts) {
    if (last === null) continue;
    const key = JSON.stringify([last.scenario, last.fingerprint]);
    const known = newest.get(key);
    if (known === undefined || known.end_ms < last.end_ms) newest.set(key, last);
  }
  return [...newest.values()].map((last) => last.part);
}

/** One series for each scenario, those completed last first. */
function lastCompletedParts(listed: readonly ListedRun[]): RunPart[] {
  const runs = listed.flatMap(({ summary }) => (summary === null ? [] : [summary]));
  const newestFirst = [...lastCompleted(runs)].sort(([, a], [, b]) => b - a);
  return newestFirst.map(([scenario, value]) => ({
    key: `scenario ${scenario}`,
    runId: null,
    series: 1,
    families: [keptFamily(lastCompletedFamily([[scenario, value]]))],
  }));
}
