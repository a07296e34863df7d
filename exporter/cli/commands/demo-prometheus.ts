import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPrometheusConfig } from '../../../prometheus/config.ts';
import { startPrometheus } from '../../../prometheus/server.ts';

/** Path of the `prometheus` binary: from PROMETHEUS, PATH or the project's cache; null when there is none. */
export function findPrometheus(): string | null {
  const named = process.env['PROMETHEUS'];
  if (named !== undefined) return existsSync(named) ? named : null;
  const cache = fileURLToPath(new URL('../../../.cache/prometheus/usr/bin', import.meta.url));
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), cache];
  return folders.map((folder) => join(folder, 'prometheus')).find((program) => existsSync(program)) ?? null;
}

/** Starts Prometheus with the project's configuration on a free port; its data is deleted when it stops. */
export async function startDemoPrometheus(
  program: string,
  exporterAddress: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'llmbench-prometheus-'));
  const discard = (): void => rmSync(folder, { recursive: true, force: true });
  const ruleFiles = ['rules', 'alerts'].map((rules) =>
    fileURLToPath(new URL(`../../../prometheus/${rules}/*.yml`, import.meta.url)),
  );
  const configFile = join(folder, 'prometheus.yml');
  writeFileSync(configFile, renderPrometheusConfig({ exporterAddress, ruleFiles }));
  try {
    const server = await startPrometheus({
      programs: { prometheus: program },
      configFile,
      dataFolder: join(folder, 'data'),
      detached: true,
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      discard();
    };
    return { url: server.url, stop };
  } catch (error) {
    discard();
    throw error;
  }
}
