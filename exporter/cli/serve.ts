import { listen, ListenError } from '../http/listen.ts';
import { createServeApp } from '../http/serve-app.ts';
import { openStore } from '../store/run-store.ts';
import { announceServe, type AnnouncedServe } from '../store/serve-presence.ts';
import { RunsDirectoryError } from '../store/store-errors.ts';
import { CliError, ExitCode } from './failure.ts';
import { asksForHelp, flag, helpText, integer, readOptions, text } from './options.ts';
import { untilStopped } from './until-stopped.ts';
import { VERSION } from './version.ts';

const OPTIONS = {
  'runs-dir': text('DIR', 'where runs are kept', 'runs'),
  host: text('ADDRESS', 'address to listen on', '127.0.0.1'),
  port: integer('port to listen on, 0 for a free one', { min: 0, max: 65_535 }, 9469),
  'max-runs': integer('how many of the newest runs to show', { min: 1, max: 10_000 }, 200),
  'histogram-runs': integer('how many of the newest runs to show with their histograms', { min: 0, max: 200 }, 5),
  json: flag('print one JSON line {url} when ready'),
};

const EXAMPLES = ['llmbench serve', 'llmbench serve --runs-dir /data/runs --host 0.0.0.0'];

export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText('llmbench serve [options]', OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(OPTIONS, argv, process.env);
  const stopped = untilStopped();
  try {
    const { store, messages } = await openStore(options['runs-dir']);
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    messages.forEach(say);
    await store.checkWritable();
    let presence: AnnouncedServe | null = null;
    const app = createServeApp({
      discoveryAsked: () => presence?.discoveryAsked(),
      source: store,
      version: VERSION,
      problem: say,
      maxRuns: options['max-runs'],
      histogramRuns: options['histogram-runs'],
    });
    const server = await listen(app, options);
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
