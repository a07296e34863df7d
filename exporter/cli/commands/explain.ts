import { catalogs } from '../../../catalog/load.ts';
import { findFamilies } from '../../../catalog/lookup.ts';
import { explainFamily, readUses, familyText } from '../../explain/family-explanation.ts';
import { fetchLivePage } from '../../explain/live-page.ts';
import { nearestNames } from '../../../core/text/nearest-names.ts';
import {
  ownFamily,
  ownFamilyNames,
  ownFamilyText,
  REPUBLISHED,
  republishedFamilies,
  ownMetric,
  ownMetricText,
} from '../../explain/own-family.ts';
import { pageReport, pageText } from '../../explain/page-report.ts';
import { wrapped } from '../../../core/text/words.ts';
import { readPageAccess } from '../../servers/scrape/targets.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { flag, text, type OptionValues } from '../options/options.ts';
import { PAGE_CREDENTIAL_OPTIONS, pageCredentials } from '../options/server-options.ts';
import { PROXY_OPTIONS, TLS_OPTIONS, tlsFiles } from '../options/tls-options.ts';

export const OPTIONS = {
  url: text('URL', 'explain the metrics page at this URL', null),
  ...PAGE_CREDENTIAL_OPTIONS,
  ...TLS_OPTIONS,
  ...PROXY_OPTIONS,
  json: flag('print JSON'),
};

const EXAMPLES = [
  'llmbench explain vllm:time_to_first_token_seconds',
  'llmbench explain nv_inference_queue_duration_us --json',
  'llmbench explain llmbench_requests_total',
  'llmbench explain ttft',
  'llmbench explain --url http://localhost:8000/metrics',
];

const USAGE = 'llmbench explain METRIC | --url URL [options]';

/** Line width when stdout is not a terminal. */
const COLUMNS = 120;

export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'METRIC', max: 1 } },
  async ({ options: values, positionals, given }) => {
    const [metric] = positionals;
    if (metric === '') throw new CliError(`METRIC is empty; usage: ${USAGE}`);
    if (metric !== undefined && given.get('url')?.source !== '--url') return explainMetric(metric, values.json);
    if (metric !== undefined) throw new CliError('METRIC and --url are mutually exclusive');
    if (values.url === null) throw new CliError(`METRIC or --url is required; usage: ${USAGE}`);
    return explainPage(values.url, values);
  },
);

async function explainMetric(metric: string, json: boolean): Promise<number> {
  const own = ownFamily(metric);
  if (own !== null) return printExplanation(own, json, () => ownFamilyText(own, columns()));
  const republished = republishedFamilies(metric);
  const matches = republished.length > 0 ? republished : findFamilies(metric);
  if (matches.length === 0) {
    const measure = ownMetric(metric);
    if (measure === null && /^https?:\/\//i.test(metric))
      throw new CliError('METRIC is a URL; to explain the metrics page there, pass it with --url');
    if (measure === null) throw new CliError(`${metric} is in no catalog${suggestion(metric)}`);
    return printExplanation(measure, json, () => ownMetricText(measure));
  }
  const root = new URL('../../../', import.meta.url);
  const uses = await readUses(new URL('dashboards/', root), new URL('prometheus/rules/', root));
  const explanations = matches.map((match) => explainFamily(match, uses));
  const head =
    republished.length === 0
      ? []
      : [[metric, ...wrapped(REPUBLISHED, columns() - 2).map((line) => `  ${line}`), ''].join('\n')];
  return printExplanation(explanations, json, () =>
    [...head, ...explanations.map((explanation) => familyText(explanation, columns()))].join('\n'),
  );
}

function printExplanation(explained: unknown, json: boolean, text: () => string): number {
  process.stdout.write(json ? `${JSON.stringify(explained, null, 2)}\n` : text());
  return ExitCode.done;
}

function suggestion(metric: string): string {
  const names = catalogs().flatMap(({ families }) => families.map(({ name }) => name));
  const nearest = nearestNames(metric, [...ownFamilyNames(), ...names], 3);
  return nearest.length === 0 ? '' : `; similar names: ${nearest.join(', ')}`;
}

async function explainPage(given: string, values: OptionValues<typeof OPTIONS>): Promise<number> {
  const url = pageUrl(given);
  const access = await readPageAccess(pageCredentials(values), tlsFiles(values), process.env);
  const { url: found, page, remarks } = await fetchLivePage(url, access);
  for (const remark of remarks) process.stderr.write(`${remark}\n`);
  const { origin, pathname } = new URL(found);
  const report = pageReport(page);
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ url: origin + pathname, remarks, ...report }, null, 2)}\n`
      : pageText(origin + pathname, report, columns()),
  );
  return ExitCode.done;
}

/** `host:port` means http, and no path means `/metrics`. */
function pageUrl(given: string): URL {
  const url = URL.parse(/^[a-z][a-z+.-]*:\/\//i.test(given) ? given : `http://${given}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new CliError(`--url is not an http address: ${given}`);
  if (url.pathname === '/') url.pathname = '/metrics';
  return url;
}

const columns = (): number => Math.max(60, process.stdout.columns ?? COLUMNS);
