import { hasCode } from '../../errors/expected-error.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchedLoad } from '../../../core/run/capacity.ts';
import { modelNamesText } from '../../../core/run/run.ts';
import { createRunId, isRunId } from '../../../core/run/run-id.ts';
import { objectiveText } from '../../../core/objectives/grammar.ts';
import type { CapacitySearch, PlannedProbe } from '../../run/find/find-capacity.ts';
import { objectiveTest, type ObjectiveTest } from '../../run/find/objective-test.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { unfinishedDirectory } from '../../store/run-paths.ts';
import { CliError } from '../failure.ts';
import { modelTexts } from './model-options.ts';
import { requestedObjectives } from './objective-options.ts';
import { valuesOf, type GivenArguments, type GivenValues } from './options.ts';
import { NO_MODEL, runCommandLine, withModel, type ModelSource } from './requested-runs.ts';
import { RUN_OPTIONS, runRequests, type RunOptions } from './run-options.ts';

const START = { concurrency: 1, request_rate: 1 } as const;
const LOWEST = { concurrency: 1, request_rate: 0.01 } as const;
const HIGHEST = { concurrency: 512, request_rate: 1000 } as const;

/** A probe without a limit of the user ends after this time, undecided. */
const PROBE_SECONDS = 600;
/** Warm-up of a probe, unless the user set one: at a concurrency once for each slot, at a rate for this time. */
const MIN_WARMUP_REQUESTS = 4;
const WARMUP_SECONDS = 2;
/** A longer ID leaves no room for the names of the runs. */
const RUN_SUFFIX = '-s000-r0-00';

/** The options of `run --find` and from where they come. Throws a `CliError`, and what the source of models throws. */
export async function requestedFind(
  given: GivenArguments,
  modelOf: ModelSource,
): Promise<{ options: RunOptions; given: GivenValues }> {
  const options = valuesOf(RUN_OPTIONS, given);
  if (options.model.length > 0 || options.url.length === 0) return { options, given: given.values };
  const search = requestedSearch({ ...options, model: [NO_MODEL] }, given.values);
  const model = await modelOf(search.request(smallestProbe(search.range.start)));
  return { options: { ...options, model: [model] }, given: withModel(given, model).values };
}

const smallestProbe = (load: number): PlannedProbe => ({
  ...{ load, step: 0, repeat: 0, number: 0, requestCount: 1 },
  allowance: { requests: Infinity, outputTokens: Infinity, seconds: Infinity },
});

/** The search that the options ask for. Throws a `CliError`. */
export function requestedSearch(options: RunOptions, given: GivenValues): CapacitySearch {
  const load: SearchedLoad = options.find === 'concurrency' ? 'concurrency' : 'request_rate';
  if (load === 'concurrency' && options['request-rate'] !== null)
    throw new CliError('--request-rate cannot be used with --find concurrency; use --find request-rate');
  const start = startOf(options, load);
  const max = options['find-max'] ?? Math.max(start, HIGHEST[load]);
  if (load === 'concurrency' && !Number.isInteger(max))
    throw new CliError(`--find-max is ${max} and must be a whole number with --find concurrency`);
  if (max < start) throw new CliError(`--find-max is ${max}, below the first load of the search, ${start}`);
  const groupId = options['run-id'] ?? createRunId(new Date());
  if (!isRunId(`${groupId}${RUN_SUFFIX}`))
    throw new CliError(
      `--run-id is '${groupId}' and must be at most ${64 - RUN_SUFFIX.length} letters, digits and dashes`,
    );
  const slos = requestedObjectives(options)?.slos ?? [];
  const tests = testsOf(options);
  return {
    groupId,
    scenario: options.scenario,
    model: modelNamesText(modelTexts(options.model)),
    range: { load, start, min: Math.min(start, LOWEST[load]), max },
    tests,
    objectives: slos.map((slo) => ({ text: objectiveText(slo), ...slo })),
    budget: {
      requests: options['max-requests'],
      seconds: options['max-seconds'],
      output_tokens: options['max-output-tokens-total'],
    },
    mostRequests: options['request-count'],
    servers: options.url.length,
    cooldownSeconds: options['profile-run-cooldown-seconds'],
    request: (probe) => probeRequest(options, given, load, groupId, probe),
  };
}

