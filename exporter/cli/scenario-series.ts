import type { FamilyInput } from '../../core/exposition/index.ts';
import { ScenarioStates, type ScenarioState } from '../judge/scenario-state.ts';
import { lastCompletedFamily, MAX_SCENARIOS, scenarioFamilies, lastCompleted } from '../publish/scenario-families.ts';
import { readReceiver } from '../publish/remote-write/receiver.ts';
import {
  pushScenariosOnce,
  ScenarioPusher,
  type ScenarioPushOptions,
} from '../publish/remote-write/scenario-pusher.ts';
import type { RunList } from '../publish/views/run-library.ts';
import type { RunStore } from '../store/run-store.ts';
import { requestedLabels, requestedReceiver, type RECEIVER_OPTIONS } from './options/publish-options.ts';
import type { OptionValues } from './options/options.ts';
import { VERSION } from './version.ts';

/** Where verdicts are written to. */
export type VerdictReceiver = Pick<ScenarioPushOptions, 'receiver' | 'extraLabels'>;

/** The receiver that was requested; null without one. Throws an `ExpectedError` when it cannot be used. */
export async function requestedVerdictReceiver(
  options: OptionValues<typeof RECEIVER_OPTIONS>,
): Promise<VerdictReceiver | null> {
  const request = requestedReceiver(options);
  if (request === null) return null;
  const extraLabels = requestedLabels(options['remote-write-label']);
  return { receiver: await readReceiver(request, process.env), extraLabels };
}

/** How long a command waits for the receiver. */
const FLUSH_SECONDS = 5;

/** Writes what was decided of a scenario once, if a receiver was requested; its failure changes no exit code. */
export async function pushScenario(store: RunStore, scenario: string, to: VerdictReceiver | null): Promise<void> {
  if (to === null) return;
  const read = async (): Promise<readonly FamilyInput[]> =>
    scenarioFamilies((await new ScenarioStates(store.directory).read()).filter((state) => state.scenario === scenario));
  await pushScenariosOnce(optionsOf(store, to, read), FLUSH_SECONDS);
}

export interface PushedScenarios {
  readonly list: RunList;
  readonly states: () => Promise<readonly ScenarioState[]>;
  readonly expectedSeconds: ReadonlyMap<string, number>;
  readonly intervalSeconds: number;
}

/** Writes what was decided of all scenarios at an interval, until the returned function is called. */
export function keepPushingScenarios(
  store: RunStore,
  { list, states, expectedSeconds, intervalSeconds }: PushedScenarios,
  to: VerdictReceiver,
): () => Promise<void> {
  const read = async (): Promise<readonly FamilyInput[]> => {
    const runs = (await list.list()).flatMap(({ summary }) => (summary === null ? [] : [summary]));
    const completed = [...lastCompleted(runs)].sort(([, x], [, y]) => y - x).slice(0, MAX_SCENARIOS);
    return [
      ...scenarioFamilies((await states()).slice(0, MAX_SCENARIOS), expectedSeconds),
      ...(completed.length === 0 ? [] : [lastCompletedFamily(completed)]),
    ];
  };
  const pusher = new ScenarioPusher(optionsOf(store, to, read), intervalSeconds);
  return () => pusher.stop(FLUSH_SECONDS);
}

function optionsOf(store: RunStore, to: VerdictReceiver, read: ScenarioPushOptions['read']): ScenarioPushOptions {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  return { ...to, runsDirectory: store.directory, version: VERSION, read, say };
}
