import type { TimeRange } from '@grafana/data';
import type { SceneObject } from '@grafana/scenes';
import type { TimeZone } from '@grafana/schema';
import { createContext, useContext } from 'react';
import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import type { RunTime } from '../components/run-link.ts';
import type { TimeSpan } from '../prometheus/query-prometheus.ts';

/** What a page is drawn with: the chosen data sources and the time, all of it from the page's address. */
export interface PageContextValue {
  /** Uid of the Prometheus data source; null when Grafana has none. */
  prometheus: string | null;
  /** The exporter behind the chosen data source; null when Grafana has none. */
  exporter: ExporterApi | null;
  exporterUid: string | null;
  timeRange: TimeRange;
  /** The same in milliseconds since 1970; a new object when the page is refreshed. */
  time: TimeSpan;
  timeZone: TimeZone;
  setTime: (time: RunTime) => void;
  /** Scene objects that were made part of the page's scene. */
  content: SceneObject | undefined;
  /** Makes scene objects part of the page's scene; undefined takes them out. */
  setContent: (content: SceneObject | undefined) => void;
}

export const PageContext = createContext<PageContextValue | null>(null);

export function usePage(): PageContextValue {
  const page = useContext(PageContext);
  if (page === null) {
    throw new Error('outside of a page');
  }
  return page;
}
