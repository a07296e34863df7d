import { RowBuilder, type DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { infoTable } from '../panels/table.ts';
import { appPageOfRun } from '../target.ts';
import * as client from '../queries/client.ts';
import { UID } from '../uid.ts';

/** Which runs there are. */
export function withRuns(dashboard: DashboardBuilder): void {
  dashboard.withRow(new RowBuilder('Runs').id(5)).withPanel(
    infoTable({
      id: 51,
      width: 24,
      height: 8,
      title: 'Runs in the time range',
      description: 'Facts of each run of the selected scenarios. Click its start to show it alone, here or in the app.',
      expr: client.RUNS,
      labels: client.RUN_FACTS,
      label: 'start',
      links: [
        {
          title: 'Show run ${__data.fields.run_id}',
          url: `/d/${UID}?\${__url_time_range}&\${datasource:queryparam}&var-run=\${__data.fields.run_id}`,
          targetBlank: false,
        },
        appPageOfRun('__data.fields.run_id'),
      ],
    }),
  );
}
