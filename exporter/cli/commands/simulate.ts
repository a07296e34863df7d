import { FAULTS as KNOWN_FAULTS, NO_FAULTS, parseFaults } from '../../../simulator/faults/plan.ts';
import { targetOptions } from '../../../simulator/dialects/dialect.ts';
import { DIALECT_NAMES, DIALECTS } from '../../../simulator/dialects/table.ts';
import type { DialectName } from '../../../simulator/dialects/table.ts';
import { SIMULATED_SYSTEMS, startDialect, startSimulator } from '../../../simulator/main.ts';
import type { RunningSimulator, SimulatedSystem } from '../../../simulator/main.ts';
import { listenError } from '../../http/listen.ts';
import { codeOf } from '../../errors/expected-error.ts';
import { command } from '../command.ts';
import { choice, flag, integer, text } from '../options/options.ts';
import type { OptionValues } from '../options/options.ts';
import { CliError, ExitCode } from '../failure.ts';
import type { Speculation } from '../../../simulator/engine/parameters.ts';
import { untilStopped } from '../until-stopped.ts';

const FAULTS = {
  help: 'fault to inject, e.g. stall:after=5,seconds=2; may be repeated',
  value: 'NAME[:KEY=VALUE,…]',
  multiple: true,
  // A fault's own keys are separated by commas.
  separator: ';',
  parse: parseFaults,
  fallback: NO_FAULTS,
};

/** Systems whose pages count drafts. */
const WITH_DRAFTS: readonly (SimulatedSystem | 'all')[] = ['vllm', 'trtllm', 'all'];

function parseDrafts([given = '']: readonly string[]): Speculation | null {
  const [, tokens, ratio] = /^(\d+):(0|1|0?\.\d+)$/.exec(given) ?? [];
  const [draftTokens, acceptanceRatio] = [Number(tokens), Number(ratio)];
  if (draftTokens >= 1 && draftTokens <= 64 && acceptanceRatio >= 0) return { draftTokens, acceptanceRatio };
  throw new Error('TOKENS:RATIO, the length of a draft from 1 to 64 and a ratio from 0 to 1, such as 3:0.7');
}

export const OPTIONS = {
  system: choice(
    [...SIMULATED_SYSTEMS, 'all'],
    'system whose API and metrics to simulate; all: every system, in this process',
    'vllm',
  ),
  dialect: choice(
    DIALECT_NAMES,
    'instead of a system: chat completions as this server or service gives them, without metrics',
    null,
  ),
  host: text('ADDRESS', 'address to listen on', '127.0.0.1'),
  port: integer(
    'port of the API; with all, the first port. Metrics on ports of their own are at their default ports if these are free. 0: free ports for all',
    { min: 0, max: 65_535 },
    18_000,
  ),
  model: text('NAME', 'name of the served model', 'sim-model'),
  workers: integer(
    'number of engines, for systems that can have several; SGLang has its gateway before two or more (default: 1 for sglang, 2 for others and with all)',
    { min: 1, max: 1000 },
    null,
  ),
  plain: flag(
    'vLLM with default flags: without speculative decoding and offloading, and without their metric families',
  ),
  drafts: {
    help: 'speculative decoding of vllm and trtllm: tokens of a draft, and the share of them that the model accepts if it accepted those before (default: 3:0.3 for vllm, 3:0.65 for trtllm)',
    value: 'TOKENS:RATIO',
    parse: parseDrafts,
    fallback: null,
  },
  fault: FAULTS,
  'random-seed': integer('random seed', { min: 0, max: 2 ** 32 - 1 }, 1),
  json: flag('print one JSON line {system, url, metrics_url, metrics_urls} when ready; with all, an array of them'),
};

const EXAMPLES = [
  'llmbench simulate --system vllm',
  'llmbench simulate --system dynamo --workers 4 --fault hot-worker:share=0.9',
  'llmbench simulate --system all --port 0 --json',
  'llmbench simulate --dialect mistral',
];

interface Started {
  readonly system: SimulatedSystem;
  readonly simulator: RunningSimulator;
}

