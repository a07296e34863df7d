import type { FamilyInput } from '../../core/exposition/index.ts';
import { checkedFamilies } from './checked-families.ts';
import type { KeptFamily } from './metrics-page.ts';
import { keptFamily } from './metrics-page.ts';
import { finishedRunFamilies, requestHistograms } from './finished-run.ts';
import type { RunReader } from './run-reader.ts';
import type { BudgetedPart } from './series-budget.ts';
import { serverFamilies } from './server-families.ts';

/** Some families of one run as text. */
export interface RunPart extends BudgetedPart {
  readonly families: readonly KeptFamily[];
}

/** Reads what a run is and its exact results. Rejects when they cannot be read. */
export async function readResults(source: RunReader, runId: string): Promise<RunPart> {
  const [run, result] = [await source.readRun(runId), await source.readResult(runId)];
  return part(`${runId}/results`, finishedRunFamilies({ run, result, servers: null }));
}

/** Reads what a run's servers said, histograms left out. Rejects when it cannot be read. */
export async function readServers(source: RunReader, runId: string, patterns: readonly string[]): Promise<RunPart> {
  const families = await familiesOfServers(source, runId, patterns);
  return part(
    `${runId}/servers`,
    families.filter(({ type }) => type !== 'histogram'),
  );
}

/** Reads the histograms of a run: its requests', rebuilt from the records, and its servers'. Rejects as the others. */
export async function readHistograms(source: RunReader, runId: string, patterns: readonly string[]): Promise<RunPart> {
  const run = await source.readRun(runId);
  const ofServers = await familiesOfServers(source, runId, patterns);
  const ofRequests = await requestHistograms(run, source.readRecords(run));
  return part(`${runId}/histograms`, [...ofRequests, ...ofServers.filter(({ type }) => type === 'histogram')]);
}

async function familiesOfServers(
  source: RunReader,
  runId: string,
  patterns: readonly string[],
): Promise<FamilyInput[]> {
  const servers = await source.readServers(runId);
  return servers === null ? [] : checkedFamilies(serverFamilies(servers, runId, patterns));
}

function part(key: string, published: readonly FamilyInput[]): RunPart {
  const families = published.map(keptFamily);
  return { key, families, series: families.reduce((sum, { series }) => sum + series, 0) };
}
