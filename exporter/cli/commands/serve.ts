import { existsSync } from 'node:fs';
import { ExpectedError, StorageError } from '../../errors/expected-error.ts';
import { hostCheck, isLoopbackName } from '../../http/allowed-host.ts';
import { listen } from '../../http/listen.ts';
import { createServeApp } from '../../http/serve-app.ts';
import { webTls } from '../../http/web-config/web-config.ts';
import { webGuard } from '../../http/web-config/web-guard.ts';
import { ScenarioStates } from '../../judge/scenario-state.ts';
import { evaluationLines, storageReadableLines } from '../../publish/service-families.ts';
import { ProcessMetrics } from '../../publish/process-metrics.ts';
import { RESULT_SERIES } from '../../publish/result-samples.ts';
import { storeSource } from '../../publish/run-reader.ts';
import { RunList, RunLibrary } from '../../publish/views/run-library.ts';
import type { MirrorStore } from '../../store/object-storage/mirror-store.ts';
import type { StorageFailure } from '../../store/object-storage/mirroring.ts';
import { announceServe, type AnnouncedServe } from '../../store/recovery/serve-presence.ts';
import { isStorageUrl } from '../../store/storage-location.ts';
import { command } from '../command.ts';
import { CliError, ExitCode, exitCodeOf } from '../failure.ts';
import { openMirrorOf, openRuns } from '../open-runs.ts';
import { ACCESS_OPTIONS, requestedAccess, ALLOW_RUNS, allowedStarts } from '../options/access-options.ts';
import {
  choice,
  flag,
  integer,
  number,
  seconds,
  text,
  texts,
  type Option,
  type OptionValues,
} from '../options/options.ts';
import { requestedGrafanaLink, VERDICT_RECEIVER_OPTIONS } from '../options/publish-options.ts';
import { STORAGE_OPTIONS, storageAccess } from '../options/storage-options.ts';
import type { ServedSchedule } from '../scheduled-scenarios.ts';
import { keepPushingScenarios, requestedVerdictReceiver } from '../scenario-series.ts';
import { writeMessage } from '../terminal-text.ts';
import { untilStopped } from '../until-stopped.ts';
import { VERSION } from '../version.ts';

const SECONDS_PER = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** `NAME=DURATION` such as `nightly=24h`, as seconds by name; the name may contain `=`. */
function intervals(help: string): Option<ReadonlyMap<string, number>> {
  return {
    help,
    value: 'NAME=DURATION',
    multiple: true,
    parse: (given) => new Map(given.map(interval)),
    fallback: new Map(),
  };
}

function interval(given: string): readonly [name: string, seconds: number] {
  const [, name, number, unit] = /^(.+)=(\d+(?:\.\d+)?)([smhd])$/.exec(given) ?? [];
  const seconds = Number(number) * (SECONDS_PER[unit as keyof typeof SECONDS_PER] ?? NaN);
  if (name === undefined || !(seconds > 0)) throw new Error('NAME=DURATION with s, m, h or d, such as nightly=24h');
  return [name, seconds];
}

const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type Level = 'INFO' | 'WARN' | 'ERROR';

/** Messages of a command that runs as a service, one line each. */
export interface ServiceLog {
  info(message: string, attributes?: LogAttributes): void;
  /** Something is wrong and the service continues. */
  warn(message: string): void;
  /** The service ends. */
  error(message: string): void;
}

/** Further members of a JSON line; text lines leave them out, since the message contains what people need. */
export type LogAttributes = Readonly<Record<string, string | number>>;

/**
 * Text as it is, or JSON lines with the members that Prometheus writes with `--log.format=json`: `time` (RFC 3339 in UTC),
 * `level`, `msg`.
 */
