import type { FullConfig } from '@playwright/test';
import { existsSync } from 'node:fs';
import { ensurePrometheus, findPrometheus3 } from '../../../prometheus/programs.mjs';
import { bundlePage } from '../../host/bundle.ts';
import { GRAFANA_LINE, grafanaVersion, installPackages } from '../../host/packages.ts';
import { startHost } from '../../host/server.ts';
import type { Environment } from './environment.ts';
import { startAppData, type WantedRuns } from './start-app-data.ts';
import { startData } from './start-data.ts';
import { startStagedData } from './start-staged-data.ts';
import { unpackPlugin } from './unpack-plugin.ts';

/** Runs that make good pictures take minutes, and their client keeps up; the tests need only two short ones. */
const PICTURED: WantedRuns | undefined = process.env['UPDATE_SCREENSHOT']
  ? { concurrencies: [1, 2, 4, 8], seconds: 40 }
  : undefined;

/** Those for native histograms alone, and of one system those for classic ones beside them. */
const NATIVE_DASHBOARDS = ['llmbench-benchmark-native', 'llmbench-vllm-native', 'llmbench-vllm'];

/** Starts the data of the panel and of the app, and the host pages; the tests learn of them through the environment. */
export default async function globalSetup({ projects }: FullConfig): Promise<(() => Promise<void>) | undefined> {
  const chromium = projects[0]?.use.launchOptions?.executablePath;
  const prometheus = (await ensurePrometheus({ install: false }))?.prometheus;
  const prometheus3 = (await findPrometheus3())?.prometheus;
  const isMissing = [
    ...(existsSync(chromium ?? '') ? [] : ['Chromium (CHROMIUM)']),
    ...(prometheus === undefined ? ['Prometheus'] : []),
    ...(prometheus3 === undefined ? ['Prometheus 3 (PROMETHEUS_3_BIN)'] : []),
  ];
  if (prometheus === undefined || prometheus3 === undefined || isMissing.length > 0) {
    const reason = `no ${isMissing.join(', no ')}: node scripts/install.mjs --for-tests installs what it can`;
    if (process.env['CI']) {
      throw new Error(reason);
    }
    process.env['LLMBENCH_E2E_SKIP'] = reason;
    return undefined;
  }
  if (GRAFANA_LINE) {
    installPackages();
  }
  console.log(`Host: packages of Grafana ${grafanaVersion()}`);
  const [data, app, staged] = await Promise.all([
    startData(prometheus),
    startAppData([prometheus, prometheus3], PICTURED),
    startStagedData(prometheus),
    bundlePage(PICTURED ? 'production' : 'development'),
  ]);
  // The tests see what a release publishes, not the folder of the build.
  const plugin = unpackPlugin();
  const pluginFolder = plugin.folder;
  const hosts = await Promise.all([
    startHost({ ...data, pluginFolder }),
    startHost({ ...app, pluginFolder }),
    startHost({ ...app, pluginFolder, exporterUrl: app.judgedExporterUrl, exporterToken: app.judgedToken }),
    startHost({ ...staged, pluginFolder }),
    startHost({ ...app, pluginFolder, prometheusUrl: app.native.url, grafanaDashboards: NATIVE_DASHBOARDS }),
  ]);
  const environment: Environment = {
    hostUrl: hosts[0].url,
    appUrl: hosts[1].url,
    judgedUrl: hosts[2].url,
    stagedUrl: hosts[3].url,
    nativeUrl: hosts[4].url,
    prometheusUrl: data.prometheusUrl,
    finished: app.finished,
    vllmServer: app.vllmServer,
    stoppedServer: app.stoppedServer,
    exponentialServer: app.native.exponentialServer,
    fromMs: data.fromMs,
    toMs: data.toMs,
  };
  process.env['LLMBENCH_E2E'] = JSON.stringify(environment);
  return async () => {
    for (const { server } of hosts) {
      server.closeAllConnections();
      server.close();
    }
    plugin.remove();
    await Promise.all([data.stop(), app.stop(), staged.stop()]);
  };
}
