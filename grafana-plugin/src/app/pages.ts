import { t } from '@grafana/i18n';
import { SceneAppPage } from '@grafana/scenes';
import { lazy } from 'react';
import { APP_URL, pageUrl, ROUTES } from '../constants/routes.ts';
import { pageScene } from './page-scene.ts';

const RunsView = lazy(() => import('../pages/Runs/RunsView.tsx'));
const RunView = lazy(() => import('../pages/Run/RunView.tsx'));
const OverlayView = lazy(() => import('../pages/Overlay/OverlayView.tsx'));
const ServersView = lazy(() => import('../pages/Servers/ServersView.tsx'));
const SetupView = lazy(() => import('../pages/Setup/SetupView.tsx'));
const NotFoundView = lazy(() => import('../pages/NotFound/NotFoundView.tsx'));

/** What goes along from page to page. */
const KEPT = ['var-prometheus', 'var-exporter', 'timezone'];
const KEPT_WITH_TIME = [...KEPT, 'from', 'to'];
const NOT_FOUND_URL = `${APP_URL}/not-found`;

export function appPages(): SceneAppPage[] {
  return [
    new SceneAppPage({
      title: t('page.runs.title', 'Runs'),
      subTitle: t('page.runs.subtitle', 'Benchmarks of LLM inference servers: what the client measured, exactly'),
      url: pageUrl(ROUTES.runs),
      routePath: `${ROUTES.runs}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: RunsView, from: 'now-24h' }),
      drilldowns: [
        {
          routePath: ':runId/*',
          getPage: ({ params: { runId } }, parent) =>
            new SceneAppPage({
              title: decodeURIComponent(runId),
              url: `${pageUrl(ROUTES.runs)}/${runId}`,
              routePath: ':runId/*',
              preserveUrlKeys: KEPT_WITH_TIME,
              getParentPage: () => parent,
              getScene: () => pageScene({ view: RunView }),
            }),
        },
      ],
    }),
    new SceneAppPage({
      title: t('page.overlay.title', 'Overlay'),
      subTitle: t('page.overlay.subtitle', 'Runs over each other, from the beginning of their measure phases'),
      url: pageUrl(ROUTES.overlay),
      routePath: `${ROUTES.overlay}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: OverlayView, from: null }),
    }),
    new SceneAppPage({
      title: t('page.servers.title', 'Servers'),
      subTitle: t('page.servers.subtitle', 'Inference servers that Prometheus scrapes'),
      url: pageUrl(ROUTES.servers),
      routePath: `${ROUTES.servers}/*`,
      preserveUrlKeys: KEPT_WITH_TIME,
      getScene: () => pageScene({ view: ServersView, from: 'now-15m', refresh: '30s' }),
    }),
    new SceneAppPage({
      title: t('page.setup.title', 'Setup'),
      subTitle: t('page.setup.subtitle', 'From a benchmark to a picture: what is connected, and what is missing'),
      url: pageUrl(ROUTES.setup),
      routePath: `${ROUTES.setup}/*`,
      preserveUrlKeys: KEPT,
      getScene: () => pageScene({ view: SetupView, from: null }),
    }),
    // What no other page is asked for by: it has nothing but its fallback.
    new SceneAppPage({ title: '', url: NOT_FOUND_URL, routePath: '*', getFallbackPage: notFoundPage }),
  ];
}

function notFoundPage(): SceneAppPage {
  return new SceneAppPage({
    title: t('page.not-found.title', 'No such page'),
    url: NOT_FOUND_URL,
    routePath: '*',
    getScene: () => pageScene({ view: NotFoundView, from: null }),
  });
}
