import { type AppPlugin, PluginExtensionPoints, type PluginExtensionPanelContext } from '@grafana/data';
import { pageUrl, ROUTES } from '../constants.ts';

/** The links that the app adds to Grafana's menus; plugin.json declares the same. */
export const RUNS_LINK = {
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
