import { DashboardBuilder, DashboardCursorSync } from '@grafana/grafana-foundation-sdk/dashboard';
import { runRegions, stageRegions } from './annotations.ts';
import { linksTo } from './links.ts';

export interface DashboardFrame {
  /** Links and bookmarks name the dashboard by it: it never changes. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The dashboards with this tag lead to each other. */
  readonly tag?: string;
  /** Whether the phases of the chosen runs are marked; unless set they are. */
  readonly regions?: boolean;
  /** Begin of the time range that it opens with; half an hour ago unless set. */
  readonly from?: string;
}

/** What all dashboards share: run regions, links to each other, one crosshair, a short refresh. */
export function baseDashboard(frame: DashboardFrame): DashboardBuilder {
  const { uid, title, description, tag = 'llmbench', regions = true, from = 'now-30m' } = frame;
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([tag])
    .revision(1)
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from, to: 'now' })
    .refresh('10s')
    .link(linksTo(tag));
  return regions ? dashboard.annotation(runRegions()).annotation(stageRegions()) : dashboard;
}
