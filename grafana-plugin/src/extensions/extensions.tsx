import { type AppPlugin, PluginExtensionPoints, type PluginExtensionPanelContext } from '@grafana/data';
import { LoadingPlaceholder } from '@grafana/ui';
import React, { lazy, Suspense } from 'react';
import { PLUGIN_ID, pageUrl, ROUTES } from '../constants.ts';
import type { RunSummaryProps } from './RunSummaryCard.tsx';

/** The links that the app adds to Grafana's menus; plugin.json declares the same. */
const RUNS_LINK = {
  title: 'Benchmark runs',
  description: 'Lists the benchmark runs in the time range of this view',
  targets: [PluginExtensionPoints.DashboardPanelMenu, PluginExtensionPoints.ExploreToolbarAction],
};

type LinkContext = Partial<Pick<PluginExtensionPanelContext, 'timeRange'>>;

export function addLinks(plugin: AppPlugin): void {
  plugin.addLink<LinkContext>({
    ...RUNS_LINK,
    icon: 'list-ul',
    path: pageUrl(ROUTES.runs),
    configure: (context) => ({ path: runsInRange(context) }),
  });
}

/** Address of the list of runs in the time range of a panel or of Explore. */
export function runsInRange(context: LinkContext | undefined): string {
  const { from, to } = context?.timeRange ?? {};
  if (from === undefined || to === undefined) {
    return pageUrl(ROUTES.runs);
  }
  const parameters = new URLSearchParams({ from: timeText(from), to: timeText(to), inRange: 'true' });
  return `${pageUrl(ROUTES.runs)}?${parameters}`;
}

/** Grafana gives its own text (`now-1h`), or a moment. */
function timeText(time: string | number | { valueOf(): unknown }): string {
  return typeof time === 'string' ? time : String(time.valueOf());
}

/** The component that other plugins may show; plugin.json declares the same. */
const RUN_SUMMARY = {
  id: `${PLUGIN_ID}/run-summary/v1`,
  title: 'Run summary',
  description: 'Key numbers of one benchmark run, with a link to its page',
};

const LazyCard = lazy(async () => (await import('./load-run-summary.ts')).loadRunSummary());

export function exposeRunSummary(plugin: AppPlugin): void {
  plugin.exposeComponent<RunSummaryProps>({
    ...RUN_SUMMARY,
    component: (props) => (
      <Suspense fallback={<LoadingPlaceholder text="" />}>
        <LazyCard {...props} />
      </Suspense>
    ),
  });
}
