import {
  EmbeddedScene,
  SceneControlsSpacer,
  SceneRefreshPicker,
  SceneTimePicker,
  SceneTimeRange,
  VariableValueSelectors,
} from '@grafana/scenes';
import type { ComponentType, ReactNode } from 'react';
import { PageBody } from './PageBody.tsx';
import { pageVariables } from './page-variables.ts';

interface PageSceneOptions {
  view: ComponentType;
  /** Grafana's text of the time range's beginning; null: the page has nothing to do with time. */
  from?: string | null;
  /** How often the page is refreshed when it is opened; empty for not, and a page without time then offers no refresh. */
  refresh?: string;
  /** Replaces the title of the page and the line below it. */
  setTitle?: (title: string, subTitle: ReactNode) => void;
}

/** Time range, data sources and refresh as on a dashboard, and the page's own view under them. */
export function pageScene({ view, from = 'now-6h', refresh = '', setTitle }: PageSceneOptions): EmbeddedScene {
  return new EmbeddedScene({
    $timeRange: new SceneTimeRange({ from: from ?? 'now-6h', to: 'now' }),
    $variables: pageVariables(),
    controls: [
      new VariableValueSelectors({}),
      new SceneControlsSpacer(),
      ...(from === null ? [] : [new SceneTimePicker({ isOnCanvas: true })]),
      ...(from === null && refresh === ''
        ? []
        : [new SceneRefreshPicker({ isOnCanvas: true, refresh, intervals: ['5s', '10s', '30s', '1m', '5m'] })]),
    ],
    body: new PageBody({ view, ...(setTitle && { setTitle }) }),
  });
}
