import { DashboardBuilder, DashboardCursorSync } from '@grafana/grafana-foundation-sdk/dashboard';
import { runRegions } from './annotations.ts';
import { linksTo } from './links.ts';

export interface DashboardFrame {
  /** Links and bookmarks name the dashboard by it: it never changes. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The dashboards with this tag lead to each other. */
  readonly tag?: string;
}

/** What all dashboards share: run regions, links to each other, one crosshair, a short refresh. */
export function baseDashboard({ uid, title, description, tag = 'llmbench' }: DashboardFrame): DashboardBuilder {
  return new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([tag])
    .revision(1)
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-30m', to: 'now' })
    .refresh('10s')
    .link(linksTo(tag))
    .annotation(runRegions());
}
