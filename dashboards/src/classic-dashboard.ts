import type { AnnotationQuery, Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';

/** The newest schema that Grafana 10.4 knows; later ones migrate it when they load it. */
const SCHEMA_VERSION = 39;

/** A dashboard as the file that Grafana 10.4 to 13 provision: what a later schema brought is taken out. */
export function classicJson(dashboard: Dashboard): string {
  const annotations = (dashboard.annotations.list ?? []).map((annotation) => {
    const known: Partial<AnnotationQuery> = { ...annotation };
    delete known.placement;
    return known;
  });
  const classic = { ...dashboard, id: null, schemaVersion: SCHEMA_VERSION, annotations: { list: annotations } };
  return `${JSON.stringify(classic, null, 2)}\n`;
}
