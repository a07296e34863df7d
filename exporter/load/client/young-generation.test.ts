import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process of its own: the limit is one of the process, and jest's has a large heap already. */
function youngMegabytes(): number {
  const module = fileURLToPath(new URL('young-generation.ts', import.meta.url));
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungGeneration } from ${JSON.stringify(module)};
    const bound = boundYoungGeneration();
    const kept = [];
    for (let turn = 0; turn < 60; turn++) {
      for (let i = 0; i < 100_000; i++) kept[i % 60_000] = { turn, numbers: [i, i + 1, i + 2] };
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    bound.stop();
    process.stdout.write(String(young.physical_space_size / 1e6));`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
}

test('the young generation grows until it suffices, and no further', () => {
  // Unbounded it is 126 MB here. One step of doubling may come between two looks.
  expect(youngMegabytes()).toBeLessThanOrEqual(70);
});
