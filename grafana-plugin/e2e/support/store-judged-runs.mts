import { changeBaseline } from '../../../exporter/judge/baseline.ts';
import { checkScenario } from '../../../exporter/judge/check-scenario.ts';
import { DEFAULT_RULES } from '../../../exporter/judge/rules.ts';
import { storeJudgedRun } from '../../../exporter/judge/testing/judged-run.ts';
import { openStore } from '../../../exporter/store/run-store.ts';
import { storeSweep } from '../../../exporter/sweeps/testing/store-sweep.ts';

/**
 * Stores runs whose figures are given, so that their verdicts are the same on every machine: ten of `before`, ten of `after`
 * that are 20 % slower, and one whose client was saturated; a scenario `release` with 20 accepted runs, of which 3 are
 * pinned, and 10 that are 30 % slower, of which some were judged; a scenario `changing`, whose baseline a test changes.
 * Before them the sweeps of three servers, one without a number of GPUs. The argument is the runs directory.
 */
const { store } = await openStore(process.argv[2] ?? '');
for (let i = 0; i < 10; i++) {
  const noise = 1 + 0.005 * Math.sin(i * 2.3);
  await storeJudgedRun(store, `before-${i}`, i, { ttft: 0.1 * noise, tags: ['before'] });
  await storeJudgedRun(store, `after-${i}`, 20 + i, { ttft: 0.12 * noise, tags: ['after'] });
}
await storeJudgedRun(store, 'saturated', 40, { ttft: 0.3, client: 'saturated' });

for (let i = 0; i < 30; i++) {
  await storeJudgedRun(store, `release-${i}`, i, {
    ttft: (i < 20 ? 0.1 : 0.13) * (1 + 0.01 * Math.sin(i * 2.3)),
    scenario: 'release',
  });
}
for (let i = 0; i < 4; i++) {
  await storeJudgedRun(store, `changing-${i}`, i, { ttft: 0.1, scenario: 'changing' });
}
const change = { scenario: 'release', author: 'ana', reason: 'first baseline' };
const first20 = Array.from({ length: 20 }, (_, i) => `release-${i}`);
await changeBaseline(store, { ...change, action: 'accept', run_ids: first20 });
await changeBaseline(store, { ...change, action: 'pin', run_ids: first20.slice(0, 3) });
for (const runIds of [['release-20'], ['release-21', 'release-22', 'release-23', 'release-24', 'release-25']]) {
  await checkScenario(store, {
    ...{ scenario: 'release', runIds, acceptPassed: false, rules: DEFAULT_RULES, author: 'ci' },
  });
}

const loads = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const sweep = { scenario: 'capacity', loads, ttftObjective: 0.5 };
await storeSweep(store, {
  ...{ ...sweep, name: 'vllm-old', group: 'sweep-vllm-old', capacity: 48, repeats: 3, gpus: 4, day: -9 },
});
await storeSweep(store, {
  ...{
    ...sweep,
    name: 'vllm-new',
    group: 'sweep-vllm-new',
    version: '0.12.0',
    capacity: 64,
    itl: 0.008,
    gpus: 4,
    day: -8,
  },
});
await storeSweep(store, {
  ...{ ...sweep, name: 'sglang', group: 'sweep-sglang', system: 'sglang', version: '0.5.3', capacity: 40, itl: 0.007 },
  day: -7,
});
