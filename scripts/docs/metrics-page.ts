import { quantities } from '../../catalog/equivalents.ts';
import { catalogs } from '../../catalog/load.ts';
import { serverFamily } from '../../exporter/publish/server-family.ts';
import { ruleFiles } from '../../prometheus/known-metrics.ts';
import { code, GENERATED, page, table } from './markdown.ts';
import { meaningOf, publishedFamilies, type PublishedFamily } from './own-families.ts';

/** Every metric family that llmbench publishes, read from the pages that it serves. */
export async function metricsPage(): Promise<string> {
  const { live, finished } = await publishedFamilies();
  const labels = [...new Set([...live, ...finished].flatMap((family) => family.labels))];
  return page(
    GENERATED,
    '# Metrics',
    INTRODUCTION,
    '## A run that is under way',
    'Served by `llmbench run`, and sent by `--remote-write-url`. Every series exists at 0 before the first request; histograms hold the measure phase alone. `llmbench_good_requests_total` is there only with `--goodput`, `llmbench_run_info` only on shard 0.',
    familyTable(live),
    '## Finished runs',
    'Served by `llmbench serve`; written with their times by `llmbench backfill`. Histograms are rebuilt from the records, for the newest runs (`--histogram-runs`).',
    familyTable(finished),
    '## What the servers said in the run',
    SERVERS,
    serverTable(),
    '### The quantities',
    table(
      ['quantity', 'definition', 'unit', 'one observation per'],
      quantities().map(({ quantity, definition, unit, per }) => [code(quantity), definition, unit, per ?? '–']),
    ),
    '## Labels',
    table(
      ['label', 'what it says'],
      labels.map((label) => [code(label), meaningOf(label)]),
    ),
    '## Recording rules',
    'In [prometheus/rules](../../prometheus/rules): the same names for all systems, so that a panel can lay them over each other. `rate1m` is the rate over a minute.',
    table(['series', 'written for'], recordedSeries()),
    '## Alerts',
    'In [prometheus/alerts](../../prometheus/alerts); each has a page that says what to do.',
    table(['alert', 'what it says'], alerts()),
  );
}

const INTRODUCTION =
  'Names and types as the text format 0.0.4 has them; with OpenMetrics negotiated only the form differs. A value that is not known has no series: missing is not zero. How to query them: [prometheus.md](prometheus.md).';

const SERVERS = `\`llmbench_server_<family>\` is what the collector computed of a server's own family for exactly the measure phase, with the labels \`run_id\`, \`system\` and \`target\` and those of the server (one that would be ours becomes \`exported_…\`):

- a counter's increase, as a counter that began at 0;
- a gauge's mean over time and its maximum, under the label \`stat\`;
- a histogram's difference between the two ends, as a histogram, and beside it \`…_quantile\` with the labels \`quantile\` (0.5, 0.9, 0.95, 0.99) and \`bound\`: \`estimate\` is Prometheus' \`histogram_quantile\`, and the true value lies between \`low\` and \`high\`.

Times are in seconds and sizes in bytes whatever the server exposes. By default these families are published; \`serve\` and \`backfill\` add others with \`--republish GLOB\`.`;

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
  return table(['system', "server's family", 'published as', 'quantity', 'where it differs'], rows);
}

/** The names that rules record, each with the systems whose rules do. */
function recordedSeries(): string[][] {
  const files = new Map<string, string[]>();
  for (const [file, rules] of ruleFiles('rules')) {
    const names = new Set(rules.flatMap(({ record }) => record ?? []));
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file.replace(/\.yml$/, '')]);
  }
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, systems]) => [code(name), systems.join(', ')]);
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
const withoutTemplates = (text: string): string => text.replace(/\{\{ \$labels\.(\w+) \}\}/g, '`<$1>`');
