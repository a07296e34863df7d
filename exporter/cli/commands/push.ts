import { firstNames, things } from '../../../core/text/quantities.ts';
import { sendPending, type SentPending } from '../../publish/remote-write/send-pending.ts';
import { readReceiver, delayText } from '../../publish/remote-write/receiver.ts';
import { exists } from '../../files/exists.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { command } from '../command.ts';
import { flag, seconds, text } from '../options/options.ts';
import { RECEIVER_OPTIONS, requestedReceiver } from '../options/publish-options.ts';
import { VERSION } from '../version.ts';

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  timeout: seconds('give up after this time', { min: 0, max: 86_400 }, 60),
  ...RECEIVER_OPTIONS,
  json: flag('print a summary as JSON'),
};

const EXAMPLES = ['llmbench push --remote-write-url http://localhost:9090/api/v1/write'];

export const run = command(
  OPTIONS,
  { usage: 'llmbench push --remote-write-url URL [options]', examples: EXAMPLES },
  async ({ options }) => {
    const request = requestedReceiver(options);
    if (request === null) throw new CliError('--remote-write-url is required');
    const store = await openRuns(options['runs-dir']);
    if (!(await exists(store.directory)))
      throw new CliError(
        `--runs-dir ${options['runs-dir']} does not exist: samples wait in the directory of their runs`,
      );
    const receiver = await readReceiver(request, process.env);
    const sent = await sendPending({
      ...{ runsDirectory: store.directory, receiver, version: VERSION, seconds: options.timeout },
      problem: (line) => printLine(`remote write: ${line}`),
      ...{ reportsDropped: true, delayed: saidDelay(printLine) },
    });
    if (options.json) process.stdout.write(`${JSON.stringify(sent, null, 2)}\n`);
    else {
      const trouble = sent.trouble === null ? '' : ` (${sent.trouble})`;
      printLine(
        `${things(sent.written, 'samples')} of ${things(sent.queues, 'runs')} written, ${sent.dropped} dropped`,
      );
      if (sent.dropped_before > 0) printLine(droppedBefore(sent));
      if (sent.waiting > 0) printLine(`${sent.waiting} samples are still queued${trouble}`);
      if (sent.elsewhere.length > 0)
        printLine(`samples are also queued for other receivers: ${sent.elsewhere.join(', ')}`);
    }
    return sent.waiting > 0 || sent.dropped + sent.dropped_before > 0 ? ExitCode.failed : ExitCode.done;
  },
);

const MAX_NAMED = 3;

function droppedBefore({ dropped_before: samples, runs_with_dropped: runs }: SentPending): string {
  return (
    `${things(samples, 'samples')} of ${firstNames(runs, MAX_NAMED)} had been rejected and dropped before; ` +
    '`llmbench backfill` sends the results of finished runs again'
  );
}

const printLine = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Reports, once, that a receiver of remote write does not accept samples and for how long they are sent again. Without it, a
 * command that waits for the receiver would print nothing.
 */
export function saidDelay(say: (line: string) => void): (reason: string, seconds: number) => void {
  let isSaid = false;
  return (reason, seconds) => {
    if (isSaid) return;
    isSaid = true;
    say(delayText(reason, seconds));
  };
}
