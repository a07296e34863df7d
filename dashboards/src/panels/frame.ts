import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import { DATASOURCE } from '../datasource.ts';

/** What every panel says about itself. */
export interface PanelFrame {
  /** Stable and unique in its dashboard: links and alert rules name a panel by it. */
  readonly id: number;
  readonly title: string;
  /** What is shown, and how it was measured. */
  readonly description: string;
  /** Width in 24ths of the screen. */
  readonly width: number;
  /** Height in grid rows. */
  readonly height: number;
}

/** A panel builder of any kind. */
interface Framed<Panel> {
  id(id: number): Panel;
  title(title: string): Panel;
  description(description: string): Panel;
  datasource(datasource: DataSourceRef): Panel;
  span(width: number): Panel;
  height(height: number): Panel;
}

/** The panel with its frame, which queries the dashboard's data source. */
export function framed<Panel extends Framed<Panel>>(panel: Panel, frame: PanelFrame): Panel {
  return panel
    .id(frame.id)
    .title(frame.title)
    .description(frame.description)
    .datasource(DATASOURCE)
    .span(frame.width)
    .height(frame.height);
}
