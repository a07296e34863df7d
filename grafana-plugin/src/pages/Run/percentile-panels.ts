import { t } from '@grafana/i18n';
import {
  dataLayers,
  SceneDataLayerSet,
  SceneFlexItem,
  SceneFlexLayout,
  SceneQueryRunner,
  VizPanel,
} from '@grafana/scenes';
import { PROMETHEUS_ID, RUNS_DATASOURCE_ID } from '../../constants/plugin.ts';

const PANEL_ID = 'llmbench-percentiles-panel';

interface PanelsOptions {
  /** Uid of the Prometheus data source. */
  prometheus: string;
  /** Uid of the runs data source, which provides the phases; null where there is none. */
  exporterUid: string | null;
  runId: string;
}

/** Two of the app's panels: time to first token and inter-token latency of a run, with its phases as regions. */
export function percentilePanels({ prometheus, exporterUid, runId }: PanelsOptions): SceneFlexLayout {
  const panel = (title: string, histogram: string) =>
    new SceneFlexItem({
      minWidth: 420,
      body: new VizPanel({
        title,
        pluginId: PANEL_ID,
        fieldConfig: { defaults: { unit: 's' }, overrides: [] },
        $data: new SceneQueryRunner({
          datasource: { type: PROMETHEUS_ID, uid: prometheus },
          minInterval: '1s',
          queries: [
            {
              refId: 'A',
              expr: `llmbench_${histogram}_seconds_bucket{run_id=${JSON.stringify(runId)}}`,
              format: 'time_series',
              range: true,
            },
          ],
        }),
      }),
    });
  return new SceneFlexLayout({
    direction: 'row',
    $data: new SceneDataLayerSet({ layers: exporterUid === null ? [] : [phaseLayer(exporterUid, runId)] }),
    children: [
      panel(t('percentiles.ttft', 'Time to first token, client'), 'time_to_first_token'),
      panel(t('percentiles.itl', 'Inter-token latency, client'), 'inter_token_latency'),
    ],
  });
}

function phaseLayer(uid: string, runId: string) {
  return new dataLayers.AnnotationsDataLayer({
    name: t('percentiles.phases', 'Phases'),
    isEnabled: true,
    query: {
      name: 'phases',
      enable: true,
      iconColor: 'blue',
      datasource: { type: RUNS_DATASOURCE_ID, uid },
      target: { refId: 'Anno', queryType: 'annotations', regions: ['phase'], runId } as never,
    },
  });
}
