import { expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { fingerprint } from '../store/fingerprint.ts';
import { comparisonKey } from './comparison-key.ts';
import { plannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';

const TRACE = [0, 700, 1300.5].map((timestamp, i) =>
  JSON.stringify({ timestamp, input_length: 600 + i, output_length: 8, hash_ids: [i, i + 1] }),
);

/** Flags and the fingerprint that stored runs of these flags have. Comparisons and baselines find runs by it. */
const STORED = [
  ['--request-count 10', '26b63979d88a4614b3eb0787e911a42596f549e10c8e23259416bc218bd92b9b'],
  ['--request-count 10 --concurrency 8', 'a0bf786a127154f2a4ba1c27e6def1d6b7803889089547bfe171edc0986d0dd9'],
  [
    '--request-count 10 --concurrency 8 --concurrency-ramp-duration 3',
    '1ec7ab3704e9144af573cdf52b2a3ef00c5f49cd0d0d3d6f575742ae559c8f11',
  ],
  [
    '--request-count 10 --concurrency 8 --prefill-concurrency 2 --prefill-concurrency-ramp-duration 4',
    '0f5f6bc3e6c960e907fa1a34a9c47c2c01736ed9c34adb171621278c1986d309',
  ],
  ['--benchmark-duration 5 --request-rate 2.5', '5e881c0630f38cc770487db7c068528b598ffe6034271407cade8006bcff5540'],
  [
    '--benchmark-duration 5 --request-rate 2.5 --concurrency 32 --request-rate-ramp-duration 2',
    'c7205178136e6c39ec663a0ab6da43a38f85a77fc1b1033058f3fbdfe3360579',
  ],
  [
    '--request-count 9 --request-rate 4 --arrival-pattern gamma --arrival-smoothness 0.5 --random-seed 7',
    '8e723d092fea52ae932cd7477c89cb53b1802e0a98107ca64971c724acc4f9d4',
  ],
  [
    '--request-count 9 --request-rate 4 --arrival-pattern constant --warmup-request-count 3',
    'c399c9ec102c1f5801350c1ca217e348f69ace97369561b3cf162fac0e70bcbb',
  ],
  [
    '--request-count 9 --warmup-duration 2 --warmup-request-rate 3',
    'a04d6474d864e17de4bad3d8fd01eecbe251fe44cd19304bca6226af8cbcfd43',
  ],
  [
    '--request-count 9 --concurrency 4 --warmup-duration 2 --warmup-concurrency 2',
    '4b84ea694e67626cb6aef16187c20074c14a77139e15b784e3d9e1bf9e716acd',
  ],
  [
    '--request-count 9 --request-cancellation-rate 10 --request-cancellation-delay 2',
    'b778d46ea67f9b6f2815eef64c276f5c0339fb833526a087547fc4017f5fa6c6',
  ],
  [
    '--custom-dataset-type mooncake_trace --input-file TRACE',
    'dc7a07cafe855c50734fb3ab075fe472f4fca1586c50dca8c03b63d410d8390e',
  ],
  [
    '--custom-dataset-type mooncake_trace --input-file TRACE --concurrency 2 --warmup-request-count 1',
    '23978e63ef51a3aa71313f30b6b707610a4dbb43d596f42baa2ccc5e53d79e5c',
  ],
  [
    '--custom-dataset-type mooncake_trace --input-file TRACE --fixed-schedule --fixed-schedule-start-offset 500 --request-count 1',
    '1515b8d9d2346b55bc71386c36e4d07b1e62f996baa75f71945af9f2c464dac3',
  ],
  [
    '--custom-dataset-type mooncake_trace --input-file TRACE --no-fixed-schedule --request-count 2',
    'db7e223a7fc1235485d20ca7433acf24624186414cac7cfa762ad85424385afb',
  ],
] as const;

test('a run described by the same flags has the same fingerprint in every version', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-fingerprints-'));
  const trace = join(folder, 'trace.jsonl');
  await writeFile(trace, TRACE.join('\n'));
  const found: [string, string][] = [];
  for (const [flags] of STORED) {
    const argv = ['--url', 'http://127.0.0.1:9', '--model', 'm', '--same-prompts', ...flags.split(' ')];
    const [request] = runRequests(
      readOptions(
        RUN_OPTIONS,
        argv.map((each) => (each === 'TRACE' ? trace : each)),
        {},
      ),
    );
    if (request === undefined) throw new Error('these flags describe no run');
    const { form, transport } = await prepareTraffic(request, {});
    await transport.close();
    const key = comparisonKey(request, form.endpoint.type, plannedLoad(request, form.dataset));
    found.push([flags, fingerprint(key)]);
  }
  await rm(folder, { recursive: true });
  expect(found).toEqual(STORED);
});
