import { ownValue } from '../../../core/text/own-value.ts';
import { ImportRefusal } from '../../imports/import-notes.ts';
import { readPageAccess } from '../../servers/scrape/page-access.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { scrapeHeaders } from '../options/server-options.ts';
import { text, texts, type Option, type OptionValues } from '../options/options.ts';
import { untilStopped } from '../until-stopped.ts';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * A moment: RFC 3339, a Unix time in seconds, `now`, or a duration such as `90m` before `now`. Throws an `Error` that says
 * what is expected.
 */
function parseInstant(given: string, now: Date): Date {
  if (given === 'now') return now;
  const [, length, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(given) ?? [];
  const ago = ownValue(SECONDS, unit ?? '');
  if (ago !== undefined) return new Date(now.getTime() - Number(length) * ago * 1000);
  if (/^\d{9,11}(\.\d+)?$/.test(given)) return new Date(Number(given) * 1000);
  const time = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(given) ? Date.parse(given) : NaN;
  if (Number.isNaN(time))
    throw new Error(
      'a time with a zone such as 2026-11-27T09:00:00Z, a Unix time, or a duration before now such as 2h',
    );
  return new Date(time);
}

const instant = (help: string): Option<Date | null> => ({
  help,
  value: 'TIME',
  parse: (given) => parseInstant(given.at(-1) ?? '', new Date()),
  fallback: null,
});

/** What selects a window of a Prometheus' history, and how it is reached. */
export const PROMETHEUS_OPTIONS = {
  prometheus: text(
    'URL',
    'make a run of what this Prometheus, Thanos, Mimir or VictoriaMetrics recorded of servers, without a client',
    null,
    { requires: ['--match', '--from'] },
  ),
  match: text('SELECTOR', `with --prometheus: the series, e.g. 'job="vllm",version="a"'`, null),
  from: instant('with --prometheus: begin of the window, e.g. 2026-11-27T09:00:00Z, a Unix time, or 2h (ago)'),
  to: instant('with --prometheus: its end (default: now)'),
  'prometheus-header': texts('NAME:VALUE', 'header of each request to it, such as X-Scope-OrgID:team; may be repeated'),
  'prometheus-bearer-env': text('VARIABLE', 'environment variable that holds a bearer token for it', null),
  'prometheus-tls-ca': text('FILE', 'trusted CA certificates of it (PEM)', null),
};

interface CommonOptions {
  readonly 'runs-dir': string;
  readonly scenario: string | null;
  readonly tag: readonly string[];
  readonly json: boolean;
}

/** Imports a window of a Prometheus as a run, and prints it. */
export async function importRecorded(
  options: OptionValues<typeof PROMETHEUS_OPTIONS> & CommonOptions,
  url: string,
  paths: readonly string[],
): Promise<number> {
  const { match, from } = options;
  const to = options.to ?? new Date();
  if (paths.length > 0) throw new CliError('--prometheus and PATH cannot be used together');
  if (match === null || from === null) throw new CliError('--prometheus requires --match and --from');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CliError('--prometheus must be an http or https address, for example http://prometheus:9090');
  if (from >= to) throw new CliError(`--from ${from.toISOString()} must be before --to ${to.toISOString()}`);
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  const headers = scrapeHeaders(options['prometheus-header'], '--prometheus-header');
  const tls = {
    caFile: options['prometheus-tls-ca'],
    certFile: null,
    keyFile: null,
    serverName: null,
    insecure: false,
  };
  const credentials = { headers, bearerVariable: options['prometheus-bearer-env'] };
  // Loaded here: an import of files does not need it.
  const { importWindow } = await import('../../imports/prometheus/import-window.ts');
  const store = await openRuns(options['runs-dir'], (opened) => opened.checkWritable());
  try {
    const { runId, isNew, notes } = await importWindow({
      ...{ url, from, to, store, tags: options.tag, signal: stopping.signal },
      access: await readPageAccess(credentials, tls, process.env),
      selector: selectorOf(match),
      scenario: options.scenario ?? 'recorded',
    });
    const status = isNew ? 'imported' : 'known';
    if (options.json) process.stdout.write(`${JSON.stringify({ status, run_id: runId, notes })}\n`);
    else
      process.stdout.write(
        [`${isNew ? 'imported' : 'already known'}  ${runId}`, ...notes.map((note) => `  ${note}`), ''].join('\n'),
      );
    return ExitCode.done;
  } catch (error) {
    if (stopping.signal.aborted) return ExitCode.interrupted;
    if (error instanceof ImportRefusal) throw new CliError(error.message, ExitCode.failed);
    throw error;
  }
}

/** Matchers alone are a selector without a name. */
const selectorOf = (match: string): string => (/^[^"]*\{/.test(match) ? match : `{${match}}`);
