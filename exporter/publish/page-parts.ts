import type { FamilyMetadata, FamilyInput } from '../../core/exposition/index.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { checkedFamilies } from './family.ts';
import { RESULT_PREFIX, finishedRunFamilies, requestHistograms } from './finished-run.ts';
import { keptFamily, type KeptFamily } from './metrics-page.ts';
import { LAST_RESULT, lastResultFamily, queriedSeries, type ResultSeries } from './result-samples.ts';
import type { RunReader } from './run-reader.ts';
import { serverFamilies } from './server-families.ts';

/**
 * What can be scraped of the page of finished runs. `results`: what never changes again and is most of the page, the numbers
 * of all runs. `current`: the rest, which is small, and the numbers of runs that are new, so that they do not wait for
 * the next scrape of `results`. `all`: everything, each series once.
 */
export const PAGE_PARTS = ['all', 'current', 'results'] as const;
export type PagePart = (typeof PAGE_PARTS)[number];

/** How long a run is new: two scrapes of `results` in the shipped configuration. */
const NEW_MS = 120_000;

/** Whether the family has numbers of finished runs. */
export function isOfResults({ name }: Pick<FamilyMetadata, 'name'>): boolean {
  if (name === RESULT_INFO) return false;
  return name.startsWith(RESULT_PREFIX) || name.startsWith('llmbench_server_') || name === LAST_RESULT;
}

/** It has no numbers: the outcome of the run. */
const RESULT_INFO = `${RESULT_PREFIX}info`;

/** Knows since when each run is there. */
export class NewRuns {
  readonly #since_ms = new Map<string, number>();

  /** Those of the runs that were seen for the first time less than two minutes ago; others are forgotten. */
  of(runIds: readonly string[], now_ms: number): ReadonlySet<string> {
    const current = new Set(runIds);
    for (const runId of this.#since_ms.keys()) if (!current.has(runId)) this.#since_ms.delete(runId);
    for (const runId of current) if (!this.#since_ms.has(runId)) this.#since_ms.set(runId, now_ms);
    return new Set(runIds.filter((runId) => now_ms - (this.#since_ms.get(runId) ?? 0) < NEW_MS));
  }
}

/** A part of a page that is shown whole or not at all. */
interface BudgetedPart {
  readonly key: string;
  readonly series: number;
}

/** What fits into the budget. Earlier parts come first; one that is too large makes no room for none after it. */
export function withinBudget<P extends BudgetedPart>(
  parts: readonly P[],
  maxSeries: number,
): { readonly shown: readonly P[]; readonly dropped: readonly P[] } {
  let left = maxSeries;
  const shown: P[] = [];
  const dropped: P[] = [];
  for (const part of parts) {
    if (part.series > left) dropped.push(part);
    else {
      left -= part.series;
      shown.push(part);
    }
  }
  return { shown, dropped };
}

/** Some families of one run as text. */
export interface RunPart extends BudgetedPart {
  /** Null: not of one run. */
  readonly runId: string | null;
  readonly families: readonly KeptFamily[];
}

/** What a run is and its exact results, and what its scenario shows of it as long as no newer run completes. */
export interface ResultPart extends RunPart {
  /** Null: it is not completed, or has no time of its own. */
  readonly last: LastResult | null;
}

export interface LastResult {
  readonly scenario: string;
  readonly fingerprint: string;
  readonly end_ms: number;
  readonly part: RunPart;
}

/** Reads what a run is and its exact results. Rejects when they cannot be read. */
export async function readResults(source: RunReader, runId: string, series: ResultSeries): Promise<ResultPart> {
  const [run, result] = [await source.readRun(runId), await source.readResult(runId)];
  return {
    ...part(`${runId}/results`, runId, selected(finishedRunFamilies({ run, result, servers: null }), series)),
    last: lastResult(run, result),
  };
}

function lastResult(run: RunFile, result: ResultFile): LastResult | null {
  const { run_id, status, scenario, fingerprint, start, end } = run;
  if (status !== 'completed' || start === null || end === null) return null;
  const families = checkedFamilies([lastResultFamily(run, result)]);
  return { scenario, fingerprint, end_ms: Date.parse(end), part: part(`${run_id}/last`, null, families) };
}

/** Reads what a run's servers said, histograms left out. Rejects when it cannot be read. */
export async function readServers(
  source: RunReader,
  runId: string,
  patterns: readonly string[],
  series: ResultSeries,
): Promise<RunPart> {
  const families = (await familiesOfServers(source, runId, patterns)).filter(({ type }) => type !== 'histogram');
  return part(`${runId}/servers`, runId, selected(families, series));
}

/** Reads the histograms of a run: its requests', rebuilt from the records, and its servers'. Rejects as the others. */
export async function readHistograms(source: RunReader, runId: string, patterns: readonly string[]): Promise<RunPart> {
  const run = await source.readRun(runId);
  const ofServers = await familiesOfServers(source, runId, patterns);
  const ofRequests = await requestHistograms(run, source.readRecords(run));
  return part(`${runId}/histograms`, runId, [...ofRequests, ...ofServers.filter(({ type }) => type === 'histogram')]);
}

async function familiesOfServers(
  source: RunReader,
  runId: string,
  patterns: readonly string[],
): Promise<FamilyInput[]> {
  const servers = await source.readServers(runId);
  return servers === null ? [] : checkedFamilies(serverFamilies(servers, runId, patterns));
}

function selected(families: readonly FamilyInput[], series: ResultSeries): readonly FamilyInput[] {
  return series === 'all' ? families : queriedSeries(families);
}

function part(key: string, runId: string | null, published: readonly FamilyInput[]): RunPart {
  const families = inOneBuffer(published.map(keptFamily));
  return { key, runId, families, series: families.reduce((sum, { series }) => sum + series, 0) };
}

/**
 * The same families with their lines in one buffer of their own: small buffers are pieces of Node's pool, and one that is
 * kept for hours would hold a whole block of it.
 */
function inOneBuffer(families: readonly KeptFamily[]): readonly KeptFamily[] {
  const whole = Buffer.allocUnsafeSlow(families.reduce((sum, { lines }) => sum + lines.length, 0));
  let end = 0;
  return families.map((family) => {
    const start = end;
    end += family.lines.copy(whole, start);
    return { ...family, lines: whole.subarray(start, end) };
  });
}