function serviceLog(format: LogFormat, out: NodeJS.WriteStream): ServiceLog {
  const write = (level: Level, msg: string, attributes: LogAttributes = {}): void => {
    if (format === 'text') writeMessage(out, msg);
    else out.write(`${JSON.stringify({ time: new Date().toISOString(), level, msg, ...attributes })}\n`);
  };
  return {
    info: (message, attributes) => write('INFO', message, attributes),
    warn: (message) => write('WARN', message),
    error: (message) => write('ERROR', message),
  };
}

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs, or s3://BUCKET/PREFIX', 'runs'),
  ...STORAGE_OPTIONS,
  's3-cache-gigabytes': number(
    'GB',
    'with s3://: maximum size of records and reports kept on disk; summaries of up to 10,000 runs are kept besides',
    { min: 0, max: 1e6 },
    4,
  ),
  host: text('ADDRESS', 'address to listen on', '127.0.0.1'),
  port: integer('port to listen on, 0 for a free one', { min: 0, max: 65_535 }, 9469),
  'max-runs': integer('number of the newest runs to expose', { min: 1, max: 10_000 }, 200),
  'result-series': choice(
    RESULT_SERIES,
    'series of finished runs to expose: those that dashboards, alerts and the app query, or all',
    'queried',
  ),
  'histogram-runs': integer(
    'number of the newest runs to expose with histograms (default 5 with --result-series all, otherwise 0)',
    { min: 0, max: 200 },
    null,
  ),
  'run-ttl': seconds('expose only runs that ended within this time', { min: 60, max: 1e9 }, null),
  'max-series': integer(
    'maximum number of run series to expose; series beyond it are counted',
    { min: 1, max: 10_000_000 },
    100_000,
  ),
  republish: texts('GLOB', "server metric families to expose in addition to the common ones, such as 'vllm:*'"),
  'expect-scenario': intervals(
    'scenario and how often it is expected to complete, e.g. nightly=24h; may be repeated; an alert fires when it is overdue',
  ),
  'scenarios-file': text(
    'FILE',
    'scenarios to judge on a schedule from what a Prometheus recorded of servers, as YAML; changes apply at once',
    null,
  ),
  'allowed-hosts': texts('NAME', 'additional host names to accept in requests; .example.org accepts all subdomains'),
  ...ACCESS_OPTIONS,
  'allow-runs': ALLOW_RUNS,
  'grafana-url': text('URL', 'Grafana with the app: a run that ends prints a link to its page there', null),
  ...VERDICT_RECEIVER_OPTIONS,
  'remote-write-url': text(
    'URL',
    'also write the verdicts on scenarios to this Prometheus remote write receiver, so that they hold there',
    null,
  ),
  'remote-write-interval': seconds(
    'interval between two writes of the verdicts; a receiver shows a sample for five minutes',
    { min: 1, max: 240 },
    60,
  ),
  'log-format': choice(
    LOG_FORMATS,
    'format of the messages on standard error: text, or one JSON object per line',
    'text',
  ),
  json: flag('print one JSON line {url} when ready'),
};

const HISTOGRAM_RUNS = 5;
/** Well below the 30 s after which Kubernetes ends a process by force. */
const RESPONSES_END_WITHIN_MS = 10_000;

const EXAMPLES = [
  'llmbench serve',
  'llmbench serve --expect-scenario nightly=24h',
  'llmbench serve --remote-write-url http://mimir:9009/api/v1/push --remote-write-header X-Scope-OrgID:team',
  'llmbench serve --scenarios-file scenarios.yml',
  'llmbench serve --result-series all',
  'llmbench serve --runs-dir s3://benchmarks/team-a',
  'llmbench serve --runs-dir /data/runs --host 0.0.0.0 --allowed-hosts bench.example.org --api-token-file token.txt',
];

const OPEN_TO_ALL =
  'anyone who can reach this address can read the runs; --api-token-file requires a token, except from this machine; --web-config-file can require users';

const readOnlyLine = (directory: string, reason: string): string =>
  `${directory} cannot be written, ${reason}: its finished runs are served; a run there does not learn of this process and serves its live metrics only with --metrics-port`;

const GIGABYTE = 1e9;

/**
 * Opens the cache of runs in object storage. One that cannot be reached is no reason to show nothing: what is in the cache
 * is shown. Throws an `ExpectedError` for any other reason why the storage cannot be read.
 */
async function openedMirror(options: OptionValues<typeof OPTIONS>, say: (line: string) => void): Promise<MirrorStore> {
  const { 'runs-dir': url, 's3-cache-gigabytes': size } = options;
  const mirror = await openMirrorOf(url, storageAccess(options), size * GIGABYTE);
  try {
    await mirror.storage.check();
  } catch (error) {
    const isAway = error instanceof StorageError && error.problem === 'unreachable';
    if (!isAway || (await mirror.names()).length === 0) throw error;
    say(`${error.message}; the runs in the cache are shown`);
  }
  return mirror;
}

const outdatedSince = (failure: StorageFailure | null): string | null =>
  failure && `The runs in the cache are shown since ${failure.since.toISOString()}: ${failure.reason}.`;

/** What is evaluated on a schedule; null without a file. */
async function requestedSchedule(
  { 'scenarios-file': file, 'expect-scenario': expected }: OptionValues<typeof OPTIONS>,
  runsDirectory: string,
  states: ScenarioStates['read'],
  log: ServiceLog,
): Promise<ServedSchedule | null> {
  if (file === null) return null;
  // Loaded here: most services have none.
  const { servedSchedule } = await import('../scheduled-scenarios.ts');
  const said = { info: (line: string) => log.info(line), warn: (line: string) => log.warn(line) };
  return servedSchedule({ file, runsDirectory, expected, states, ...said });
}

