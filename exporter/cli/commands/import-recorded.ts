import type { ImportedWindow } from '../../imports/prometheus/import-window.ts';
import { ImportRefusal } from '../../imports/import-notes.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { JUDGE_OPTIONS } from '../options/judge-options.ts';
import { flag, integer, text, type OptionValues } from '../options/options.ts';
import {
  checkPrometheusUrl,
  duration,
  instant,
  prometheusAccess,
  PROMETHEUS_ACCESS_OPTIONS,
  selectorOf,
} from '../options/prometheus-options.ts';
import { VERDICT_RECEIVER_OPTIONS } from '../options/publish-options.ts';
import { untilStopped } from '../until-stopped.ts';

const MAX_DAYS = 100;

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
  slice: duration('with --prometheus: a run of each whole slice of this length, e.g. 5m, for comparisons in pairs'),
  days: integer(
    'with --prometheus: also the same window on each of the N days before',
    { min: 1, max: MAX_DAYS },
    null,
  ),
  ...PROMETHEUS_ACCESS_OPTIONS,
  check: flag('with --prometheus and --scenario: judge the imported run, as `llmbench check` does', {
    requires: ['--prometheus', '--scenario'],
    conflicts: { slice: 'a check judges one run of each day' },
  }),
  ...JUDGE_OPTIONS,
  ...VERDICT_RECEIVER_OPTIONS,
};

const DAY_MS = 86_400_000;

interface CommonOptions {
  readonly 'runs-dir': string;
  readonly scenario: string | null;
  readonly tag: readonly string[];
  readonly json: boolean;
}

/** Imports windows of a Prometheus as runs, and prints them. */
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
    const access = await prometheusAccess(options);
    // The oldest first. A day without samples, such as one before the servers existed, is left out.
    const days = Array.from({ length: (options.days ?? 0) + 1 }, (_, i) => (options.days ?? 0) - i);
    const refused: ImportRefusal[] = [];
    let newest: string | null = null;
    for (const day of days) {
      const at = (time: Date): Date => new Date(time.getTime() - day * DAY_MS);
      try {
        const runs = await importWindow({
          ...{ url, access, store, tags: options.tag, signal: stopping.signal, sliceSeconds: options.slice },
          ...{ from: at(from), to: at(to), selector: selectorOf(match), scenario: options.scenario ?? 'recorded' },
        });
        // Beside a verdict, only that is on standard output.
        const output = options.check ? process.stderr : process.stdout;
        for (const run of runs) output.write(options.json ? jsonLine(run) : textOf(run));
        newest = day === 0 ? (runs.at(-1)?.runId ?? null) : null;
      } catch (error) {
        if (!(error instanceof ImportRefusal)) throw error;
        refused.push(error);
        if (days.length > 1) process.stderr.write(`${error.message}\n`);
      }
    }
    const [first] = refused;
    if (first !== undefined && (refused.length === days.length || (options.check && newest === null))) throw first;
    if (newest === null || !options.check) return ExitCode.done;
    const { checkRuns } = await import('./check.ts');
    return await checkRuns(store, options.scenario ?? '', [newest], { ...options, confirm: 0 }, []);
  } catch (error) {
    if (stopping.signal.aborted) return ExitCode.interrupted;
    if (error instanceof ImportRefusal) throw new CliError(error.message, ExitCode.failed);
    throw error;
  }
}

const jsonLine = ({ runId, isNew, notes }: ImportedWindow): string =>
  `${JSON.stringify({ status: isNew ? 'imported' : 'known', run_id: runId, notes })}\n`;

const textOf = ({ runId, isNew, notes }: ImportedWindow): string =>
  [`${isNew ? 'imported' : 'already known'}  ${runId}`, ...notes.map((note) => `  ${note}`), ''].join('\n');
