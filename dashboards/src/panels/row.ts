import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { RowBuilder, type DashboardBuilder, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';

export interface Row {
  readonly id: number;
  readonly title: string;
  /** Closed until it is wanted; until then its panels ask Prometheus nothing. */
  readonly collapsed: boolean;
}

/** Adds a row with its panels. */
export function withRow(
  dashboard: DashboardBuilder,
  { id, title, collapsed }: Row,
  panels: readonly Builder<Panel>[],
): void {
  const row = new RowBuilder(title).id(id);
  if (collapsed) {
    row.collapsed(true);
    for (const panel of panels) row.withPanel(panel);
  }
  dashboard.withRow(row);
  if (!collapsed) for (const panel of panels) dashboard.withPanel(panel);
}
