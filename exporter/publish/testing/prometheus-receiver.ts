import { constants } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePrometheus, type PrometheusPrograms } from '../../../prometheus/programs.mjs';
import { startPrometheus } from '../../../prometheus/server.ts';

/** Where `scripts/real-servers/prometheus-3.sh` puts its programs. */
const PROMETHEUS_3 = fileURLToPath(new URL('../../../.cache/prometheus-3/usr/bin', import.meta.url));

/**
 * The programs of Prometheus 2 (found or unpacked as for all tests) and of Prometheus 3, from the folder
 * `PROMETHEUS_3_BIN` or from where the script puts them; null: not on this machine.
 */
export async function prometheusPrograms(): Promise<Readonly<Record<'2' | '3', PrometheusPrograms | null>>> {
  const folder = process.env['PROMETHEUS_3_BIN'] ?? PROMETHEUS_3;
  const third = { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool'), version: '3' };
  const isThere = await access(third.prometheus, constants.X_OK).then(
    () => true,
    () => false,
  );
  return { '2': await ensurePrometheus({ install: false }), '3': isThere ? third : null };
}

export interface QueriedSeries {
  readonly metric: Readonly<Record<string, string>>;
  /** Of an instant query: Unix seconds and the value as text. */
  readonly value?: readonly [number, string];
  /** Of a range selector. */
  readonly values?: readonly (readonly [number, string])[];
}

/** A Prometheus that takes remote write, or shows the blocks in `dataFolder`. */
export class PrometheusReceiver {
  readonly url: string;
  readonly dataFolder: string;
  readonly #stop: () => Promise<void>;
  readonly #folder: string;

  private constructor(url: string, folder: string, dataFolder: string, stop: () => Promise<void>) {
    this.url = url;
    this.dataFolder = dataFolder;
    this.#folder = folder;
    this.#stop = stop;
  }

  static async start(
    programs: PrometheusPrograms,
    { flags = [], port = 0, dataFolder }: { flags?: readonly string[]; port?: number; dataFolder?: string } = {},
  ): Promise<PrometheusReceiver> {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-receiver-'));
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(configFile, 'scrape_configs: []\n');
    const data = dataFolder ?? join(folder, 'data');
    const server = await startPrometheus({
      ...{ programs, configFile, dataFolder: data, port },
      flags: ['--web.enable-remote-write-receiver', ...flags],
    });
    return new PrometheusReceiver(server.url, folder, data, () => server.stop());
  }

  get writeUrl(): string {
    return `${this.url}/api/v1/write`;
  }

  /** `time_ms`: the instant; now unless set. */
  async query(query: string, time_ms: number = Date.now()): Promise<readonly QueriedSeries[]> {
    const parameters = new URLSearchParams({ query, time: String(time_ms / 1000) });
    const response = await fetch(`${this.url}/api/v1/query?${parameters.toString()}`);
    const { status, data, error } = (await response.json()) as {
      status: string;
      data?: { result: QueriedSeries[] };
      error?: string;
    };
    if (status !== 'success' || data === undefined) throw new Error(`${query}: ${error ?? status}`);
    return data.result;
  }

  async stop(): Promise<void> {
    await this.#stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
