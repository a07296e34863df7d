import { monotonicNow_ns, runEpoch } from '../../clock/monotonic-clock.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { bucketReport, observedInWindow, observedSinceStart, type BucketReport } from '../../explain/bucket-report.ts';
import { latencyLimits, withClientShares, type ServerLimit } from '../../explain/limit-report.ts';
import { serversFile } from '../../servers/files/servers-file.ts';
import type { Objectives } from '../../../core/run/objectives.ts';
import type { ServersFile } from '../../../core/run/servers-file.ts';
import { readNamedPages } from '../../servers/scrape/named-pages.ts';
import { watchWindow } from '../../servers/collect-servers.ts';
import { readServersFile } from '../../store/read-servers.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { requestedObjectives } from '../options/objective-options.ts';
import { flag, list, seconds, texts, type OptionValues } from '../options/options.ts';
import { PAGE_CREDENTIAL_OPTIONS, pageCredentials, targets } from '../options/server-options.ts';
import { PROXY_OPTIONS, TLS_OPTIONS, tlsFiles } from '../options/tls-options.ts';
import { bucketTable } from '../tables/bucket-table.ts';
import { targetLine } from '../tables/server-lines.ts';
import { untilStopped } from '../until-stopped.ts';
import { namedRuns, RUNS_DIR, storeOf } from './runs/stored-runs.ts';

const ONE_DAY_SECONDS = 86_400;

export const OPTIONS = {
  url: targets('metrics endpoints of running servers: http://host:8000/metrics, host:8000, or triton=host'),
  window: seconds('time between the two scrapes of --url', { min: 0.1, max: ONE_DAY_SECONDS }, 30),
  slo: list(
    texts('SLO', 'objective that the buckets have to show, beside those of RUN: "ttft:p95<300ms"; may be repeated'),
  ),
  ...PAGE_CREDENTIAL_OPTIONS,
  ...TLS_OPTIONS,
  ...PROXY_OPTIONS,
  'runs-dir': RUNS_DIR,
  json: flag('print JSON'),
};

const USAGE = 'llmbench buckets RUN | --url URL… [options]';
const EXAMPLES = [
  'llmbench buckets latest',
  "llmbench buckets latest --slo 'ttft:p95<300ms'",
  'llmbench buckets --url localhost:8000 --window 60',
  "llmbench buckets 20261121T19 --json | jq -r '.targets[].settings[].setting'",
];

/** Line width when stdout is not a terminal. */
const COLUMNS = 120;

/** Shows how wide the percentiles of servers' histograms are, what they know of objectives, and which bounds narrow both. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: 1 } },
  async ({ options: values, positionals, given }) => {
    const [name] = positionals;
    // LLMBENCH_URL is also the server of `run`: beside RUN it means nothing here.
    if (name !== undefined && given.get('url')?.source === '--url')
      throw new CliError('RUN and --url are mutually exclusive');
    if (name !== undefined) return ofRun(name, values);
    if (values.url.length === 0) throw new CliError(`RUN or --url is required; usage: ${USAGE}`);
    return ofServers(values);
  },
);

type Values = OptionValues<typeof OPTIONS>;

async function ofRun(name: string, values: Values): Promise<number> {
  const store = await storeOf(values['runs-dir']);
  const [found] = await namedRuns(store, [name]);
  if (found === undefined) return ExitCode.failed;
  const file = await readServersFile(store.pathOf(found.run_id)).catch((error: unknown) => {
    throw new CliError(`${found.run_id}: ${reasonOf(error)}`, ExitCode.failed);
  });
  if (file === null)
    throw new CliError(`${found.run_id} has no server metrics: run it with --server-metrics URL`, ExitCode.failed);
  const run = await store.readRun(found.run_id);
  const records = store.readRecords(run, { withoutChunks: true });
  const limits = await withClientShares(limitsOf(values, run.gates), records).catch((error: unknown) => {
    throw new CliError(`${found.run_id}: ${reasonOf(error)}`, ExitCode.failed);
  });
  return printed(
    file,
    observedInWindow(file).map((target) => bucketReport(target, null, limits)),
    values.json,
  );
}

/** Those of the run first. */
function limitsOf(values: Values, ofRun: Objectives | null): readonly ServerLimit[] {
  const given = requestedObjectives({ slo: values.slo, goodput: null });
  return latencyLimits({
    slos: [...(ofRun?.slos ?? []), ...(given?.slos ?? [])],
    goodput: ofRun?.goodput ?? [],
  });
}

async function ofServers(values: Values): Promise<number> {
  const limits = limitsOf(values, null);
  const common = { credentials: pageCredentials(values), tls: tlsFiles(values) };
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  const { targets } = await readNamedPages(values.url, common, [], process.env, report);
  const epoch = runEpoch();
  const ended = new AbortController();
  void untilStopped().then(() => ended.abort());
  report(`two scrapes, ${values.window} s apart; Ctrl-C ends the window early`);
  const collection = await watchWindow({
    targets,
    seconds: values.window,
    epoch,
    now_ns: () => monotonicNow_ns() - epoch.monotonic_ns,
    until: ended.signal,
    report,
  });
  const file = serversFile(collection, null);
  if (file.targets.every(({ scrapes }) => scrapes === 0))
    throw new CliError('no target returned metrics', ExitCode.failed);
  const started = new Map(collection.targets.map((target) => [target.name, observedSinceStart(target)]));
  const reports = observedInWindow(file).map((target) =>
    bucketReport(target, started.get(target.target) ?? null, limits),
  );
  return printed(file, reports, values.json);
}

function printed({ run_id, window, targets: scraped }: ServersFile, reports: readonly BucketReport[], json: boolean) {
  if (json) {
    process.stdout.write(`${JSON.stringify({ run_id, window, targets: reports }, null, 2)}\n`);
    return ExitCode.done;
  }
  const columns = Math.max(60, process.stdout.columns ?? COLUMNS);
  const notes = scraped.flatMap((target) =>
    target.state === 'up' && target.notes.length === 0
      ? []
      : [targetLine(target), ...target.notes.map((n) => `  ${n}`)],
  );
  const shown = `${window.start} to ${window.end}, ${Number(window.seconds.toPrecision(3))} s`;
  const tables = reports.map((report) => bucketTable(report, columns));
  process.stdout.write(
    `${[run_id === null ? shown : `${run_id}  ${shown}`, ...notes, '', tables.join('\n\n')].join('\n')}\n`,
  );
  return ExitCode.done;
}
