import { getDataSourceSrv } from '@grafana/runtime';
import { VariableHide } from '@grafana/schema';
import {
  DataSourceVariable,
  SceneVariableSet,
  sceneGraph,
  SceneObjectBase,
  type SceneComponentProps,
  type SceneObject,
  type SceneObjectState,
} from '@grafana/scenes';
import { css } from '@emotion/css';
import { dateTime } from '@grafana/data';
import { LoadingPlaceholder } from '@grafana/ui';
import React, { Suspense, useCallback, useMemo, type ComponentType } from 'react';
import { PROMETHEUS_ID, RUNS_DATASOURCE_ID } from '../constants.ts';
import { ExporterApi } from '../exporter-api/exporter-api.ts';
import { PageContext, type PageContextValue } from '../hooks/page-context.ts';
import { t } from '../text.ts';

const PROMETHEUS_VARIABLE = 'prometheus';
const EXPORTER_VARIABLE = 'exporter';

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

/** As wide as the scene, independent of its content. */
const PAGE = css({ flex: 1, minWidth: 0 });

interface PageBodyState extends SceneObjectState {
  /** Draws the page; usually loaded when it is first needed. */
  view: ComponentType;
  /** Scene objects that the view draws itself: they find the scene's time range through here. */
  content?: SceneObject | undefined;
  /** Replaces the title of the page; a page with a fixed title has none. */
  setTitle?: PageContextValue['setTitle'];
}

/** The body of a scene: gives the page's React components the scene's time range and data sources. */
export class PageBody extends SceneObjectBase<PageBodyState> {
  static Component = PageBodyView;
}

function PageBodyView({ model }: SceneComponentProps<PageBody>) {
  const { view: View } = model.useState();
  return (
    <PageContext.Provider value={usePageContextValue(model)}>
      <Suspense fallback={<LoadingPlaceholder text="" />}>
        <div className={PAGE}>
          <View />
        </div>
      </Suspense>
    </PageContext.Provider>
  );
}

function usePageContextValue(model: PageBody): PageContextValue {
  const sceneTime = sceneGraph.getTimeRange(model);
  const { value: timeRange, timeZone } = sceneTime.useState();
  const prometheus = useDataSource(model, PROMETHEUS_VARIABLE);
  const exporterUid = useDataSource(model, EXPORTER_VARIABLE);
  const exporter = useMemo(() => {
    const url = exporterUid === null ? undefined : getDataSourceSrv().getInstanceSettings(exporterUid)?.url;
    return url === undefined ? null : new ExporterApi(url);
  }, [exporterUid]);
  const time = useMemo(() => ({ from: timeRange.from.valueOf(), to: timeRange.to.valueOf() }), [timeRange]);
  const setTime = useCallback<PageContextValue['setTime']>(
    (next) => {
      if ('raw' in next) {
        sceneTime.onTimeRangeChange(next);
        return;
      }
      const { from, to } = next;
      const [start, end] = [dateTime(from), to === 'now' ? dateTime() : dateTime(to)];
      sceneTime.onTimeRangeChange({ from: start, to: end, raw: { from: start, to: to === 'now' ? 'now' : end } });
    },
    [sceneTime]
  );
  const { content, setTitle = keepTitle } = model.useState();
  const setContent = useCallback<PageContextValue['setContent']>((next) => model.setState({ content: next }), [model]);
  return useMemo(
    () => ({
      prometheus,
      exporter,
      exporterUid,
      timeRange,
      time,
      timeZone: timeZone ?? 'browser',
      setTime,
      setTitle,
      content,
      setContent,
    }),
    [prometheus, exporter, exporterUid, timeRange, time, timeZone, setTime, setTitle, content, setContent]
  );
}

const keepTitle: PageContextValue['setTitle'] = () => undefined;

/** The uid that the variable has, null when there is no such data source. */
function useDataSource(model: SceneObject, name: string): string | null {
  const variable = sceneGraph.lookupVariable(name, model);
  if (!(variable instanceof DataSourceVariable)) {
    throw new Error(`no variable ${name}`);
  }
  const { value } = variable.useState();
  return typeof value === 'string' && value !== '' ? value : null;
}