const NOTHING_TO_RELOAD = 'SIGHUP: changes of the runs and of the files of options apply at once, without a reload';

export const run = command(OPTIONS, { usage: 'llmbench serve [options]', examples: EXAMPLES }, async ({ options }) => {
  const isStructured = options['log-format'] !== 'text';
  const log = serviceLog(options['log-format'], process.stderr);
  const say = (line: string): void => log.warn(line);
  const stopped = untilStopped(() => log.info(NOTHING_TO_RELOAD));
  try {
    const isNew = !isStorageUrl(options['runs-dir']) && !existsSync(options['runs-dir']);
    const mirror = isStorageUrl(options['runs-dir']) ? await openedMirror(options, say) : null;
    const store = mirror ?? (await openRuns(options['runs-dir']));
    const whyReadOnly = await store.whyReadOnly();
    const isReadOnly = whyReadOnly !== null;
    let presence: AnnouncedServe | null = null;
    const { access, webConfig, isOpen } = await requestedAccess(options, say);
    if (options['allow-runs'] !== null && isReadOnly)
      throw new CliError(`--allow-runs requires a runs directory that can be written, not ${options['runs-dir']}`);
    const started = await allowedStarts(options['allow-runs'], store.directory, say);
    if (options['scenarios-file'] !== null && isReadOnly)
      throw new CliError(`--scenarios-file requires a runs directory that can be written, not ${options['runs-dir']}`);
    const receiver = await requestedVerdictReceiver(options);
    const grafanaUrl = requestedGrafanaLink(options['grafana-url']);
    const list = new RunList(store);
    const states = new ScenarioStates(store.directory, say);
    const processMetrics = new ProcessMetrics();
    const readStates = (): ReturnType<typeof states.read> => states.read();
    const served = await requestedSchedule(options, store.directory, readStates, log);
    const expectedSeconds = served?.expected ?? options['expect-scenario'];
    const app = createServeApp({
      discoveryAsked: () => presence?.discoveryAsked(),
      source: storeSource(store, list),
      library: new RunLibrary(store, list, say, readStates),
      access,
      ...(started !== null && { started }),
      ...(webConfig !== null && { guard: webGuard(() => webConfig.current(), access.needsNoUser) }),
      hostCheck: hostCheck({ host: options.host, allowedHosts: options['allowed-hosts'] }),
      version: VERSION,
      problem: say,
      maxRuns: options['max-runs'],
      histogramRuns: options['histogram-runs'] ?? (options['result-series'] === 'all' ? HISTOGRAM_RUNS : 0),
      resultSeries: options['result-series'],
      runTtlSeconds: options['run-ttl'],
      maxSeries: options['max-series'],
      republish: options.republish,
      scenarioStates: readStates,
      processLines: async (format) =>
        (await processMetrics.lines(format)) +
        (mirror === null ? '' : storageReadableLines(mirror.failure === null, format)) +
        (served === null ? '' : evaluationLines(served.schedule.counts, format)),
      outdated: () => outdatedSince(mirror?.failure ?? null),
      expectedScenarios: expectedSeconds,
    });
    const server = await listen(app, options, undefined, webConfig && webTls(webConfig));
    if (isOpen && !isLoopbackName(options.host)) say(OPEN_TO_ALL);
    const following = mirror?.follow(say);
    // A mistyped path would otherwise be served as one without runs.
    if (isNew) say(`${store.directory} did not exist and was created: it has no runs`);
    if (whyReadOnly !== null && mirror === null) log.info(readOnlyLine(store.directory, whyReadOnly));
    if (!isReadOnly) presence = await announceServe(store.directory, server.url, grafanaUrl);
    served?.schedule.start();
    const pushed = {
      ...{ list, states: readStates, expectedSeconds },
      intervalSeconds: options['remote-write-interval'],
    };
    const stopPushing = receiver && keepPushingScenarios(store, pushed, receiver);
    const ready = `serving the runs in ${store.place} at ${server.url}/metrics`;
    if (options.json) process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
    else if (!isStructured) process.stdout.write(`${ready}; press Ctrl-C to stop\n`);
    if (isStructured) log.info(ready, { url: server.url, version: VERSION });
    await stopped;
    if (isStructured) log.info('stopping');
    following?.stop();
    await stopPushing?.();
    await presence?.stop();
    await Promise.all([
      started?.stop(RESPONSES_END_WITHIN_MS),
      served?.stop(RESPONSES_END_WITHIN_MS),
      server.close(RESPONSES_END_WITHIN_MS),
    ]);
    mirror?.storage.close();
    return ExitCode.done;
  } catch (error) {
    if (!isStructured || !(error instanceof ExpectedError)) throw error;
    log.error(error.message);
    return exitCodeOf(error);
  }
});
