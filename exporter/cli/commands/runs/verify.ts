import { setAside } from '../../../store/recovery/recover.ts';
import { verifyRun } from '../../../store/verify-run.ts';
import type { Verification } from '../../../store/verify-run.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { flag } from '../../options/options.ts';
import { plainText } from './run-listing.ts';
import { namedRuns, RUNS_DIR, storeOf } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  'set-aside': flag('move damaged runs unchanged to .damaged in the runs directory'),
  json: flag('print JSON'),
};
const USAGE = 'llmbench runs verify [RUN…] [options]';
const EXAMPLES = [
  'llmbench runs verify',
  'llmbench runs verify latest --json',
  '(cd runs/20261121T190000Z-abcdefghij && sha256sum -c checksums.sha256)',
];

/** Compares runs, all unless named, with the checksums of when they were sealed; exit code 1 when one is damaged. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: Infinity } },
  async ({ options: values, positionals }) => {
    const store = await storeOf(values['runs-dir']);
    const named = positionals.length === 0 ? null : (await namedRuns(store, positionals)).map(({ run_id }) => run_id);
    const verified: Verification[] = [];
    for (const runId of named ?? (await store.runIds()).sort()) {
      const verification = await verifyRun(store, runId);
      verified.push(verification);
      if (!values.json) for (const line of problemLines(verification)) process.stdout.write(`${line}\n`);
      if (values['set-aside'] && verification.state === 'damaged') await moveAside(store, verification);
    }
    process.stdout.write(values.json ? `${JSON.stringify(verified, null, 2)}\n` : `${summary(verified)}\n`);
    return verified.some(({ state }) => state === 'damaged') ? ExitCode.failed : ExitCode.done;
  },
);

function problemLines({ run_id, problems }: Verification): string[] {
  return problems.map((problem) => `${run_id}  ${plainText(problem)}`);
}

async function moveAside(store: RunStore, { run_id, problems }: Verification): Promise<void> {
  const why = new Error(problems[0] ?? 'it is damaged');
  process.stderr.write(`${await setAside(store.directory, store.pathOf(run_id), run_id, why)}\n`);
}

function summary(verified: readonly Verification[]): string {
  const count = (state: Verification['state']): number => verified.filter((each) => each.state === state).length;
  const unsealed = count('unsealed');
  const older = unsealed === 0 ? '' : ` · ${unsealed} without checksums (stored by an earlier version)`;
  const damaged = count('damaged');
  const newer = count('newer');
  const later = newer === 0 ? '' : ` · ${newer} of a newer version`;
  return `${count('ok')} ok${older}${later}${damaged === 0 ? '' : ` · ${damaged} damaged`}`;
}
