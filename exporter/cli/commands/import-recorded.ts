import type { ImportedWindow, WindowImport } from '../../imports/prometheus/import-window.ts';
import { ImportRefusal } from '../../imports/import-notes.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { JUDGE_OPTIONS, requestedAuthor } from '../options/judge-options.ts';
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
  }),
  'baseline-match': text(
    'SELECTOR',
    'with --check and --slice: judge the slices in pairs with those of these servers, e.g. a canary with the stable version',
    null,
    {
      requires: ['--check', '--slice'],
      conflicts: { days: null, 'accept-passed': 'what these servers do at the same time is the baseline' },
    },
  ),
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

type RecordedOptions = OptionValues<typeof PROMETHEUS_OPTIONS> & CommonOptions;

/** What all windows of one command have in common. */
type WindowSource = Omit<WindowImport, 'from' | 'to'>;

/** Imports windows of a Prometheus as runs, prints them, and judges the newest if that is requested. */
export async function importRecorded(options: RecordedOptions, url: string, paths: readonly string[]): Promise<number> {
  const { match, from, slice } = options;
  const to = options.to ?? new Date();
  const beside = options['baseline-match'];
  if (paths.length > 0) throw new CliError('--prometheus and PATH cannot be used together');
  if (match === null || from === null) throw new CliError('--prometheus requires --match and --from');
  checkPrometheusUrl('--prometheus', url);
  if (from >= to) throw new CliError(`--from ${from.toISOString()} must be before --to ${to.toISOString()}`);
  if (options.check && slice !== null && beside === null)
    throw new CliError(
      '--slice with --check requires --baseline-match: without it, a check judges one run of each day',
    );
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  const store = await openRuns(options['runs-dir'], (opened) => opened.checkWritable());
  try {
    const source: WindowSource = {
      ...{ url, access: await prometheusAccess(options), store, tags: options.tag, signal: stopping.signal },
      ...{ sliceSeconds: slice, selector: selectorOf(match), scenario: options.scenario ?? 'recorded' },
    };
    if (beside === null) return await importDays(source, { from, to }, options);
    return await judgeBeside({ ...source, from, to }, selectorOf(beside), options);
  } catch (error) {
    if (stopping.signal.aborted) return ExitCode.interrupted;
    throw error;
  }
}

async function importDays(
  source: WindowSource,
  window: Pick<WindowImport, 'from' | 'to'>,
  options: RecordedOptions,
): Promise<number> {
  // Loaded here: an import of files does not need it.
  const { importWindow } = await import('../../imports/prometheus/import-window.ts');
  // The oldest first. A day without samples, such as one before the servers existed, is left out.
  const days = Array.from({ length: (options.days ?? 0) + 1 }, (_, i) => (options.days ?? 0) - i);
  const refused: ImportRefusal[] = [];
  const before: string[] = [];
  let newest: string | null = null;
  for (const day of days) {
    const at = (time: Date): Date => new Date(time.getTime() - day * DAY_MS);
    try {
      const runs = await importWindow({ ...source, from: at(window.from), to: at(window.to) });
      print(runs, options);
      if (day === 0) newest = runs.at(-1)?.runId ?? null;
      else before.push(...runs.map(({ runId }) => runId));
    } catch (error) {
      if (!(error instanceof ImportRefusal)) throw error;
      refused.push(error);
      if (days.length > 1) process.stderr.write(`${error.message}\n`);
    }
  }
  const [first] = refused;
  if (first !== undefined && (refused.length === days.length || (options.check && newest === null))) throw first;
  if (newest === null || !options.check) return ExitCode.done;
  const { store, scenario } = source;
  const { acceptedLine, checkRuns } = await import('./check.ts');
  if (options.days !== null) {
    const { acceptFirst } = await import('../../judge/baseline.ts');
    const author = requestedAuthor(options, process.env);
    const accepted = await acceptFirst(store, { scenario, newest, before, author });
    if (accepted.length > 0) process.stderr.write(acceptedLine(scenario, accepted));
  }
  return checkRuns(store, scenario, [newest], { ...options, confirm: 0 }, []);
}

/** Judges the slices of a window in pairs with those of other servers, which become runs of a scenario of their own. */
async function judgeBeside(request: WindowImport, selector: string, options: RecordedOptions): Promise<number> {
  const { importWindow, NoSamples } = await import('../../imports/prometheus/import-window.ts');
  let judged: readonly ImportedWindow[];
  try {
    judged = await importWindow(request);
  } catch (error) {
    // Most of the time there may be no canary.
    if (!(error instanceof NoSamples)) throw error;
    process.stderr.write(`nothing to judge: ${error.message}\n`);
    return ExitCode.done;
  }
  print(judged, options);
  const baseline = await importWindow({ ...request, selector, scenario: `${request.scenario}-baseline` });
  print(baseline, options);
  const { checkPairsOf } = await import('./check.ts');
  const ids = (runs: readonly ImportedWindow[]): readonly string[] => runs.map(({ runId }) => runId);
  return checkPairsOf(request.store, request.scenario, { a: ids(baseline), b: ids(judged) }, options);
}

/** Beside a verdict, only that is on standard output. */
function print(runs: readonly ImportedWindow[], { check, json }: RecordedOptions): void {
  const output = check ? process.stderr : process.stdout;
  for (const run of runs) output.write(json ? jsonLine(run) : textOf(run));
}

const jsonLine = ({ runId, isNew, notes }: ImportedWindow): string =>
  `${JSON.stringify({ status: isNew ? 'imported' : 'known', run_id: runId, notes })}\n`;

const textOf = ({ runId, isNew, notes }: ImportedWindow): string =>
  [`${isNew ? 'imported' : 'already known'}  ${runId}`, ...notes.map((note) => `  ${note}`), ''].join('\n');
