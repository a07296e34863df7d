import {
  dataLayers,
  SceneDataLayerSet,
  SceneFlexItem,
  SceneFlexLayout,
  SceneQueryRunner,
  VizPanel,
} from '@grafana/scenes';
import { measureName } from '../../components/measure-name.ts';
import { PROMETHEUS_ID, RUNS_DATASOURCE_ID } from '../../constants.ts';
import type { RegionKind } from '../../datasources/runs/types.ts';
import { rawHistogram } from '../../prometheus/native-queries.ts';
import type { ShownLatency } from '../../runs/latencies.ts';
import { t } from '../../text.ts';

const PANEL_ID = 'llmbench-percentiles-panel';

interface PanelsOptions {
  /** Uid of the Prometheus data source. */
  prometheus: string;
  /** Uid of the runs data source, which provides the phases; null where there is none. */
  exporterUid: string | null;
  runId: string;
  /** Whether its load has stages, which are drawn instead of the phases. */
  hasStages: boolean;
  latencies: readonly ShownLatency[];
}

/** One of the app's panels for each latency of a run, with its phases or stages as regions. */
export function percentilePanels(options: PanelsOptions): SceneFlexLayout {
  const { prometheus, exporterUid, runId, hasStages, latencies } = options;
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
              expr: rawHistogram(`llmbench_${histogram}_seconds`, `run_id=${JSON.stringify(runId)}`),
              format: 'time_series',
              range: true,
            },
          ],
        }),
      }),
    });
  return new SceneFlexLayout({
    direction: 'row',
    $data: new SceneDataLayerSet({
      layers: exporterUid === null ? [] : [regionLayer(exporterUid, runId, hasStages ? 'stage' : 'phase')],
    }),
    children: latencies.map((latency) =>
      panel(t('percentiles.client', '{{measure}}, client', { measure: measureName(latency) }), latency)
    ),
  });
}

function regionLayer(uid: string, runId: string, kind: RegionKind) {
  return new dataLayers.AnnotationsDataLayer({
    name: kind === 'stage' ? t('percentiles.stages', 'Stages') : t('percentiles.phases', 'Phases'),
    isEnabled: true,
    query: {
      name: kind,
      enable: true,
      iconColor: 'blue',
      datasource: { type: RUNS_DATASOURCE_ID, uid },
      target: { refId: 'Anno', queryType: 'annotations', regions: [kind], runId } as never,
    },
  });
}
