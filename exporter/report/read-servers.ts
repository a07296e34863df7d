import type { SeriesSummary } from '../servers/files/servers-file.ts';
import { readServersFile } from '../store/servers/read-servers-json.ts';
import { readServersParquet } from '../store/servers/read-servers-parquet.ts';
import { signalNames } from './server-signals.ts';
import type { ServerSample } from './server-signals.ts';

/** The server metrics in a run directory. */
export interface ServerFiles {
  readonly intervalSeconds: number;
  readonly series: readonly SeriesSummary[];
  readonly samples: readonly ServerSample[];
}

/**
 * Null if no server metrics were collected. `start` is the wall time of the run's zero. Throws if a file is damaged.
 */
export async function readServers(folder: string, start: string | null): Promise<ServerFiles | null> {
  const file = start === null ? null : await readServersFile(folder);
  if (file === null || start === null) return null;
  const repeated = new Set(file.series.filter(({ repeats }) => repeats !== null).map(keyOf));
  const samples = await readSamples(folder, start);
  return {
    intervalSeconds: file.interval_seconds,
    series: file.series,
    samples: samples.filter(({ target, name, labels }) => !repeated.has(JSON.stringify([target, name, labels]))),
  };
}

const keyOf = ({ target, family, labels }: SeriesSummary): string =>
  JSON.stringify([target, family, JSON.stringify(labels)]);

async function readSamples(folder: string, start: string): Promise<ServerSample[]> {
  const start_ns = BigInt(Date.parse(start)) * 1_000_000n;
  const wanted = signalNames();
  const samples: ServerSample[] = [];
  for await (const rows of (await readServersParquet(folder)) ?? []) {
    for (const { target, name, labels, time_ns, value } of rows) {
      if (wanted.has(name)) {
        samples.push({ target, name, labels, at_seconds: Number(time_ns - start_ns) / 1e9, value });
      }
    }
  }
  return samples;
}