function startOf(options: RunOptions, load: SearchedLoad): number {
  const [name, first] =
    load === 'concurrency'
      ? (['concurrency', options.concurrency] as const)
      : (['request-rate', options['request-rate']] as const);
  if (first !== null && (first.length > 1 || first[0] === Infinity))
    throw new CliError(`--${name} must be one number, the first load of the search`);
  return first?.[0] ?? START[load];
}

function testsOf(options: RunOptions): readonly ObjectiveTest[] {
  const objectives = requestedObjectives(options);
  return (objectives?.slos ?? []).map((objective) => {
    try {
      return objectiveTest(objective, objectives?.goodput ?? []);
    } catch (error) {
      if (hasCode(error, 'refused')) throw new CliError(`--slo ${objectiveText(objective)}: ${error.message}`);
      throw error;
    }
  });
}

/** The run of one probe: the options of the command at its load, within what is left of the budget. */
function probeRequest(
  options: RunOptions,
  given: GivenValues,
  load: SearchedLoad,
  groupId: string,
  probe: PlannedProbe,
): RunRequest {
  const { allowance } = probe;
  const warmup = warmupOf(options, load, probe.load);
  const warmupRequests = Math.min(warmup.requests ?? Infinity, Math.floor(allowance.requests / 4));
  const measured = Math.min(probe.requestCount ?? Infinity, allowance.requests - (warmupRequests || 0));
  const duration = options['benchmark-duration'] ?? PROBE_SECONDS;
  const atLoad: RunOptions = {
    ...options,
    ...(load === 'concurrency' ? { concurrency: [probe.load] } : { 'request-rate': [probe.load] }),
    'request-count': Number.isFinite(measured) ? measured : null,
    'benchmark-duration': duration,
    'warmup-request-count': Number.isFinite(warmupRequests) ? warmupRequests : null,
    'warmup-duration': warmup.seconds,
    'max-output-tokens-total': Number.isFinite(allowance.outputTokens) ? allowance.outputTokens : null,
    'run-id': null,
  };
  const [request] = runRequests(atLoad);
  if (request === undefined) throw new Error('a probe has one load');
  const name = load === 'concurrency' ? 'concurrency' : 'request-rate';
  const texts = (text: string | number): { texts: readonly string[]; source: string } => ({
    texts: [String(text)],
    source: '',
  });
  // The budget is that of the search.
  const own = [...given].filter(([option]) => option !== 'max-output-tokens-total');
  const shown = new Map([...own, [name, texts(probe.load)] as const, ['benchmark-duration', texts(duration)] as const]);
  if (probe.requestCount !== null) shown.set('request-count', texts(probe.requestCount));
  const isReused = options['random-seed'] !== null && !options['same-prompts'];
  return {
    ...request,
    runId: freeId(options['runs-dir'], `${groupId}-s${probe.step}-r${probe.repeat}`),
    group: { group_id: groupId, step: probe.step, repeat: probe.repeat },
    textVariant: request.textVariant + (isReused || options['prompt-variant'] !== null ? probe.number : 0),
    commandLine: runCommandLine(shown, undefined),
  };
}

interface Warmup {
  /** Null: no limit, of a warm-up that lasts for a time. */
  readonly requests: number | null;
  readonly seconds: number | null;
}

function warmupOf(options: RunOptions, load: SearchedLoad, value: number): Warmup {
  const requests = options['warmup-request-count'];
  const seconds = options['warmup-duration'];
  if (requests !== null || seconds !== null) return { requests: requests ?? (seconds ? null : 0), seconds };
  const usual = load === 'concurrency' ? value : Math.ceil(value * WARMUP_SECONDS);
  return { requests: Math.max(MIN_WARMUP_REQUESTS, usual), seconds: null };
}

/** The second try of a probe is `ID-s1-r0-2`, as a repeated run of `ab`. */
function freeId(runsDirectory: string, id: string): string {
  const isTaken = (name: string): boolean =>
    existsSync(join(runsDirectory, name)) || existsSync(join(unfinishedDirectory(runsDirectory), name));
  if (!isTaken(id)) return id;
  for (let attempt = 2; ; attempt++) if (!isTaken(`${id}-${attempt}`)) return `${id}-${attempt}`;
}
