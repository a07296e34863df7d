import { basename } from 'node:path';
import { isName } from '../../../core/run/run.ts';
import { things } from '../../../core/text/quantities.ts';
import { LivePage } from '../../http/live-page.ts';
import { IMPORTERS } from '../../imports/importers.ts';
import { readNamedPages } from '../../servers/scrape/named-pages.ts';
import { watchCommand, type WatchedCommand } from '../../watch/watch-command.ts';
import { command } from '../command.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { JUDGE_OPTIONS } from '../options/judge-options.ts';
import { scenarioName, TAGS } from '../options/group-options.ts';
import { flag, seconds, text, texts, type OptionValues } from '../options/options.ts';
import { VERDICT_RECEIVER_OPTIONS } from '../options/publish-options.ts';
import { LIVE_METRICS_OPTIONS } from '../options/run-options.ts';
import {
  DEFAULT_INTERVAL_SECONDS,
  INTERVAL_RANGE,
  FOUND_PAGES_OPTIONS,
  PAGE_CREDENTIAL_OPTIONS,
  pageCredentials,
  targets,
} from '../options/server-options.ts';
import { timeZoneOption } from './import.ts';
import { PROXY_OPTIONS, TLS_OPTIONS, tlsFiles, requestedWebConfig } from '../options/tls-options.ts';
import { shortNote } from '../tables/import-table.ts';
import { VERSION } from '../version.ts';

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  scenario: scenarioName('name of the benchmark in metrics and comparisons (default: the name of the program)', null),
  tag: TAGS,
  'server-metrics': targets(
    'metrics endpoints of the servers: http://host:8000/metrics, host:8000, triton=host, k8s:NAMESPACE/SELECTOR or http-sd:URL',
  ),
  'gpu-telemetry': targets('DCGM exporter endpoints (default port 9400)'),
  ...FOUND_PAGES_OPTIONS,
  ...PAGE_CREDENTIAL_OPTIONS,
  ...TLS_OPTIONS,
  ...PROXY_OPTIONS,
  interval: seconds('scrape interval', INTERVAL_RANGE, DEFAULT_INTERVAL_SECONDS),
  results: texts(
    'PATH',
    'file or directory with the results of the command (default: the working directory, and paths that the command names); may be repeated',
  ),
  'time-zone': timeZoneOption('time zone of timestamps without one (default: that of this machine)'),
  ...LIVE_METRICS_OPTIONS,
  check: flag('judge the run against the baseline of its scenario, and end with exit code 99 on a regression'),
  ...JUDGE_OPTIONS,
  ...VERDICT_RECEIVER_OPTIONS,
  json: flag('print the verdict of --check as JSON'),
};

type WatchOptions = OptionValues<typeof OPTIONS>;

const TEXT = {
  usage: 'llmbench watch [options] -- COMMAND [ARGUMENTS]',
  examples: [
    'llmbench watch --server-metrics localhost:8000 -- aiperf profile --model m --url localhost:8000 --concurrency 8',
    'llmbench watch --server-metrics vllm=gpu1 --scenario nightly --check -- ./nightly.sh',
    'llmbench watch --results /data/out -- vllm bench serve --model m --save-result --result-dir /data/out',
  ],
  notes: [
    'exit codes: that of the command, 128 and the number of the signal that ended it; with --check, if the command',
    '            succeeded: 99 a regression is open, 1 it wrote no result that is recognized; 2 invalid options, or the',
    '            command cannot be started\n',
  ].join('\n'),
};

/** Runs a command of another tool, and makes a run of it: live, with its servers, and with the results that it writes. */
export function run(argv: readonly string[]): Promise<number> {
  const split = argv.indexOf('--');
  return split < 0 ? watch([])(argv) : watch(argv.slice(split + 1))(argv.slice(0, split));
}

const watch = (watched: readonly string[]) =>
  command(OPTIONS, TEXT, async ({ options }) => {
    const [program] = watched;
    if (program === undefined)
      throw new CliError('a command is required after --, for example: llmbench watch -- aiperf profile …');
    const say = (line: string): void => void process.stderr.write(`llmbench: ${line}\n`);
    const common = {
      credentials: pageCredentials(options),
      tls: tlsFiles(options),
      maxFoundPages: options['max-found-pages'],
    };
    const pages = [...options['server-metrics'], ...options['gpu-telemetry']];
    const { targets, searches } = await readNamedPages(pages, common, [], process.env, say);
    if (targets.length === 0) say('no metrics of servers are collected: --server-metrics names them');
    const webPath = options['metrics-web-config-file'];
    const live = new LivePage(await requestedWebConfig('metrics-web-config-file', webPath, say));
    const scenario = options.scenario ?? nameOf(program);
    const store = await openRuns(options['runs-dir'], (opened) => opened.checkWritable());
    let ended: WatchedCommand;
    try {
      ended = await watchCommand({
        ...{ command: watched, store, scenario, targets, searches, importers: IMPORTERS, version: VERSION, say },
        tags: options.tag,
        intervalSeconds: options.interval,
        results: options.results,
        timeZone: options['time-zone'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
        runsDirectory: options['runs-dir'],
        metricsPort: options['metrics-port'],
        metricsHost: options['metrics-host'],
        allowedHosts: options['allowed-hosts'],
        lingerMaxSeconds: options.linger === 'no' ? 0 : options['linger-max'],
        awaitScrape: !options['no-await-scrape'],
        servePage: (page, pageOptions) => live.serve(page, pageOptions),
      });
    } finally {
      await live.close();
    }
    describe(ended, say);
    if (!options.check || ended.exitCode !== ExitCode.done) return ended.exitCode;
    return judged(ended, scenario, options);
  });

/** The name of the program, if it can be that of a scenario. */
function nameOf(program: string): string {
  const name = basename(program);
  return isName(name) ? name : 'watched';
}

function describe({ runId, failure, files, outcomes }: WatchedCommand, say: (line: string) => void): void {
  if (failure !== null) say(failure);
  for (const outcome of outcomes) {
    if (outcome.status === 'refused') say(`${outcome.name} was not imported: ${outcome.reason}`);
    if (outcome.status === 'known') say(`${outcome.name} was imported before, as run ${outcome.run_id}`);
    if (outcome.status === 'imported') for (const note of outcome.notes) say(`${outcome.name}: ${shortNote(note)}`);
  }
  const imported = outcomes.filter((outcome) => outcome.status === 'imported');
  for (const { run_id, name, tool } of imported) say(`run ${run_id} has the result ${name} of ${tool}`);
  if (imported.length === 0)
    say(
      `run ${runId} has no measurements of a client: of ${things(files, 'files')} that the command wrote, none is a result that can be imported`,
    );
  else say(`llmbench runs show ${runId} prints it`);
}

/** The verdict on what the command measured. */
async function judged({ outcomes }: WatchedCommand, scenario: string, options: WatchOptions): Promise<number> {
  const runIds = outcomes.flatMap((outcome) => (outcome.status === 'imported' ? [outcome.run_id] : []));
  if (runIds.length === 0) return ExitCode.failed;
  const { checkRuns } = await import('./check.ts');
  const { storeOf } = await import('./runs/stored-runs.ts');
  return checkRuns(await storeOf(options['runs-dir']), scenario, runIds, { ...options, confirm: 0 }, []);
}
