import { signalRules } from '../../../catalog/explanations.ts';
import type { RunStore } from '../../store/run-store.ts';
import { readResultFile } from '../../store/sealed/read-run-files.ts';
import { readServersFile } from '../../store/servers/read-servers-json.ts';
import type { Judgment } from '../../../core/api/verdict.ts';
import { explain } from './moved-signals.ts';
import type { Explanation } from '../../../core/api/comparison.ts';
import { signalsIn, type RunSignals } from './run-signals.ts';

/** Reads what the servers of the judged runs reported, where a gating measure changed; else null. */
export async function loadExplanation(
  store: RunStore,
  judgment: Pick<Judgment, 'design' | 'runs' | 'measures'>,
): Promise<Explanation | null> {
  if (explain(judgment, new Map(), []) === null) return null;
  const signals = new Map<string, RunSignals>();
  // One after the other: the files of long runs are large.
  for (const id of new Set([...judgment.runs.a, ...judgment.runs.b])) signals.set(id, await signalsOf(store, id));
  return explain(judgment, signals, signalRules());
}

async function signalsOf(store: RunStore, run_id: string): Promise<RunSignals> {
  try {
    const folder = store.endedPathOf(run_id);
    const { servers } = await readResultFile(folder);
    if (servers === null) return { run_id, values: [], problem: 'no_server_metrics' };
    if (servers.exact !== true) return { run_id, values: [], problem: 'not_exact' };
    const file = await readServersFile(folder);
    if (file === null) return { run_id, values: [], problem: 'no_server_metrics' };
    const { inexact_families: late = [] } = servers;
    const series = file.series.filter(({ target, family }) => {
      return !late.some((each) => each.target === target && each.family === family);
    });
    return { run_id, values: signalsIn({ ...file, series }, signalRules()), problem: null };
  } catch {
    // An explanation is no evidence: a damaged file of the servers must not keep the verdict back.
    return { run_id, values: [], problem: 'unreadable' };
  }
}
