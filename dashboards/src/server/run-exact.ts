import { quantities } from '../../../catalog/equivalents.ts';
import { serverFamily } from '../../../core/measures/names.ts';
import { runMatcher } from '../../../prometheus/queries.ts';
import { SELECTED_RUNS } from '../queries/client.ts';
import type { Family } from './families.ts';

/** The host and port in the address of a page, which is the instance of its series. */
const INSTANCE = 'https?://([^/]+).*';

/**
 * A counter's increase over exactly the measure phases of the chosen runs, by instance; null: `llmbench serve` does not publish
 * it as the server exposes it. `matchers` are on the server's own labels.
 */
export function increaseOfRun(family: Family, matchers: readonly string[]): string | null {
  if (family.type !== 'counter' || !isPublished(family)) return null;
  const { name, factor } = serverFamily(family.name, 'counter', family.unit);
  const sum = `sum by (instance) (${ofRun(name, family, matchers)})`;
  return factor === 1 ? sum : `${sum} * ${1 / factor}`;
}

/** A percentile as Prometheus estimates it. Percentiles are not added: the highest of several runs and processes. */
export function percentileOfRun(family: Family, matchers: readonly string[], quantile: number): string | null {
  if (family.type !== 'histogram' || !isPublished(family)) return null;
  const { name, factor } = serverFamily(family.name, 'histogram', family.unit);
  const estimate = [`quantile="${quantile}"`, 'bound="estimate"'];
  const highest = `max by (instance) (${ofRun(`${name}_quantile`, family, [...matchers, ...estimate])})`;
  return factor === 1 ? highest : `${highest} * ${1 / factor}`;
}

/** All series of the family, as they are. */
function isPublished({ name }: Family): boolean {
  const members = quantities().flatMap(({ families }) => families.filter(({ family }) => family === name));
  return members.length > 0 && members.some(({ labels }) => labels === undefined);
}

/** Series of the chosen instances; several jobs and exporters may have published the same. */
function ofRun(metric: string, { allLabels }: Family, matchers: readonly string[]): string {
  const chosen = [runMatcher(SELECTED_RUNS), 'target=~"https?://($instance)(/.*)?"', ...matchers].join(',');
  const labels = ['run_id', 'target', ...allLabels].join(', ');
  const once = `max by (${labels}) (last_over_time(${metric}{${chosen}}[$__range]))`;
  return `label_replace(${once}, "instance", "$1", "target", "${INSTANCE}")`;
}
