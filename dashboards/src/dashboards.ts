import { clientVsServer } from './client-vs-server.ts';
import { generic } from './generic.ts';
import { history } from './history.ts';
import { panelsToCopy } from './panels-to-copy.ts';
import { drawAppPanel, benchmarkApp } from './app/benchmark-app.ts';
import { appVariant, hasPercentiles } from './app/app-variant.ts';
import { drawPanel } from './server/draw-panel.ts';
import { detailsDashboard, mainDashboard, serverDashboard } from './server/server-dashboard.ts';
import { dynamo } from './systems/dynamo.ts';
import { kvbm } from './systems/kvbm.ts';
import { llmdEpp } from './systems/llm-d-epp.ts';
import { sglang } from './systems/sglang.ts';
import { triton } from './systems/triton.ts';
import { trtllm } from './systems/trtllm.ts';
import { vllm } from './systems/vllm.ts';
import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { baseDashboard } from './base-dashboard.ts';
import { latencyInDetail, latencyOverTime } from './benchmark/client-latency.ts';
import { contentsOverTime, energyOfRuns, errorsByReason, loadOverTime } from './benchmark/load.ts';
import { partsOfRuns, wholeResponses } from './benchmark/parts.ts';
import { resultsOfRuns, runsInRange, objectives, runTiles } from './benchmark/whole-run.ts';
import { besideServers } from './benchmark/server.ts';
import { withRow } from './panels/row.ts';
import { knownMetrics } from '../../prometheus/known-metrics.ts';
import { withNativeHistograms, type Histograms } from '../../prometheus/native-histograms.ts';
import { UID } from './datasource.ts';
import { SYSTEM_PRESENCE } from './queries/system.ts';
import {
  datasourceVariable,
  objectiveVariable,
  recordedVariables,
  runVariables,
  scrapeIntervalVariable,
  scrapesOfRuns,
} from './variables.ts';

const SYSTEMS = [vllm(), dynamo(), kvbm(), sglang(), trtllm(), triton(), llmdEpp()];
const SERVERS = SYSTEMS.flatMap((system) => [mainDashboard(system), ...[detailsDashboard(system) ?? []].flat()]);

/**
 * Where the app's dashboards are. They come with its files and are provisioned from there: what an app includes, Grafana imports
 * into its general folder, apart from the others.
 */
export const APP_FOLDER = '../grafana-plugin/src/dashboards/';

/** Where the dashboards are that also read native histograms: outside dashboards/, which Grafana provisions as a whole. */
export const NATIVE_FOLDER = '../prometheus/native/dashboards/';

const NATIVE_SUFFIX = '-native';
const NATIVE_NOTE =
  'For a Prometheus 3 that stores native histograms, classic ones, or both. Where only native ones are stored, a share of ' +
  'values within an objective is interpolated unless the objective is a bucket bound.';

type File = readonly [file: string, json: () => string];

const NATIVE: readonly File[] = (
  [
    ['llmbench-benchmark.json', () => benchmark('either')],
    ['llmbench-history.json', () => history()],
    ['llmbench-client-vs-server.json', () => clientVsServer('either')],
    ['llmbench-generic.json', () => generic('either')],
    ['llmbench-panels.json', () => panelsToCopy('either')],
    ...SERVERS.map((system) => [`${system.uid}.json`, () => serverDashboard(system, drawPanel, 'either')] as const),
  ] as const
).map(([file, build]) => [`${NATIVE_FOLDER}${file}`, () => classicJson(nativeVariant(build()))]);

/** Each committed file, from dashboards/, with what generates its text: for any Grafana, and for one that has the app. */
export const DASHBOARDS: readonly File[] = [
  ['llmbench-benchmark.json', () => classicJson(benchmark())],
  ['llmbench-history.json', () => classicJson(history())],
  ['llmbench-client-vs-server.json', () => classicJson(clientVsServer())],
  ['llmbench-generic.json', () => classicJson(generic())],
  ['llmbench-panels.json', () => classicJson(panelsToCopy())],
  ...SERVERS.map((system) => [`${system.uid}.json`, () => classicJson(serverDashboard(system))] as const),
  ...NATIVE,
  [`${APP_FOLDER}llmbench-benchmark-app.json`, () => classicJson(benchmarkApp())],
  ...SYSTEMS.filter(hasPercentiles)
    .map(appVariant)
    .map(
      (system) =>
        [`${APP_FOLDER}${system.uid}.json`, () => classicJson(serverDashboard(system, drawAppPanel))] as const,
    ),
];

