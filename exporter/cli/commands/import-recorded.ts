import { ImportRefusal } from '../../imports/import-notes.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { text, type OptionValues } from '../options/options.ts';
import {
  checkPrometheusUrl,
  instant,
  prometheusAccess,
  PROMETHEUS_ACCESS_OPTIONS,
  selectorOf,
} from '../options/prometheus-options.ts';
import { untilStopped } from '../until-stopped.ts';

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
  ...PROMETHEUS_ACCESS_OPTIONS,
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
  checkPrometheusUrl('--prometheus', url);
  if (from >= to) throw new CliError(`--from ${from.toISOString()} must be before --to ${to.toISOString()}`);
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  // Loaded here: an import of files does not need it.
  const { importWindow } = await import('../../imports/prometheus/import-window.ts');
  const store = await openRuns(options['runs-dir'], (opened) => opened.checkWritable());
  try {
    const { runId, isNew, notes } = await importWindow({
      ...{ url, from, to, store, tags: options.tag, signal: stopping.signal },
      access: await prometheusAccess(options),
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
