import { benchmark } from './benchmark.ts';
import { classicJson } from './classic-dashboard.ts';
import { clientVsServer } from './client-vs-server.ts';
import { generic } from './generic.ts';
import { history } from './history.ts';
import { drawAppPanel } from './app/draw-app-panel.ts';
import { appVariant, hasPercentiles } from './app/app-variant.ts';
import { benchmarkApp } from './app/benchmark-app.ts';
import { serverDashboard } from './server/server-dashboard.ts';
import { dynamo } from './systems/dynamo.ts';
import { kvbm } from './systems/kvbm.ts';
import { sglang } from './systems/sglang.ts';
import { triton } from './systems/triton.ts';
import { trtllm } from './systems/trtllm.ts';
import { vllm } from './systems/vllm.ts';

const SYSTEMS = [vllm(), dynamo(), kvbm(), sglang(), trtllm(), triton()];

/** Where the app's dashboards are: Grafana imports them with the app, so they must not be provisioned by file too. */
export const APP_FOLDER = '../grafana-plugin/src/dashboards/';

/** Each committed file, from dashboards/, with what generates its text: for any Grafana, and for one that has the app. */
export const DASHBOARDS: readonly (readonly [file: string, json: () => string])[] = [
  ['llmbench-benchmark.json', () => classicJson(benchmark())],
  ['llmbench-history.json', () => classicJson(history())],
  ['llmbench-client-vs-server.json', () => classicJson(clientVsServer())],
  ['llmbench-generic.json', () => classicJson(generic())],
  ...SYSTEMS.map((system) => [`${system.uid}.json`, () => classicJson(serverDashboard(system))] as const),
  [`${APP_FOLDER}llmbench-benchmark-app.json`, () => classicJson(benchmarkApp())],
  ...SYSTEMS.filter(hasPercentiles)
    .map(appVariant)
    .map(
      (system) =>
        [`${APP_FOLDER}${system.uid}.json`, () => classicJson(serverDashboard(system, drawAppPanel))] as const,
    ),
];
