import { writeFile } from 'node:fs/promises';
import { planRate, planSeconds } from '../../../core/run/load.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { replaceWhenWritten } from '../../files/durable-file.ts';
import { planLines } from '../../load/datasets/plan-file.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { integer, text } from '../options/options.ts';
import { LOAD_SOURCE_OPTIONS } from '../options/prometheus-options.ts';
import { recordedPlan } from '../recorded-plan.ts';
import { untilStopped } from '../until-stopped.ts';

export const OPTIONS = {
  ...LOAD_SOURCE_OPTIONS,
  output: text('FILE', 'write the plan here', 'plan.jsonl'),
  'random-seed': integer('seed of times and lengths', { min: 0, max: Number.MAX_SAFE_INTEGER }, 0),
};

const USAGE = 'llmbench plan --load-from-prometheus URL --match SELECTOR --window TIME [options]';
const EXAMPLES = [
  `llmbench plan --load-from-prometheus http://prometheus:9090 --match 'job="vllm"' --window 24h --compress 60 --output day.jsonl`,
  'llmbench run --url http://candidate:8000 --model m --input-file day.jsonl',
];
const NOTES = [
  'The plan is a text file with a request per line: time, prompt length, response length. The same window and seed give the same plan.',
  'exit codes: 0 written; 1 the Prometheus has no such load; 2 invalid options; 130 Ctrl-C',
  '',
].join('\n');

/** Writes the plan of a run that reproduces a recorded load. */
export const run = command(OPTIONS, { usage: USAGE, examples: EXAMPLES, notes: NOTES }, async ({ options }) => {
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  try {
    const load = await recordedPlan(options, stopping.signal);
    const lines = [...planLines(load, options['random-seed'])];
    await written(options.output, lines);
    const { source, notes } = load;
    process.stdout.write(
      [
        `${options.output}: ${lines.length - 1} requests in ${quantity(planSeconds(source), 'seconds')}, ${quantity(planRate(source), 'requests_per_second')} on average`,
        ...notes.map((note) => `  ${note}`),
        '',
      ].join('\n'),
    );
    return ExitCode.done;
  } catch (error) {
    if (stopping.signal.aborted) return ExitCode.interrupted;
    throw error;
  }
});

async function written(path: string, lines: readonly string[]): Promise<void> {
  try {
    await replaceWhenWritten(path, (temporary) => writeFile(temporary, lines));
  } catch (error) {
    throw new CliError(`--output ${path}: ${reasonOf(error)}`, ExitCode.failed);
  }
}
