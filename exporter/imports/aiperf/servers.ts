import { Fields, isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ImportedServers, FileGroup, ImportContext } from '../importer.ts';
import { fileOf } from '../importer.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import { serversOfStores } from '../servers-of-stores.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { readGpuLines } from './gpu-lines.ts';
import { GPU_RECORDS, SERVERS_CSV, SERVERS_JSON, SERVERS_JSONL, SERVERS_PARQUET } from './recognize.ts';
import { AIPERF_INTERVAL_NS } from './scrape-page.ts';
import type { MetricFacts } from './scrape-page.ts';
import { serversOfCsv } from './server-csv.ts';
import { readServerLines } from './server-lines.ts';
import { readServerParquet } from './server-parquet.ts';
import { statedServers } from './stated-servers.ts';

/**
 * What AIPerf's server metrics and GPU telemetry report, from the form that reports most: each scrape (JSONL, else Parquet), of
 * which our own statistics are made, else AIPerf's statistics (JSON, else CSV). `zero_ns` is the run's start, nanoseconds since
 * 1970; null when the run has no time. Null: there is nothing to report.
 */
export async function readAiperfServers(
  group: FileGroup,
  zero_ns: bigint | null,
  notes: ImportNotes,
  context: ImportContext,
): Promise<{ readonly servers: ImportedServers; readonly system: string | null } | null> {
  const [json, csv] = [fileOf(group, SERVERS_JSON), fileOf(group, SERVERS_CSV)];
  const [lines, parquet] = [fileOf(group, SERVERS_JSONL), fileOf(group, SERVERS_PARQUET)];
  const gpus = fileOf(group, GPU_RECORDS);
  if ([json, csv, lines, parquet, gpus].every((each) => each === null)) return null;
  const summary = await readSummary(json, csv, notes, context);
  const stated = (start: string | null): StatedServers | null =>
    summary === null ? null : statedServers(summary, start, notes);
  if (zero_ns === null) {
    if (lines !== null || parquet !== null || gpus !== null) {
      notes.add('samples of servers are left out: the time of the run is unknown without records');
    }
    return stated(null);
  }
  const targets = new Map<string, ReadTarget>();
  const facts = summary === null ? new Map<string, MetricFacts>() : metricFacts(summary);
  const add = (found: ReadonlyMap<string, ReadTarget>): void =>
    found.forEach((target, name) => targets.set(name, target));
  if (lines !== null) add(await readServerLines(lines, facts, zero_ns, notes, context));
  else if (parquet !== null) add(await readServerParquet(parquet, facts, zero_ns, notes));
  if (gpus !== null) add(await readGpuLines(gpus, zero_ns, notes, context));
  const servers = serversOfStores({ targets, zeroWall_ns: zero_ns, interval_ns: AIPERF_INTERVAL_NS, window: null });
  const system = [...targets.values()].find((target) => target.system !== null)?.system ?? null;
  if (lines !== null || parquet !== null) return { servers, system };
  const figures = stated(instantOf(zero_ns));
  if (figures === null) return targets.size === 0 ? null : { servers, system };
  return targets.size === 0 ? figures : { ...figures, servers: withGpus(figures.servers, servers) };
}

/** AIPerf's statistics of the servers, and ours of the samples of the GPUs. */
function withGpus(stated: ImportedServers, gpus: ImportedServers): ImportedServers {
  return {
    forRun(measured) {
      const [one, other] = [stated.forRun(measured), gpus.forRun(measured)];
      if (one === null || other === null) return one ?? other;
      const targets = [...one.result.targets, ...other.result.targets];
      return {
        result: { ...one.result, gpu_energy: other.result.gpu_energy, targets },
        file(runId) {
          const file = one.file(runId);
          return { ...file, targets, series: [...file.series, ...other.file(runId).series] };
        },
        writeSamples: other.writeSamples,
      };
    },
  };
}

type StatedServers = NonNullable<ReturnType<typeof statedServers>>;

const instantOf = (zero_ns: bigint): string => new Date(Number(zero_ns / 1_000_000n)).toISOString();

/** AIPerf's own statistics, from the CSV when they are nowhere else. */
async function readSummary(
  json: SourceFile | null,
  csv: SourceFile | null,
  notes: ImportNotes,
  context: ImportContext,
): Promise<Fields | null> {
  if (json !== null) return new Fields(await readJsonDocument(json, notes, context), notes, 'server metrics: ');
  if (csv === null) return null;
  notes.add('server values are from a CSV with four decimals');
  return new Fields(serversOfCsv(await readText(csv, context)), notes, 'server metrics: ');
}

function metricFacts(summary: Fields): Map<string, MetricFacts> {
  const metrics = summary.raw('metrics');
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return new Map(
    Object.entries(isObject(metrics) ? metrics : {}).flatMap(([name, metric]) =>
      isObject(metric) ? [[name, { type: text(metric['type']), description: text(metric['description']) }]] : [],
    ),
  );
}
