import { storeJudgedRun } from '../../../exporter/judge/testing/judged-run.ts';
import { openStore } from '../../../exporter/store/run-store.ts';

/**
 * Stores runs whose figures are given, so that their verdicts are the same on every machine: ten of `before`, ten of `after`
 * that are 20 % slower, and one whose client was saturated. The argument is the runs directory.
 */
const { store } = await openStore(process.argv[2] ?? '');
for (let i = 0; i < 10; i++) {
  const noise = 1 + 0.005 * Math.sin(i * 2.3);
  await storeJudgedRun(store, `before-${i}`, i, { ttft: 0.1 * noise, tags: ['before'] });
  await storeJudgedRun(store, `after-${i}`, 20 + i, { ttft: 0.12 * noise, tags: ['after'] });
}
await storeJudgedRun(store, 'saturated', 40, { ttft: 0.3, client: 'saturated' });
