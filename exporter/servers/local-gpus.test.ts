import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../core/testing/until.ts';
import { LocalGpus, samplesOf } from './local-gpus.ts';
import type { ScalarSeries } from './series/series.ts';

/** A shell script takes the place of each program. */
const onUnix = process.platform === 'win32' ? test.skip : test;

const PATH = process.env['PATH'] ?? '';
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-gpus-'));
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
});
afterEach(async () => {
  process.env['PATH'] = PATH;
  await rm(folder, { recursive: true });
});

async function install(program: string, script: string): Promise<void> {
  await writeFile(join(folder, program), `#!/bin/sh\necho "$@" > ${join(folder, 'arguments')}\n${script}\n`, {
    mode: 0o755,
  });
}

async function started(lines: string[] = []): Promise<LocalGpus | null> {
  const now_ns = (): number => performance.now() * 1e6;
  return LocalGpus.start({ intervalSeconds: 0.05, now_ns, say: (line) => lines.push(line) });
}

/** Waits until there are so many samples. */
async function sampled({ store }: LocalGpus, times: number): Promise<void> {
  await until(() => store.scrapes >= times);
}

const values = ({ store }: LocalGpus): [labels: object, value: number][] =>
  store.series.map((series) => [series.labels, (series as ScalarSeries).value(0)]);

describe('nvidia-smi', () => {
  const rows = (watts: string): string =>
    `echo "2, GPU-a, NVIDIA A100-SXM4-80GB, ${watts}"; echo "2, GPU-b, NVIDIA A100-SXM4-80GB, 61.50"`;

  onUnix('one process samples all GPUs until it is stopped', async () => {
    await install('nvidia-smi', `while true; do ${rows('60.25')}; sleep 0.05; done`);
    const gpus = await started();
    if (gpus === null) throw new Error('it did not start');
    expect(gpus.program).toBe('nvidia-smi');
    await sampled(gpus, 3);
    await gpus.stop();
    expect(values(gpus)).toEqual([
      [{ uuid: 'GPU-a', name: 'NVIDIA A100-SXM4-80GB' }, 60.25],
      [{ uuid: 'GPU-b', name: 'NVIDIA A100-SXM4-80GB' }, 61.5],
    ]);
    expect((await readFile(join(folder, 'arguments'), 'utf8')).trim()).toBe(
      '--query-gpu=count,uuid,name,power.draw --format=csv,noheader,nounits --loop-ms=50',
    );
    const { scrapes } = gpus.store;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(gpus.store.scrapes).toBe(scrapes);
  });

  onUnix('a GPU without a power has no sample', async () => {
    await install('nvidia-smi', `${rows('[N/A]')}; sleep 5`);
    const gpus = await started();
    expect(gpus && values(gpus)).toEqual([[{ uuid: 'GPU-b', name: 'NVIDIA A100-SXM4-80GB' }, 61.5]]);
    await gpus?.stop();
  });

  onUnix('a driver that does not work, and a program that ends during the run', async () => {
    await install(
      'nvidia-smi',
      'echo "NVIDIA-SMI has failed because it could not communicate with the driver."; exit 9',
    );
    await install('rocm-smi', 'exit 2');
    expect(await started()).toBeNull();
    await install('nvidia-smi', `${rows('60')}; exit 15`);
    const lines: string[] = [];
    const gpus = await started(lines);
    await until(() => lines.length !== 0);
    expect(lines).toEqual(['the power of the GPUs is no longer sampled: nvidia-smi ended with exit code 15']);
    await gpus?.stop();
  });
});

describe('rocm-smi', () => {
  const card = (power: string): object => ({
    'Unique ID': '0xd1bf24e6ea3a2b21',
    'Card Series': 'AMD Instinct MI300X',
    'Current Socket Graphics Package Power (W)': power,
  });

  onUnix('is started for each sample', async () => {
    const json = JSON.stringify({ card0: card('141.0'), system: { 'Driver version': '6.8.5' } });
    await install('rocm-smi', `echo '${json}'`);
    await install('nvidia-smi', 'exit 9');
    const gpus = await started();
    if (gpus === null) throw new Error('it did not start');
    await sampled(gpus, 3);
    await gpus.stop();
    expect(values(gpus)).toEqual([[{ uuid: '0xd1bf24e6ea3a2b21', name: 'AMD Instinct MI300X' }, 141]]);
  });

  test('older GPUs report the average; what is not supported is null', () => {
    const older = { 'Average Graphics Package Power (W)': '35.0' };
    expect(samplesOf(JSON.stringify({ card0: older, card1: { ...card('N/A') } }))).toEqual([
      { gpu: 'card0', model: null, watts: 35 },
      { gpu: '0xd1bf24e6ea3a2b21', model: 'AMD Instinct MI300X', watts: null },
    ]);
  });
});

onUnix('no such program', async () => {
  process.env['PATH'] = folder;
  expect(await started()).toBeNull();
});
