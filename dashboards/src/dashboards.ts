import { benchmark } from './benchmark.ts';
import { classicJson } from './classic-dashboard.ts';
import { clientVsServer } from './client-vs-server.ts';
import { generic } from './generic.ts';
import { history } from './history.ts';
import { drawAppPanel } from './app/draw-app-panel.ts';
import { appVariant, hasPercentiles } from './app/app-variant.ts';
import { benchmarkApp } from './app/benchmark-app.ts';
import { nativeVariant } from './native/native-variant.ts';
import { drawPanel } from './server/draw-panel.ts';
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

/** Where the dashboards are that also read native histograms: outside dashboards/, which Grafana provisions as a whole. */
export const NATIVE_FOLDER = '../prometheus/native/dashboards/';

type File = readonly [file: string, json: () => string];

const NATIVE: readonly File[] = (
  [
    ['llmbench-benchmark.json', () => benchmark('either')],
    ['llmbench-history.json', () => history()],
    ['llmbench-client-vs-server.json', () => clientVsServer('either')],
    ['llmbench-generic.json', () => generic('either')],
    ...SYSTEMS.map((system) => [`${system.uid}.json`, () => serverDashboard(system, drawPanel, 'either')] as const),
  ] as const
).map(([file, build]) => [`${NATIVE_FOLDER}${file}`, () => classicJson(nativeVariant(build()))]);

/** Each committed file, from dashboards/, with what generates its text: for any Grafana, and for one that has the app. */
export const DASHBOARDS: readonly File[] = [
  ['llmbench-benchmark.json', () => classicJson(benchmark())],
  ['llmbench-history.json', () => classicJson(history())],
  ['llmbench-client-vs-server.json', () => classicJson(clientVsServer())],
  ['llmbench-generic.json', () => classicJson(generic())],
  ...SYSTEMS.map((system) => [`${system.uid}.json`, () => classicJson(serverDashboard(system))] as const),
  ...NATIVE,
  [`${APP_FOLDER}llmbench-benchmark-app.json`, () => classicJson(benchmarkApp())],
  ...SYSTEMS.filter(hasPercentiles)
    .map(appVariant)
    .map(
      (system) =>
        [`${APP_FOLDER}${system.uid}.json`, () => classicJson(serverDashboard(system, drawAppPanel))] as const,
    ),
];
