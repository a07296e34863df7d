import { quantities, quantitiesOf } from '../../catalog/equivalents.ts';
import { catalogs } from '../../catalog/load.ts';
import { systemsOfNames } from '../../catalog/lookup.ts';
import type { Catalog } from '../../catalog/types.ts';
import { serverFamily } from '../../core/measures/names.ts';
import { ruleFiles } from '../../prometheus/known-metrics.ts';
import { code, GENERATED, page, table } from './markdown.ts';
import { meaningOf, publishedFamilies, type PublishedFamily } from './own-families.ts';

/** Every metric family that llmbench publishes, read from the pages that it serves. */
export async function metricsPage(): Promise<string> {
  const { live, finished, probe } = await publishedFamilies();
  const labels = [...new Set([...live, ...finished, ...probe].flatMap((family) => family.labels))];
  return page(
    GENERATED,
    '# Metrics',
    INTRODUCTION,
    '## Live runs',
    'Exposed by `llmbench run`, and sent with `--remote-write-url`. Every series exists at 0 before the first request; histograms contain the measure phase only. `llmbench_good_requests_total` requires `--goodput`, `llmbench_run_stage` and its times `--stages`, `llmbench_run_info` is exposed by shard 0 only. `llmbench_run_target_info` has a series for each metrics page from when it was first read.',
    familyTable(live),
    '## Finished runs',
    'Exposed by `llmbench serve`, and written with their original timestamps by `llmbench backfill`, which also writes `llmbench_run_phase` and its start and end times, so that dashboards draw the regions of imported runs. By default, `serve` exposes the statistics that dashboards, alerts and the app query, and no histograms; `--result-series all` exposes everything, with histograms computed from the records of the newest runs (`--histogram-runs`).',
    familyTable(finished),
    '## Probes',
    'Exposed by `/probe?scenario=…` of `llmbench serve --allow-runs`, for the statistics that dashboards, alerts and the app query of finished runs. They have no label of the run: each probe continues the same series.',
    familyTable(probe),
    '## Server metrics of a run',
    SERVERS,
    serverTable(),
    '### The quantities',
    table(
      ['quantity', 'definition', 'unit', 'one observation per'],
      quantities().map(({ quantity, definition, unit, per }) => [code(quantity), definition, unit, per ?? '–']),
    ),
    '## Options that set histogram bounds',
    BUCKETS,
    table(['system', 'option', 'families'], bucketOptions()),
    '## Labels',
    table(
      ['label', 'meaning'],
      labels.map((label) => [code(label), meaningOf(label)]),
    ),
    '## Recording rules',
    'In [prometheus/rules](../../prometheus/rules): the same names for all systems, so that a panel can show them together. `rate` is the rate over four minutes, for [scrape intervals](prometheus.md#scrape-interval) up to a minute. `objective:…` are the objectives of alerts and dashboards, to be changed in `rules/objectives.yml`.',
    table(['series', 'systems'], recordedSeries()),
    '## Alerts',
    'In [prometheus/alerts](../../prometheus/alerts); each links to a runbook.',
    table(['alert', 'meaning'], alerts()),
  );
}

const INTRODUCTION =
  'Names and types are those of the text format 0.0.4; OpenMetrics differs only in syntax. An unknown value has no series: missing is not zero. How to query them: [prometheus.md](prometheus.md).';

const SERVERS = `\`llmbench_server_<family>\` is a server's own family over exactly the measure phase, as the collector computed it. It has the labels \`run_id\`, \`system\` and \`target\` and the server's labels (one with the same name as these becomes \`exported_…\`):

- the increase of a counter, as a counter that started at 0;
- the mean over time and the maximum of a gauge, under the label \`stat\`;
- the difference of a histogram between start and end, as a histogram, and in addition \`…_quantile\` with the labels \`quantile\` (0.5, 0.9, 0.95, 0.99) and \`bound\`: \`estimate\` is Prometheus' \`histogram_quantile\`, and the true value lies between \`low\` and \`high\`.

Times are in seconds and sizes in bytes, independent of the server's units. By default these families are published; \`serve\` and \`backfill\` add others with \`--republish GLOB\`.`;

