import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { knownMetrics } from '../../prometheus/known-metrics.ts';
import { withNativeHistograms } from '../../prometheus/native-histograms.ts';

const SUFFIX = '-native';
const NOTE =
  'For a Prometheus 3 that stores native histograms, classic ones, or both. Where only native ones are stored, a share of ' +
  'values within an objective is interpolated unless the objective is a bucket bound.';

/** The dashboard with queries that read either kind of histogram, under a uid, a title and a tag of its own. */
export function nativeVariant(dashboard: Dashboard): Dashboard {
  const known = knownMetrics();
  const json = JSON.stringify(dashboard, (key, value: unknown) =>
    key === 'expr' && typeof value === 'string' ? withNativeHistograms(value, known) : value,
  );
  const variant = JSON.parse(withOwnLinks(json)) as Dashboard;
  return {
    ...variant,
    uid: `${dashboard.uid ?? ''}${SUFFIX}`,
    title: `${dashboard.title ?? ''}, native histograms`,
    description: `${dashboard.description ?? ''}. ${NOTE}`,
    tags: (dashboard.tags ?? []).map((tag) => `${tag}${SUFFIX}`),
    links: (dashboard.links ?? []).map((link) => ({ ...link, tags: link.tags.map((tag) => `${tag}${SUFFIX}`) })),
  };
}

/** Links to other dashboards lead to those of the same set. */
function withOwnLinks(json: string): string {
  return json.replaceAll(/\/d\/(llmbench[a-z-]*)/g, `/d/$1${SUFFIX}`);
}
