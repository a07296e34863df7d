import { onlyModel } from '../../run/probed-form.ts';
import { writeMessage, saidOnce } from '../terminal-text.ts';
import type { ModelSource } from '../options/requested-runs.ts';

/** Asks each server once for its only model, and says once which one is used. The source throws an `ExpectedError`. */
export function modelSource(environment: NodeJS.ProcessEnv): ModelSource {
  const known = new Map<string, string>();
  const say = saidOnce((line) => writeMessage(process.stderr, line));
  return async (request) => {
    const model = known.get(request.url) ?? (await onlyModel(request, environment, say));
    if (!known.has(request.url)) say(`--model is not given: using ${model}, the only model that the server lists`);
    known.set(request.url, model);
    return model;
  };
}
