import type { ObjectiveResult } from '../../../core/run/objectives.ts';
import { endOfDoubling } from '../../../core/sweeps/sweep-figures.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import type { RunControls } from '../../load/phases/run-controls.ts';
import { measureRun } from '../../run/perform-run.ts';
import { checkLoad } from '../../run/planned-load.ts';
import { performGroup } from '../../run/run-group.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunUploads } from '../../run/run-uploads.ts';
import type { ShardMeeting } from '../../run/shard-meeting.ts';
import { CliError, ExitCode } from '../failure.ts';
import { departureTexts, writeMessage } from '../terminal-text.ts';
import { CHECK_OPTIONS } from '../options/judge-options.ts';
import type { GivenArguments } from '../options/options.ts';
import {
  givenRun,
  requestedRuns,
  unseenDefaults,
  withOwnNames,
  type RequestedRuns,
} from '../options/requested-runs.ts';
import { RUN_OPTIONS, type RunOptions } from '../options/run-options.ts';
import { keptRun, showRun, showRuns } from '../run-results.ts';
import { hasOnlyVerdict, Session, withUpload } from '../session.ts';
import { requestText, type GroupRun, sweepEndLine } from '../tables/group-table.ts';
import { VERSION } from '../version.ts';
import { modelSource } from './model-source.ts';

export { RUN_OPTIONS as OPTIONS };

export async function run(argv: readonly string[]): Promise<number> {
  const words = await withOwnNames(argv, RUN_OPTIONS);
  const given = await givenRun(words, process.env);
  if (given.values.has('find')) return (await import('./find-capacity.ts')).find(words, given);
  const requested = await requestedRuns(words, process.env, modelSource(process.env));
  const { options, steps } = requested;
  refuseUnfitCheck(options, steps, given);
  const unseen = await unseenDefaults(argv);
  if (unseen !== null) writeMessage(process.stderr, unseen);
  const session = new Session(options);
  const runs: GroupRun[] = [];
  const isUploaded = await session.use(() => performed(requested, session, runs));
  const exitCode = withUpload(exitCodeOf(runs, session.controls, options['slo-undecided'] === 'fail'), isUploaded);
  const judged = exitCode === ExitCode.done || exitCode === ExitCode.gate;
  return options.check && judged ? Math.max(exitCode, await checked(runs, options, words)) : exitCode;
}

/** Performs the runs, shows and uploads them. False if one of them is not where it was to be uploaded. */
async function performed(
  { options, requests, steps }: RequestedRuns,
  session: Session,
  runs: GroupRun[],
): Promise<boolean> {
  const { controls, say, sayOnce } = session;
  const isMember = requests.length > 1;
  let meeting: ShardMeeting | null = null;
  try {
    for (const request of requests) checkLoad(request, steps, options.yes);
    meeting = await requestedMeeting(options, requests, await session.openUploads());
    const rendezvous = meeting?.rendezvous ?? null;
    const isMerged = meeting !== null;
    await performGroup(
      requests.map((request) => session.uploaded(request)),
      controls,
      {
        cooldownSeconds: options['profile-run-cooldown-seconds'],
        announce: (number, request) => {
          const most = options.sweep === null ? '' : 'at most ';
          process.stderr.write(`\nrun ${number} of ${most}${requests.length}: ${requestText(request)}\n`);
        },
        perform: (request) =>
          keptRun(runs, request, () =>
            measureRun(request, controls, { ...session.host(request), rendezvous }, VERSION),
          ),
        finished: (run, request) => showRun(run, request, options, { isMember, isMerged, note: sayOnce }),
        goesOn: (done) => {
          const end = options.sweep === null ? null : endOfDoubling(done.map(({ result }) => result));
          if (end !== null) say(sweepEndLine(end));
          return end === null;
        },
        waiting: () => session.waiting(),
        departed: (lines, count) => departureTexts(lines, count).forEach(say),
      },
    );
  } catch (error) {
    await meeting?.leave(reasonOf(error));
    throw error;
  } finally {
    await session.closePage();
    if (!hasOnlyVerdict(options)) await showRuns(runs, isMember, options);
  }
  const isUploaded = await session.upload();
  return meeting === null ? isUploaded : meeting.end(runs[0]?.performed ?? null, isUploaded, controls.draining);
}

/** Null unless this is a shard that is uploaded. */
async function requestedMeeting(
  options: RunOptions,
  [request]: readonly RunRequest[],
  uploads: RunUploads | null,
): Promise<ShardMeeting | null> {
  if (uploads === null || request === undefined || request.shard === null || request.runId === null) return null;
  return uploads.rendezvous({
    runId: request.runId,
    share: request.shard.share,
    runsDirectory: options['runs-dir'],
    startTimeoutSeconds: options['start-timeout'],
    lostAfterSeconds: options['shard-timeout'],
  });
}

/** Throws a `CliError`. */
function refuseUnfitCheck(options: RunOptions, steps: number, { values }: GivenArguments): void {
  if (options.check && steps > 1)
    throw new CliError('--check requires one load: without lists of loads and without a matrix');
  if (options.check || values.has('check')) return;
  // Their environment variables are those of `llmbench check`.
  const without = Object.keys(CHECK_OPTIONS).find((name) => values.get(name)?.source === `--${name}`);
  if (without !== undefined) throw new CliError(`--${without} requires --check`);
}

/** Judges what was measured. Confirming runs have the same options, and one run each. */
async function checked(runs: readonly GroupRun[], options: RunOptions, argv: readonly string[]): Promise<number> {
  const { checkRuns } = await import('./check.ts');
  const { storeOf } = await import('./runs/stored-runs.ts');
  const ids = runs.map(({ performed }) => performed.result.run_id);
  if (options.format === 'text' && !options.json) process.stdout.write('\n');
  const store = await storeOf(options['runs-dir']);
  return checkRuns(store, options.scenario, ids, options, [...argv, '--num-profile-runs', '1']);
}

function exitCodeOf(runs: readonly GroupRun[], controls: RunControls, failUndecided: boolean): number {
  if (controls.draining.aborted) return ExitCode.interrupted;
  const results = runs.map(({ performed }) => performed.result);
  if (results.some(({ status }) => status !== 'completed')) return ExitCode.failed;
  const fails = (verdict: ObjectiveResult['verdict']): boolean =>
    verdict === 'not_met' || (failUndecided && verdict === 'undecided');
  const missed = results.some(({ slos }) => slos.some(({ verdict }) => fails(verdict)));
  return missed ? ExitCode.gate : ExitCode.done;
}
