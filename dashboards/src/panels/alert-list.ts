import { PanelBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { framed, type PanelFrame } from './frame.ts';

export interface AlertListOptions extends PanelFrame {
  /** What the names of the alerts contain. */
  readonly alertName: string;
}

/** Alerts that fire or are about to: Grafana's own, and those of the data sources whose rules it reads. */
export function alertList({ alertName, ...frame }: AlertListOptions): PanelBuilder {
  return framed(new PanelBuilder(), frame)
    .type('alertlist')
    .options({
      viewMode: 'list',
      groupMode: 'default',
      groupBy: [],
      maxItems: 50,
      // Newest first.
      sortOrder: 5,
      dashboardAlerts: false,
      alertName,
      // Info is that a benchmark runs, which is no reason to act.
      alertInstanceLabelFilter: '{severity!="info"}',
      stateFilter: { firing: true, pending: true, noData: false, normal: false, error: true },
    });
}
