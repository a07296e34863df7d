import { hostCheck, isLoopbackName } from '../http/allowed-host.ts';
import { listen, ListenError } from '../http/listen.ts';
import { createServeApp } from '../http/serve-app.ts';
import { RunList } from '../publish/run-list.ts';
import { storeSource } from '../publish/run-source.ts';
import { RunLibrary } from '../publish/views/run-library.ts';
import { announceServe, type AnnouncedServe } from '../store/serve-presence.ts';
import { RunsDirectoryError } from '../store/store-errors.ts';
import { apiToken } from './api-token.ts';
import { CliError, ExitCode } from './failure.ts';
import { openRuns } from './open-runs.ts';
import { asksForHelp, helpText } from './help-text.ts';
import { flag, integer, readOptions, seconds, text, texts } from './options.ts';
import { untilStopped } from './until-stopped.ts';
import { VERSION } from './version.ts';

const OPTIONS = {
  'runs-dir': text('DIR', 'where runs are kept', 'runs'),
  host: text('ADDRESS', 'address to listen on', '127.0.0.1'),
  port: integer('port to listen on, 0 for a free one', { min: 0, max: 65_535 }, 9469),
  'max-runs': integer('how many of the newest runs to show', { min: 1, max: 10_000 }, 200),
  'histogram-runs': integer('how many of the newest runs to show with their histograms', { min: 0, max: 200 }, 5),
  'run-ttl': seconds('show only runs that ended no longer ago', { min: 60, max: 1e9 }, null),
  'max-series': integer(
    'most series of runs to show; what is left out is counted',
    { min: 1, max: 10_000_000 },
    100_000,
  ),
  republish: texts('GLOB', "families of the servers to show beyond those that all systems share, such as 'vllm:*'"),
  'allowed-hosts': texts('NAME', 'names besides its own under which it may be asked, .example.org for all below'),
  'api-token-file': text('FILE', 'file with the token that the API asks of other machines', null),
  json: flag('print one JSON line {url} when ready'),
};

const EXAMPLES = [
  'llmbench serve',
  'llmbench serve --runs-dir /data/runs --host 0.0.0.0 --allowed-hosts bench.example.org --api-token-file token.txt',
];

const OPEN_TO_ALL =
  'whoever reaches this address may read the runs; --api-token-file asks for a token, except from this machine';

export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText('llmbench serve [options]', OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(OPTIONS, argv, process.env);
  const stopped = untilStopped();
  try {
    const store = await openRuns(options['runs-dir'], (opened) => opened.checkWritable());
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    let presence: AnnouncedServe | null = null;
    const token = await apiToken(options['api-token-file']);
    const list = new RunList(store);
    const app = createServeApp({
      discoveryAsked: () => presence?.discoveryAsked(),
      source: storeSource(store, list),
      library: new RunLibrary(store, list, say),
      token,
      hostCheck: hostCheck({ host: options.host, allowedHosts: options['allowed-hosts'] }),
      version: VERSION,
      problem: say,
      maxRuns: options['max-runs'],
      histogramRuns: options['histogram-runs'],
      runTtlSeconds: options['run-ttl'],
      maxSeries: options['max-series'],
      republish: options.republish,
    });
    const server = await listen(app, options);
    if (token === null && !isLoopbackName(options.host)) say(OPEN_TO_ALL);
    presence = await announceServe(store.directory, server.url);
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ url: server.url })}\n`
        : `the runs of ${store.directory} at ${server.url}/metrics; Ctrl-C ends it\n`,
    );
    await stopped;
    await presence.stop();
    await server.close();
    return ExitCode.done;
  } catch (error) {
    if (error instanceof ListenError || error instanceof RunsDirectoryError) throw new CliError(error.message);
    throw error;
  }
}