const BUCKETS =
  'Of the systems that are not listed it is not known whether they have such an option. `llmbench buckets` shows which bounds a server needs, with the setting to copy.';

function bucketOptions(): string[][] {
  return catalogs().flatMap(({ title, bucket_options: options }) => {
    if (options === undefined) return [];
    if (options.length === 0) return [[title, 'none', 'all: fixed in the source']];
    return options.map(({ name, since, sets }) => [
      title,
      `${code(name)}${since === undefined ? '' : ` (${since})`}`,
      sets.flatMap(({ families }) => families.map(code)).join(' '),
    ]);
  });
}

function familyTable(families: readonly PublishedFamily[]): string {
  return table(
    ['family', 'type', 'labels', 'meaning'],
    families.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(' '), help]),
  );
}

function serverTable(): string {
  const rows = quantities().flatMap(({ quantity, families }) =>
    families.map(({ system, family, note }) => {
      const known = catalogs()
        .find((catalog) => catalog.system === system)
        ?.families.find(({ name }) => name === family);
      const type = known?.type ?? 'gauge';
      const { name } = serverFamily(
        family,
        type === 'counter' || type === 'histogram' ? type : 'gauge',
        known?.unit ?? null,
      );
      return [system, code(family), code(name), code(quantity), note ?? ''];
    }),
  );
  return table(['system', "server's family", 'published as', 'quantity', 'differences'], rows);
}

/** The names that rules record, each with the systems whose rules do. */
function recordedSeries(): string[][] {
  const files = new Map<string, string[]>();
  for (const [file, rules] of ruleFiles('rules')) {
    const names = new Set(rules.flatMap(({ record }) => record ?? []));
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file.replace(/\.yml$/, '')]);
  }
  const ofSystems = (names: readonly string[]): string =>
    names.filter((name) => name !== 'objectives').join(', ') || '–';
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, systems]) => [code(name), ofSystems(systems)]);
}

function alerts(): string[][] {
  return ruleFiles('alerts').flatMap(([, rules]) =>
    rules.flatMap(({ alert, annotations }) =>
      alert === undefined
        ? []
        : [[`[${alert}](../runbooks/${alert}.md)`, withoutTemplates(annotations?.['summary'] ?? '')]],
    ),
  );
}

/** `{{ $labels.instance }}` becomes `<instance>`. */
const withoutTemplates = (text: string): string => text.replace(/\{\{ \$labels\.(\w+)[^}]* \}\}/g, '`<$1>`');

/** What the Grafana app must know of the catalogs: the histogram families, and the options that set their bounds. */
export function histogramFamilies(): object {
  const all = catalogs().filter(({ format, families }) => format !== 'json' && families.some(isHistogram));
  const order = systemsOfNames(all.flatMap(({ detect, detect_with = [] }) => [...detect, ...detect_with]));
  return {
    systems: all
      .toSorted((a, b) => rank(order, a) - rank(order, b))
      .map((catalog) => ({
        system: catalog.system,
        title: catalog.title,
        detect: catalog.detect,
        detect_with: catalog.detect_with ?? null,
        detect_without: catalog.detect_without ?? null,
        presence: presenceOf(catalog),
        bucket_options: catalog.bucket_options ?? null,
        bucket_options_unknown: catalog.bucket_options_unknown ?? [],
        families: catalog.families.filter(isHistogram).map(({ name, unit, per, help }) => ({
          name,
          unit,
          per: per ?? null,
          help,
          quantity: quantitiesOf(catalog.system, name)[0]?.quantity ?? null,
        })),
      })),
  };
}

const isHistogram = ({ type }: Catalog['families'][number]): boolean => type === 'histogram';

/** Gateways before engines; those that the detection leaves out of a page with all names come last. */
function rank(order: readonly string[], { system }: Catalog): number {
  const position = order.indexOf(system);
  return position < 0 ? order.length : position;
}

/** Beginnings of names of histograms by which servers are found: whole names where the system has no prefix. */
function presenceOf({ detect, families }: Catalog): readonly string[] {
  const names = families.filter(isHistogram).map(({ name }) => name);
  const prefixes = detect.filter((prefix) => names.some((name) => name.startsWith(prefix)));
  return prefixes.length > 0 ? prefixes : names;
}
