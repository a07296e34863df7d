import { ConfigurationError } from '../../errors/configuration-error.ts';
import { ProbeError } from '../../load/requests/probe.ts';
import { onlyModel } from '../../run/only-model.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { CliError, ExitCode } from '../failure.ts';
import { writeMessage } from '../message.ts';
import { saidOnce } from '../said-once.ts';
import type { ModelSource } from '../options/requested-runs.ts';

/** Asks each server once for its only model, and says once which one is used. The source throws a `CliError`. */
export function modelSource(environment: NodeJS.ProcessEnv): ModelSource {
  const known = new Map<string, string>();
  const say = saidOnce((line) => writeMessage(process.stderr, line));
  return async (request) => {
    const model = known.get(request.url) ?? (await asked(request, environment, say));
    if (!known.has(request.url)) say(`--model is not given: using ${model}, the only model that the server lists`);
    known.set(request.url, model);
    return model;
  };
}

async function asked(
  request: RunRequest,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<string> {
  try {
    return await onlyModel(request, environment, say);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(error.message);
    if (error instanceof ProbeError) throw new CliError(error.message, ExitCode.failed);
    throw error;
  }
}
