import { ownValue } from '../../../core/text/nearest-names.ts';
import { readPageAccess, type PageAccess } from '../../servers/scrape/targets.ts';
import { CliError } from '../failure.ts';
import { number, text, texts, type Option, type OptionValues } from './options.ts';
import { scrapeHeaders } from './server-options.ts';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of a length of time such as `5m`; undefined: it is none. */
function secondsOf(given: string): number | undefined {
  const [, length, unit = ''] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(given) ?? [];
  const seconds = ownValue(SECONDS, unit);
  return seconds && Number(length) * seconds;
}

/**
 * A moment: RFC 3339, a Unix time in seconds, `now`, or a duration such as `90m` before `now`. Throws an `Error` that says
 * what is expected.
 */
function parseInstant(given: string, now: Date): Date {
  if (given === 'now') return now;
  const ago = secondsOf(given);
  if (ago !== undefined) return new Date(now.getTime() - ago * 1000);
  if (/^\d{9,11}(\.\d+)?$/.test(given)) return new Date(Number(given) * 1000);
  const time = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(given) ? Date.parse(given) : NaN;
  if (Number.isNaN(time))
    throw new Error(
      'a time with a zone such as 2026-11-27T09:00:00Z, a Unix time, or a duration before now such as 2h',
    );
  return new Date(time);
}

export const instant = (help: string): Option<Date | null> => ({
  help,
  value: 'TIME',
  parse: (given) => parseInstant(given.at(-1) ?? '', new Date()),
  fallback: null,
});

/** Seconds of a length of time such as `5m`; null: not given. */
export const duration = (help: string): Option<number | null> => ({
  help,
  value: 'TIME',
  parse: ([given = '']) => {
    const seconds = secondsOf(given) ?? 0;
    if (seconds < 1) throw new Error('a length of at least a second, such as 5m');
    return seconds;
  },
  fallback: null,
});

/** How a Prometheus is reached. */
export const PROMETHEUS_ACCESS_OPTIONS = {
  'prometheus-header': texts('NAME:VALUE', 'header of each request to it, such as X-Scope-OrgID:team; may be repeated'),
  'prometheus-bearer-env': text('VARIABLE', 'environment variable that holds a bearer token for it', null),
  'prometheus-tls-ca': text('FILE', 'trusted CA certificates of it (PEM)', null),
};

/** Throws a `CliError` for headers, and a `ConfigurationError` for a variable or a file, that cannot be used. */
export async function prometheusAccess(options: OptionValues<typeof PROMETHEUS_ACCESS_OPTIONS>): Promise<PageAccess> {
  const headers = scrapeHeaders(options['prometheus-header'], '--prometheus-header');
  const caFile = options['prometheus-tls-ca'];
  const tls = { caFile, certFile: null, keyFile: null, serverName: null, insecure: false };
  const credentials = { headers, bearerVariable: options['prometheus-bearer-env'] };
  return readPageAccess(credentials, tls, process.env, '--prometheus-bearer-env');
}

/** Throws a `CliError`. */
export function checkPrometheusUrl(option: string, url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CliError(`${option} must be an http or https address, for example http://prometheus:9090`);
}

/** Matchers alone are a selector without a name. */
export const selectorOf = (match: string): string => (/^[^"]*\{/.test(match) ? match : `{${match}}`);

const SOURCE = '--load-from-prometheus';

/** The recorded load that a plan reproduces, as `plan` and `run` have it. */
export const LOAD_SOURCE_OPTIONS = {
  'load-from-prometheus': text(
    'URL',
    'reproduce the load that this Prometheus recorded of servers: its rate over time and its lengths',
    null,
    { requires: ['--match'] },
  ),
  match: text('SELECTOR', `of the recorded servers, e.g. 'job="vllm"'`, null, { requires: [SOURCE] }),
  window: {
    help: 'of the history: its length until now, such as 24h, or FROM/TO, e.g. 2026-11-26T00:00:00Z/2026-11-27T00:00:00Z',
    value: 'TIME[/TIME]',
    parse: (given: readonly string[]) => parseWindow(given.at(-1) ?? '', new Date()),
    fallback: null,
    requires: [SOURCE],
  } satisfies Option<RecordedTime | null> as Option<RecordedTime | null>,
  compress: number(
    'FACTOR',
    'divide the time of the window by it; the rate stays that of the servers (default 1)',
    { min: 1, max: 1e5 },
    null,
    { requires: [SOURCE] },
  ),
  scale: number('FACTOR', 'multiply the rate of the servers by it (default 1)', { min: 1e-4, max: 1e4 }, null, {
    requires: [SOURCE],
  }),
  ...PROMETHEUS_ACCESS_OPTIONS,
};

export interface RecordedTime {
  readonly from: Date;
  readonly to: Date;
}

/** Throws an `Error` that says what is expected. */
function parseWindow(given: string, now: Date): RecordedTime {
  const [from = '', to = 'now', ...more] = given.split('/');
  const window = { from: parseInstant(from, now), to: parseInstant(to, now) };
  if (more.length > 0 || window.from >= window.to)
    throw new Error('a length such as 24h, or FROM/TO with FROM before TO');
  return window;
}
