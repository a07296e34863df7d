import type { RunFile } from '../../core/run/run.ts';
import { familyHead, sampleLine } from './exposition-text.ts';
import { CONTENT_TYPES } from './family.ts';
import type { Exposition, MetricsPage } from './metrics-page.ts';
import { negotiateFormat } from './negotiate-format.ts';
import type { FamilyFacts, FamilyLines } from './result-text.ts';
import { histogramLines, RESULT_FAMILIES, RESULT_HISTOGRAM_FAMILIES, resultLines } from './result-text.ts';
import { BUILD_INFO, RUN_INFO, SERIES_DROPPED } from './run-info.ts';
import type { RunSource } from './run-source.ts';

export interface ResultMetricsOptions {
  readonly source: RunSource;
  /** The version of llmbench, for `llmbench_build_info`. */
  readonly version: string;
  /** Told once, in one line, of each run that cannot be read and is therefore left out. */
  readonly problem: (line: string) => void;
  /** How many of the newest runs are shown; the series of the others are counted as dropped. 200 unless told. */
  readonly maxRuns?: number;
  /** How many of the newest runs have their histograms too. 5 unless told. */
  readonly histogramRuns?: number;
}

const LAST_COMPLETED: FamilyFacts = {
  name: 'llmbench_scenario_last_completed_timestamp_seconds',
  help: 'When the newest completed run of the scenario ended, Unix time.',
  type: 'gauge',
};

const NOTHING: FamilyLines = new Map();

/**
 * The finished runs of a store as a metrics page. A finished run never changes, so its lines are made once and kept as
 * text for as long as the run is among those that are shown.
 */
export class ResultMetrics implements MetricsPage {
  readonly #options: Required<ResultMetricsOptions>;
  readonly #results = new Map<string, FamilyLines>();
  readonly #histograms = new Map<string, FamilyLines>();
  readonly #dropped = new Set<string>();
  readonly #told = new Set<string>();
  #droppedSeries = 0;
  #refreshing: Promise<string> | null = null;
  #loaded = false;

  constructor(options: ResultMetricsOptions) {
    this.#options = { maxRuns: 200, histogramRuns: 5, ...options };
  }

  /** Whether the runs that were there at the start have been read. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Rejects when the runs cannot be listed; a single run that cannot be read is left out and told of. */
  async render(accept: string | undefined): Promise<Exposition> {
    const format = negotiateFormat(accept);
    const families = await this.refresh();
    const counterName = format === 'openmetrics' ? SERIES_DROPPED.name.replace(/_total$/, '') : SERIES_DROPPED.name;
    const dropped =
      familyHead(counterName, SERIES_DROPPED.help, 'counter') +
      sampleLine(SERIES_DROPPED.name, { labels: {}, value: this.#droppedSeries });
    const end = format === 'openmetrics' ? '# EOF\n' : '';
    return { contentType: CONTENT_TYPES[format], body: `${families}${dropped}${end}` };
  }

  /** Reads what is new. Scrapes that come together share one reading. */
  refresh(): Promise<string> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #read(): Promise<string> {
    const { source, version, maxRuns, histogramRuns } = this.#options;
    const listed = await source.list();
    for (const { run_id, damage } of listed) if (damage !== null) this.#tell(`run ${run_id} is`, damage);
    const runs = listed.flatMap(({ run }) => (run === null ? [] : [run]));
    const shown = runs.slice(0, maxRuns);

    const results = await keep(this.#results, shown, (run) => this.#resultLines(run));
    const histograms = await keep(this.#histograms, shown.slice(0, histogramRuns), (run) => this.#histogramLines(run));
    for (const run of runs.slice(maxRuns)) await this.#drop(run);
    this.#loaded = true;

    return [
      familyHead(BUILD_INFO.name, BUILD_INFO.help, 'gauge') +
        sampleLine(BUILD_INFO.name, { labels: { version }, value: 1 }),
      familyText({ ...RUN_INFO, type: 'gauge' }, results),
      ...RESULT_FAMILIES.map((family) => familyText(family, results)),
      ...RESULT_HISTOGRAM_FAMILIES.map((family) => familyText(family, histograms)),
      familyText(LAST_COMPLETED, [lastCompletedLines(runs)]),
    ].join('');
  }

  async #resultLines(run: RunFile): Promise<FamilyLines> {
    try {
      const { lines, duplicates } = resultLines(run, await this.#options.source.readResult(run.run_id));
      this.#droppedSeries += duplicates;
      return lines;
    } catch (error) {
      this.#tell(`run ${run.run_id} is`, error);
      return NOTHING;
    }
  }

  async #histogramLines(run: RunFile): Promise<FamilyLines> {
    try {
      return await histogramLines(run, this.#options.source.readRecords(run));
    } catch (error) {
      this.#tell(`the histograms of run ${run.run_id} are`, error);
      return NOTHING;
    }
  }

  /** Counts, once, the series that would have been shown of a run that is beyond the limit. */
  async #drop(run: RunFile): Promise<void> {
    if (this.#dropped.has(run.run_id)) return;
    this.#dropped.add(run.run_id);
    try {
      this.#droppedSeries += resultLines(run, await this.#options.source.readResult(run.run_id)).series;
    } catch (error) {
      this.#tell(`run ${run.run_id} is`, error);
    }
  }

  #tell(what: string, reason: unknown): void {
    const line = `${what} left out of the metrics: ${reason instanceof Error ? reason.message : String(reason)}`;
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#options.problem(line);
  }
}

/** The lines of these runs, made for those that are new, in the order of the runs; the lines of all others are let go. */
async function keep(
  kept: Map<string, FamilyLines>,
  runs: readonly RunFile[],
  make: (run: RunFile) => Promise<FamilyLines>,
): Promise<readonly FamilyLines[]> {
  const wanted = new Set(runs.map(({ run_id }) => run_id));
  for (const runId of kept.keys()) if (!wanted.has(runId)) kept.delete(runId);
  const all: FamilyLines[] = [];
  for (const run of runs) {
    const lines = kept.get(run.run_id) ?? (await make(run));
    kept.set(run.run_id, lines);
    all.push(lines);
  }
  return all;
}

/** A family with the lines of all runs together, as both formats demand; nothing when it has none. */
function familyText({ name, help, type }: FamilyFacts, runs: readonly FamilyLines[]): string {
  const lines = runs.map((run) => run.get(name) ?? '').join('');
  return lines === '' ? '' : familyHead(name, help, type) + lines;
}

/** A run without a time of its own says nothing of when its scenario was last completed. */
function lastCompletedLines(runs: readonly RunFile[]): FamilyLines {
  const latest = new Map<string, number>();
  for (const { status, scenario, start, end } of runs) {
    if (status !== 'completed' || start === null || end === null) continue;
    latest.set(scenario, Math.max(latest.get(scenario) ?? -Infinity, Date.parse(end) / 1000));
  }
  const lines = [...latest].map(([scenario, value]) =>
    sampleLine(LAST_COMPLETED.name, { labels: { scenario }, value }),
  );
  return new Map([[LAST_COMPLETED.name, lines.join('')]]);
}
