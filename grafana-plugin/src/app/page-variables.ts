import { t } from '@grafana/i18n';
import { getDataSourceSrv } from '@grafana/runtime';
import { VariableHide } from '@grafana/schema';
import { DataSourceVariable, SceneVariableSet } from '@grafana/scenes';
import { PROMETHEUS_ID, RUNS_DATASOURCE_ID } from '../constants/plugin.ts';

export const PROMETHEUS_VARIABLE = 'prometheus';
export const EXPORTER_VARIABLE = 'exporter';

/** The two data sources; a choice is offered where there is one. */
export function pageVariables(): SceneVariableSet {
  return new SceneVariableSet({
    variables: [
      dataSourceVariable(PROMETHEUS_VARIABLE, t('variable.prometheus', 'Prometheus'), PROMETHEUS_ID),
      dataSourceVariable(EXPORTER_VARIABLE, t('variable.exporter', 'Runs from'), RUNS_DATASOURCE_ID),
    ],
  });
}

function dataSourceVariable(name: string, label: string, pluginId: string): DataSourceVariable {
  const found = getDataSourceSrv().getList({ metrics: true, variables: false, pluginId });
  return new DataSourceVariable({
    name,
    label,
    pluginId,
    hide: found.length > 1 ? VariableHide.dontHide : VariableHide.hideVariable,
    ...(found[0] && { value: (found.find(({ isDefault }) => isDefault) ?? found[0]).uid }),
  });
}
