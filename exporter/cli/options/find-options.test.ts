import { expect, test } from '@jest/globals';
import { requestedFind, requestedSearch } from './find-options.ts';
import { givenRun } from './requested-runs.ts';

const P95 = ['--slo', 'ttft:p95<1s'];

test.each([
  [['--find', 'concurrency'], '--find requires --slo'],
  [['--find', 'concurrency', '--slo', 'ttft:max<1s'], 'cannot be decided by a sample'],
  [['--find', 'concurrency', ...P95, '--request-rate', '2'], 'use --find request-rate'],
  [['--find', 'concurrency', ...P95, '--concurrency', '1,2'], '--concurrency must be one number'],
  [['--find', 'request-rate', ...P95, '--check'], '--check cannot be used with --find'],
  [['--find', 'concurrency', ...P95, '--find-max', '0.5'], '--find-max'],
  [['--request-count', '5', '--max-requests', '5'], '--max-requests requires --find; a run is limited by'],
])('%j is refused', async (flags, complaint) => {
  const search = async () => {
    const argv = ['--url', 'http://127.0.0.1:9', '--model', 'm', ...flags];
    const { options, given } = await requestedFind(await givenRun(argv, {}), () => Promise.resolve('m'));
    return requestedSearch(options, given);
  };
  await expect(search()).rejects.toThrow(complaint);
});
