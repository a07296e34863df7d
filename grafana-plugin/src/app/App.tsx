import {
  SceneAppPage,
  EmbeddedScene,
  SceneControlsSpacer,
  SceneRefreshPicker,
  SceneTimePicker,
  SceneTimeRange,
  VariableValueSelectors,
  SceneApp,
  useSceneApp,
} from '@grafana/scenes';
import React, { lazy, type ComponentType, type ReactNode } from 'react';
import { Navigate, Route, Routes, useLocation } from 'react-router-dom';
import { APP_URL, pageUrl, ROUTES } from '../constants.ts';
import { PageBody, pageVariables } from './PageBody.tsx';
import { t } from '../text.ts';

const OverviewView = lazy(() => import('../pages/Overview/OverviewView.tsx'));
const RunsView = lazy(() => import('../pages/Runs/RunsView.tsx'));
const RunView = lazy(() => import('../pages/Run/RunView.tsx'));
const CompareView = lazy(() => import('../pages/Compare/CompareView.tsx'));
const TrendsView = lazy(() => import('../pages/Trends/TrendsView.tsx'));
const SweepsView = lazy(() => import('../pages/Sweeps/SweepsView.tsx'));
const AlertsView = lazy(() => import('../pages/Alerts/AlertsView.tsx'));
const ServersView = lazy(() => import('../pages/Servers/ServersView.tsx'));
const BucketsView = lazy(() => import('../pages/Buckets/BucketsView.tsx'));
const SetupView = lazy(() => import('../pages/Setup/SetupView.tsx'));
const NotFoundView = lazy(() => import('../pages/NotFound/NotFoundView.tsx'));

/** Query parameters that are kept between pages. */
const KEPT = ['var-prometheus', 'var-exporter', 'timezone'];
const KEPT_WITH_TIME = [...KEPT, 'from', 'to'];
const NOT_FOUND_URL = `${APP_URL}/not-found`;

