import { startSimulator } from '../../simulator/main.ts';
import { asksForHelp, choice, flag, helpText, integer, readOptions, text } from './options.ts';
import { ExitCode } from './failure.ts';
import { untilStopped } from './until-stopped.ts';

const OPTIONS = {
  system: choice(['vllm'] as const, 'whose API and metrics to simulate', 'vllm'),
  host: text('ADDRESS', 'address to listen on', '127.0.0.1'),
  port: integer('port to listen on, 0 for a free one', { min: 0, max: 65_535 }, 18_000),
  model: text('NAME', 'name of the model that is served', 'sim-model'),
  'random-seed': integer('seed of everything random in it', { min: 0, max: 2 ** 32 - 1 }, 1),
  json: flag('print one JSON line {url, metrics_url} when ready'),
};

const EXAMPLES = ['llmbench simulate --system vllm', 'llmbench simulate --port 0 --json'];

export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText('llmbench simulate [options]', OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(OPTIONS, argv, process.env);
  const stopped = untilStopped();
  const simulator = await startSimulator({
    system: options.system,
    host: options.host,
    port: options.port,
    model: options.model,
    seed: options['random-seed'],
  });
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url: simulator.url, metrics_url: simulator.metricsUrl })}\n`
      : `simulated ${options.system} with model ${options.model} at ${simulator.url}, metrics at ${simulator.metricsUrl}; Ctrl-C ends it\n`,
  );
  await stopped;
  await simulator.close();
  return ExitCode.done;
}