export const run = command(
  OPTIONS,
  { usage: 'llmbench simulate [options]', examples: EXAMPLES, notes: faultsText() },
  async ({ options, given }) => {
    const stopped = untilStopped();
    if (options.dialect !== null) {
      const other = (['system', 'workers', 'plain', 'drafts'] as const).find((name) => given.has(name));
      if (other !== undefined) throw new CliError(`--dialect has no --${other}: remove one of them`);
      return simulateDialect(options.dialect, options, stopped);
    }
    if (options.drafts !== null && (options.plain || !WITH_DRAFTS.includes(options.system)))
      throw new CliError(
        `${options.plain ? '--plain' : `--system ${options.system}`} has no --drafts: remove one of them`,
      );
    const started = await startAll(options);
    process.stdout.write(options.json ? asJson(started, options.system === 'all') : asText(started, options.model));
    await stopped;
    await Promise.all(started.map(({ simulator }) => simulator.close()));
    return ExitCode.done;
  },
);

async function simulateDialect(
  name: DialectName,
  { host, port, model, fault: faults, 'random-seed': seed, json }: OptionValues<typeof OPTIONS>,
  stopped: Promise<unknown>,
): Promise<number> {
  const simulator = await startDialect(name, { host, port, model, faults, seed }).catch((error: unknown) => {
    throw asCliError(error, { host, port });
  });
  const { url } = simulator;
  const target = targetOptions(DIALECTS[name], url, model);
  const command = [...target, '--model', model].map((word) => (/[^\w.:/=-]/.test(word) ? `'${word}'` : word)).join(' ');
  process.stdout.write(
    json
      ? `${JSON.stringify({ dialect: name, url, run_options: target })}\n`
      : `simulated ${DIALECTS[name].title} at ${url}; benchmark it with llmbench run ${command}; press Ctrl-C to stop\n`,
  );
  await stopped;
  await simulator.close();
  return ExitCode.done;
}

/** The faults with their keys and defaults; a key without a default is off. */
function faultsText(): string {
  const lines = Object.entries(KNOWN_FAULTS).map(([name, { keys }]) => {
    const texts = Object.entries(keys).map(([key, { fallback }]) => (fallback === null ? key : `${key}=${fallback}`));
    return `  ${name.padEnd(14)}${texts.join(' ')}`;
  });
  return `faults:\n${lines.join('\n')}\n`;
}

/** Starts the requested simulators; if one fails, the others are stopped. */
async function startAll(options: OptionValues<typeof OPTIONS>): Promise<Started[]> {
  const systems = options.system === 'all' ? SIMULATED_SYSTEMS : [options.system];
  const started: Started[] = [];
  try {
    for (const [index, system] of systems.entries()) {
      const port = options.port === 0 ? 0 : options.port + index;
      const { host, model, fault: faults, plain, drafts } = options;
      // Like one server that was started by itself: API and metrics on one port.
      const workers = options.workers ?? (options.system === 'sglang' ? 1 : 2);
      const seed = options['random-seed'];
      const simulator = await startSimulator({
        system,
        host,
        port,
        model,
        workers,
        faults,
        seed,
        switches: !plain,
        ...(drafts !== null && WITH_DRAFTS.includes(system) && { engine: { speculation: drafts } }),
        defaultPagePorts: port !== 0,
      });
      started.push({ system, simulator });
    }
    return started;
  } catch (error) {
    await Promise.all(started.map(({ simulator }) => simulator.close()));
    throw asCliError(error, options);
  }
}

/** Reports a failed port; without its number, the first requested one. */
function asCliError(error: unknown, { host, port }: { readonly host: string; readonly port: number }): unknown {
  if (error instanceof RangeError) return new CliError(error.message);
  if (codeOf(error) === null) return error;
  const failure = error as NodeJS.ErrnoException & { readonly port?: number };
  return new CliError(listenError(failure, host, failure.port ?? port).message);
}

function asJson(started: readonly Started[], isArray: boolean): string {
  const objects = started.map(({ system, simulator: { url, metricsUrl, metricsUrls } }) => ({
    system,
    url,
    metrics_url: metricsUrl,
    metrics_urls: metricsUrls,
  }));
  return `${JSON.stringify(isArray ? objects : objects[0])}\n`;
}

function asText(started: readonly Started[], model: string): string {
  const lines = started.map(({ system, simulator: { url, metricsUrls } }) => {
    return `simulated ${system} with model ${model} at ${url}, metrics at ${metricsUrls.join(', ')}`;
  });
  return `${lines.join('\n')}; press Ctrl-C to stop\n`;
}
