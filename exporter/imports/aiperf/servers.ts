import { Fields, isObject } from '../fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ImportedServers } from '../imported-servers.ts';
import type { FileGroup, ImportContext } from '../importer.ts';
import { readJsonDocument } from '../read-json-document.ts';
import { serversOfStores } from '../servers-of-stores.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import type { SourceFile } from '../source-file.ts';
import { readGpuLines } from './gpu-lines.ts';
import { GPU_RECORDS, SERVERS_JSON, SERVERS_JSONL, SERVERS_PARQUET } from './recognise.ts';
import type { MetricFacts } from './scrape-page.ts';
import { AIPERF_INTERVAL_NS, readServerLines } from './server-lines.ts';
import { readServerParquet } from './server-parquet.ts';
import { statedServers } from './stated-servers.ts';

/**
 * What AIPerf's server metrics and GPU telemetry tell, from the form that tells most: each scrape (JSONL, else Parquet), of
 * which our own statistics are made, else AIPerf's statistics (JSON). `zero_ns` is the run's start, nanoseconds since
 * 1970; null when the run has no time. Null: there is nothing to tell.
 */
export async function readAiperfServers(
  group: FileGroup,
  zero_ns: bigint | null,
  notes: ImportNotes,
  context: ImportContext,
): Promise<{ readonly servers: ImportedServers; readonly system: string | null } | null> {
  const file = (format: string): SourceFile | null =>
    group.files.find(({ recognition }) => recognition.format === format)?.file ?? null;
  const json = file(SERVERS_JSON);
  const [lines, parquet, gpus] = [file(SERVERS_JSONL), file(SERVERS_PARQUET), file(GPU_RECORDS)];
  if (json === null && lines === null && parquet === null && gpus === null) return null;
  const summary =
    json === null ? null : new Fields(await readJsonDocument(json, notes, context), notes, 'server metrics: ');
  if (zero_ns === null) {
    if (lines !== null || parquet !== null || gpus !== null) {
      notes.say('samples of servers are left out: without records it is not known when the run was');
    }
    return summary === null ? null : statedServers(summary, notes);
  }
  const targets = new Map<string, ReadTarget>();
  const facts = summary === null ? new Map<string, MetricFacts>() : metricFacts(summary);
  const add = (found: ReadonlyMap<string, ReadTarget>): void =>
    found.forEach((target, name) => targets.set(name, target));
  if (lines !== null) add(await readServerLines(lines, facts, zero_ns, notes, context));
  else if (parquet !== null) add(await readServerParquet(parquet, facts, zero_ns, notes));
  if (gpus !== null) add(await readGpuLines(gpus, zero_ns, notes, context));
  if (targets.size === 0) return summary === null ? null : statedServers(summary, notes);
  const servers = serversOfStores({ targets, zeroWall_ns: zero_ns, interval_ns: AIPERF_INTERVAL_NS, window: null });
  return { servers, system: [...targets.values()].find(({ system }) => system !== null)?.system ?? null };
}

function metricFacts(summary: Fields): Map<string, MetricFacts> {
  const facts = new Map<string, MetricFacts>();
  for (const [name, metric] of Object.entries(
    isObject(summary.raw('metrics')) ? (summary.raw('metrics') as object) : {},
  )) {
    if (!isObject(metric)) continue;
    const { type, description } = metric;
    facts.set(name, {
      type: typeof type === 'string' ? type : null,
      description: typeof description === 'string' ? description : null,
    });
  }
  return facts;
}
