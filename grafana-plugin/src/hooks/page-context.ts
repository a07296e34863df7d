import type { TimeRange } from '@grafana/data';
import type { SceneObject } from '@grafana/scenes';
import type { TimeZone } from '@grafana/schema';
import { createContext, useContext, type ReactNode } from 'react';
import { config } from '@grafana/runtime';
import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import type { TimeSpan } from '../prometheus/query-prometheus.ts';

/** The data sources and the time range of a page, both from its URL. */
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
  setTime: (time: RunTime | TimeRange) => void;
  /** Replaces the title of the page and the line below it. */
  setTitle: (title: string, subTitle: ReactNode) => void;
  /** Scene objects that are part of the page's scene. */
  content: SceneObject | undefined;
  /** Adds scene objects to the page's scene; undefined removes them. */
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

/** Milliseconds since 1970; a run that lasts ends now, whenever that is. */
export interface RunTime {
  from: number;
  to: number | 'now';
}

export interface CurrentUser {
  login: string;
  /** Whether Grafana lets the user change things, as its proxy checks again on its server. */
  isEditor: boolean;
  mayAddDataSources: boolean;
}

/** Who is signed in to Grafana. */
export function currentUser(): CurrentUser {
  const { login, orgRole, isGrafanaAdmin, permissions } = config.bootData.user;
  const isAdmin = isGrafanaAdmin || orgRole === 'Admin';
  return {
    login,
    isEditor: isAdmin || orgRole === 'Editor',
    mayAddDataSources: permissions?.['datasources:create'] ?? isAdmin,
  };
}
