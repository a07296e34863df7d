import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrometheusPrograms } from '../../../prometheus/programs.mjs';
import { startPrometheus } from '../../../prometheus/server.ts';

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
