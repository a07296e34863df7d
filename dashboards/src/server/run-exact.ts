import { quantities } from '../../../catalog/equivalents.ts';
import { serverFamily } from '../../../core/measures/server-family.ts';
import { runMatcher, withRunName } from '../../../prometheus/queries.ts';
import { SELECTED_RUNS } from '../queries/client.ts';
import type { Family } from './families.ts';
import type { Signal } from './signal.ts';

/** What is wanted of a family over exactly the measure phase of the chosen runs. */
export interface RunExact {
  readonly family: Family;
  /** Matchers on the server's own labels. */
  readonly matchers: readonly string[];
  /** The labels that are kept apart. */
  readonly keep: readonly string[];
  /** Legend of the same over the time range. */
  readonly legend: string;
}

type OfRun = NonNullable<Signal['ofRun']>;

/** The host and port in the address of a page, which is the instance of its series. */
const INSTANCE = 'https?://([^/]+).*';

/** A counter's increase; null: `llmbench serve` does not publish it as the server exposes it. */
export function increaseOfRun(wanted: RunExact): OfRun | null {
  const { family, keep, legend } = wanted;
  if (family.type !== 'counter' || !isPublished(family)) return null;
  const { name, factor } = serverFamily(family.name, 'counter', family.unit);
  const sum = `sum by (${['run_id', ...keep].join(', ')}) (${ofRun(name, wanted)})`;
  return named(factor === 1 ? sum : `${sum} * ${1 / factor}`, legend);
}

/** A percentile as Prometheus estimates it: one for each process, as percentiles are not added. */
export function percentileOfRun(wanted: RunExact, quantile: number): OfRun | null {
  const { family, legend } = wanted;
  if (family.type !== 'histogram' || !isPublished(family)) return null;
  const { name, factor } = serverFamily(family.name, 'histogram', family.unit);
  const series = ofRun(`${name}_quantile`, wanted, [`quantile="${quantile}"`, 'bound="estimate"']);
  return named(factor === 1 ? series : `${series} * ${1 / factor}`, legend);
}

/** What is shown over the time range, where nothing is published of a chosen run of the same server. */
export function unlessOfRun(expr: string, { series }: OfRun): string {
  return `(${expr}) unless on (instance) ${series}`;
}

/** All series of the family, as they are. */
function isPublished({ name }: Family): boolean {
  const members = quantities().flatMap(({ families }) => families.filter(({ family }) => family === name));
  return members.length > 0 && members.some(({ labels }) => labels === undefined);
}

/** Series of the chosen instances; several jobs and exporters may have published the same. */
function ofRun(metric: string, { family, matchers }: RunExact, more: readonly string[] = []): string {
  const chosen = [runMatcher(SELECTED_RUNS), 'target=~"https?://($instance)(/.*)?"', ...matchers, ...more].join(',');
  const labels = ['run_id', 'target', ...family.allLabels].join(', ');
  const once = `max by (${labels}) (last_over_time(${metric}{${chosen}}[$__range]))`;
  return `label_replace(${once}, "instance", "$1", "target", "${INSTANCE}")`;
}

function named(series: string, legend: string): OfRun {
  const query = { expr: withRunName(series, SELECTED_RUNS), legend: `${legend}, run {{start}}`, perRun: true } as const;
  return { query, series };
}
