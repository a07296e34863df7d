import { resolve } from 'node:path';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { ServiceStarts } from '../../starts/starts.ts';
import { CliError } from '../failure.ts';
import { givenArguments, parsedValues, text, valuesOf } from './options.ts';

export const ALLOW_RUNS = text(
  'FILE',
  'scenarios that clients may start by name, as YAML; requires --api-token-file or --roles-file; changes apply at once',
  null,
  { requires: ['--api-token-file or --roles-file: who may start runs must be stated'] },
);

/** What clients may start; null without a file. `say` receives a line for each later change of it that is not valid. */
export async function allowedStarts(
  path: string | null,
  runsDirectory: string,
  say: (line: string) => void,
): Promise<ServiceStarts | null> {
  if (path === null) return null;
  const { serviceStarts } = await import('../../starts/starts.ts');
  const { runStarter } = await import('../../starts/run-queue.ts');
  const { RUN_OPTIONS } = await import('./run-options.ts');
  const problemOf = (words: readonly string[]): string | null => {
    try {
      const given = givenArguments(RUN_OPTIONS, words, {});
      // What the words require may be in a scenario file.
      (given.values.has('config') ? parsedValues : valuesOf)(RUN_OPTIONS, given);
      return null;
    } catch (error) {
      if (error instanceof CliError) return error.message.replaceAll('\n', ';');
      throw error;
    }
  };
  try {
    const startRun = runStarter(process.argv[1] ?? '', process.env);
    return serviceStarts({ file: path, startRun, runsDirectory: resolve(runsDirectory), problemOf, problem: say });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(`--allow-runs: ${error.message}`);
    throw error;
  }
}