function appPages(): SceneAppPage[] {
  return [
    new SceneAppPage({
      title: t('page.overview.title', 'Overview'),
      subTitle: t('page.overview.subtitle', 'What regressed, what is overdue, what runs now and what is new'),
      url: pageUrl(ROUTES.overview),
      routePath: `${ROUTES.overview}/*`,
      preserveUrlKeys: KEPT,
      getScene: () => pageScene({ view: OverviewView, from: null, refresh: '30s' }),
    }),
    new SceneAppPage({
      title: t('page.runs.title', 'Runs'),
      subTitle: t('page.runs.subtitle', 'LLM inference benchmarks: exact client measurements'),
      url: pageUrl(ROUTES.runs),
      routePath: `${ROUTES.runs}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: RunsView, from: 'now-24h', hidesTime: true }),
      drilldowns: [
        {
          routePath: ':runId/*',
          getPage: ({ params: { runId } }, parent) => {
            const page = new SceneAppPage({
              title: decodeURIComponent(runId),
              url: `${pageUrl(ROUTES.runs)}/${runId}`,
              routePath: ':runId/*',
              preserveUrlKeys: KEPT_WITH_TIME,
              getParentPage: () => parent,
              getScene: () =>
                pageScene({ view: RunView, setTitle: (title, subTitle) => page.setState({ title, subTitle }) }),
            });
            return page;
          },
        },
      ],
    }),
    new SceneAppPage({
      title: t('page.compare.title', 'Compare'),
      subTitle: t('page.compare.subtitle', 'The verdict on the runs of B against those of A, with the evidence'),
      url: pageUrl(ROUTES.compare),
      routePath: `${ROUTES.compare}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: CompareView, from: null }),
    }),
    new SceneAppPage({
      title: t('page.trends.title', 'Trends'),
      subTitle: t('page.trends.subtitle', 'The history of a scenario: values, baseline, change points and verdicts'),
      url: pageUrl(ROUTES.trends),
      routePath: `${ROUTES.trends}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: TrendsView, from: null }),
    }),
    new SceneAppPage({
      title: t('page.sweeps.title', 'Sweeps'),
      subTitle: t('page.sweeps.subtitle', 'Throughput, latency and goodput over the load, with the Pareto frontier'),
      url: pageUrl(ROUTES.sweeps),
      routePath: `${ROUTES.sweeps}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: SweepsView, from: null }),
    }),
    new SceneAppPage({
      title: t('page.alerts.title', 'Alerts'),
      subTitle: t('page.alerts.subtitle', 'The alert rules of llmbench in Prometheus and Grafana, and what fires'),
      url: pageUrl(ROUTES.alerts),
      routePath: `${ROUTES.alerts}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: AlertsView, from: null, refresh: '30s' }),
    }),
    new SceneAppPage({
      title: t('page.servers.title', 'Servers'),
      subTitle: t('page.servers.subtitle', 'Inference servers scraped by Prometheus'),
      url: pageUrl(ROUTES.servers),
      routePath: `${ROUTES.servers}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: ServersView, from: 'now-24h', refresh: '30s' }),
    }),
    new SceneAppPage({
      title: t('page.buckets.title', 'Buckets'),
      subTitle: t(
        'page.buckets.subtitle',
        "How wide the percentiles of servers' histograms are, and which bounds narrow them"
      ),
      url: pageUrl(ROUTES.buckets),
      routePath: `${ROUTES.buckets}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: BucketsView, from: 'now-15m' }),
    }),
    new SceneAppPage({
      title: t('page.setup.title', 'Setup'),
      subTitle: t('page.setup.subtitle', 'Data sources, connection tests and configuration snippets'),
      url: pageUrl(ROUTES.setup),
      routePath: `${ROUTES.setup}/*`,
      preserveUrlKeys: KEPT,
      getScene: () => pageScene({ view: SetupView, from: null }),
    }),
    // Matches every other path; it only has a fallback page.
    new SceneAppPage({ title: '', url: NOT_FOUND_URL, routePath: '*', getFallbackPage: notFoundPage }),
  ];
}

function notFoundPage(): SceneAppPage {
  return new SceneAppPage({
    title: t('page.not-found.title', 'Page not found'),
    url: NOT_FOUND_URL,
    routePath: '*',
    getScene: () => pageScene({ view: NotFoundView, from: null }),
  });
}

interface PageSceneOptions {
  view: ComponentType;
  /** Grafana's text of the time range's beginning; null: the page has nothing to do with time. */
  from?: string | null;
  /** The page has its own control of the time. */
  hidesTime?: boolean;
  /** How often the page is refreshed when it is opened; empty for not, and a page without time then offers no refresh. */
  refresh?: string;
  /** Replaces the title of the page and the line below it. */
  setTitle?: (title: string, subTitle: ReactNode) => void;
}

/** Time range, data sources and refresh as on a dashboard, and the page's own view under them. */
function pageScene({ view, from = 'now-6h', hidesTime, refresh = '', setTitle }: PageSceneOptions): EmbeddedScene {
  return new EmbeddedScene({
    $timeRange: new SceneTimeRange({ from: from ?? 'now-6h', to: 'now' }),
    $variables: pageVariables(),
    controls: [
      new VariableValueSelectors({}),
      new SceneControlsSpacer(),
      ...(from === null || hidesTime ? [] : [new SceneTimePicker({ isOnCanvas: true })]),
      ...(from === null && refresh === ''
        ? []
        : [new SceneRefreshPicker({ isOnCanvas: true, refresh, intervals: ['5s', '10s', '30s', '1m', '5m'] })]),
    ],
    body: new PageBody({ view, ...(setTitle && { setTitle }) }),
  });
}

/** The app's pages. Its own address leads to the overview. */
export default function App() {
  const app = useSceneApp(createApp);
  return (
    <Routes>
      <Route path="/" element={<Navigate replace to={pageUrl(ROUTES.overview)} />} />
      <Route path={FORMER_COMPARE} element={<ToCompare />} />
      <Route path="*" element={<app.Component model={app} />} />
    </Routes>
  );
}

/** The path of the page Compare in links from before it had two sets of runs. */
const FORMER_COMPARE = 'overlay/*';

/** The first run of such a link was the reference of the others. */
function ToCompare() {
  const parameters = new URLSearchParams(useLocation().search);
  const [reference, ...others] = parameters.getAll('run');
  parameters.delete('run');
  const sets = [['a', reference ?? ''], ...others.map((run) => ['b', run])].filter(([, run]) => run !== '');
  const search = new URLSearchParams([...parameters, ...sets]).toString();
  return <Navigate replace to={`${pageUrl(ROUTES.compare)}?${search}`} />;
}

function createApp(): SceneApp {
  return new SceneApp({
    pages: appPages(),
    urlSyncOptions: { updateUrlOnInit: true, createBrowserHistorySteps: true },
  });
}