/** The newest schema that Grafana 10.4 knows; later ones migrate it when they load it. */
const SCHEMA_VERSION = 39;

/**
 * A dashboard as the file that Grafana 10.4 to 13 provision. What Grafana assumes anyway is taken out: dashboards are stored
 * where 256 kB are the limit.
 */
function classicJson(dashboard: Dashboard): string {
  const annotations = { list: dashboard.annotations.list ?? [] };
  const classic = { ...dashboard, id: null, schemaVersion: SCHEMA_VERSION, annotations };
  return `${JSON.stringify({ ...classic, panels: (dashboard.panels ?? []).map(withoutDefaults) }, null, 2)}\n`;
}

function withoutDefaults(panel: Panel | RowPanel): object {
  if ('panels' in panel) return { ...panel, panels: panel.panels.map(withoutDefaults) };
  const known: Partial<Panel> = { ...panel };
  if (known.transparent === false) delete known.transparent;
  if (known.repeat === undefined) delete known.repeatDirection;
  const targets = known.targets?.map((target) => {
    const query: Partial<Dataquery> = { ...target };
    if (query.range === false) delete query.range;
    if (query.instant === false) delete query.instant;
    return query;
  });
  return targets === undefined ? known : { ...known, targets };
}

const TTFT_OBJECTIVE = {
  name: 'ttft_slo',
  label: 'TTFT objective',
  histogram: 'llmbench_time_to_first_token_seconds',
  measure: 'time_to_first_token',
} as const;

/** "LLM benchmark": what the chosen runs measured, and what the server said meanwhile. */
function benchmark(histograms: Histograms = 'classic'): Dashboard {
  const dashboard = baseDashboard({
    uid: UID,
    title: 'LLM benchmark',
    description: "Client measurements of each run next to the inference server's own metrics",
  }).variables([
    datasourceVariable(),
    ...runVariables(),
    ...recordedVariables(SYSTEM_PRESENCE),
    objectiveVariable(TTFT_OBJECTIVE, histograms),
    scrapeIntervalVariable(...scrapesOfRuns()),
  ]);
  withRow(dashboard, { id: 1, title: 'The run', collapsed: false }, [
    ...runTiles(histograms),
    ...latencyOverTime(),
    ...loadOverTime(),
  ]);
  withRow(dashboard, { id: 5, title: 'Runs', collapsed: false }, [resultsOfRuns(), objectives(53), runsInRange()]);
  withRow(dashboard, { id: 3, title: 'Latency and errors in detail', collapsed: true }, [
    ...latencyInDetail(),
    errorsByReason(),
    wholeResponses(),
    ...contentsOverTime(),
  ]);
  withRow(dashboard, { id: 7, title: 'Models, adapters and turns', collapsed: true }, partsOfRuns());
  withRow(dashboard, { id: 4, title: 'Beside the servers', collapsed: true }, besideServers());
  withRow(dashboard, { id: 6, title: 'Energy and cost', collapsed: true }, [energyOfRuns()]);
  return dashboard.build();
}

/** The dashboard with queries that read either kind of histogram, under a uid, a title and a tag of its own. */
function nativeVariant(dashboard: Dashboard): Dashboard {
  const known = knownMetrics();
  const json = JSON.stringify(dashboard, (key, value: unknown) =>
    key === 'expr' && typeof value === 'string' ? withNativeHistograms(value, known) : value,
  );
  const variant = JSON.parse(withOwnLinks(json)) as Dashboard;
  return {
    ...variant,
    uid: `${dashboard.uid ?? ''}${NATIVE_SUFFIX}`,
    title: `${dashboard.title ?? ''}, native histograms`,
    description: `${dashboard.description ?? ''}. ${NATIVE_NOTE}`,
    tags: (dashboard.tags ?? []).map((tag) => `${tag}${NATIVE_SUFFIX}`),
    links: (dashboard.links ?? []).map((link) => ({ ...link, tags: link.tags.map((tag) => `${tag}${NATIVE_SUFFIX}`) })),
  };
}

/** Links to other dashboards lead to those of the same set. */
function withOwnLinks(json: string): string {
  return json.replaceAll(/\/d\/(llmbench[a-z-]*)/g, `/d/$1${NATIVE_SUFFIX}`);
}
