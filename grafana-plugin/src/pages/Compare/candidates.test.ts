import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { runSummary } from '../../../../core/api/testing/run-summary.ts';
import { candidates } from './candidates.ts';

const run = (run_id: string, change = {}) => runSummary({ run_id, ...change });
const scenario = (name: string, change: object) =>
  ({ scenario: name, open_regression: null, verdict: null, ...change }) as unknown as ListedScenario;
const sets = (...given: Parameters<typeof candidates>) =>
  candidates(...given).map(({ title, a, b }) => [title, a.join(), b.join()]);

test('what was judged: all runs of an open regression, or the newest verdict without the run that was left out', () => {
  const judged = [
    scenario('worse', { open_regression: { baseline_run_ids: ['a'], run_ids: ['b', 'c'] } }),
    scenario('fine', { verdict: { baseline_run_ids: ['d'], run_ids: ['e', 'f'], left_out: 'e' } }),
    scenario('unjudged', {}),
  ];
  expect(sets(judged, [])).toEqual([
    ['worse: runs since the regression against the baseline', 'a', 'b,c'],
    ['fine: newest judged runs against the baseline', 'd', 'f'],
  ]);
});

test('of what was not judged the newest runs against as many before; one run alone is none', () => {
  const five = ['5', '4', '3', '2', '1'].map((id) => run(id));
  expect(sets([], five)).toEqual([['chat: newest 2 runs against the 2 before', '3,2', '5,4']]);
  expect(sets([], five.slice(0, 1))).toEqual([]);
});

test('two systems under the same load, also where their scenarios have different names', () => {
  const runs = [run('new', { system: 'sglang', scenario: 'chat-sglang' }), run('old')];
  expect(candidates([], runs)).toMatchObject([
    { title: 'sglang against vllm under the same load (concurrency 4)', a: ['old'], b: ['new'], acrossScenarios: true },
  ]);
});

test('of the loads of sweeps the newest alone', () => {
  const step = (load: number) =>
    ['sglang', 'vllm'].map((system) =>
      run(`${system}-${load}`, { system, fingerprint: `f${load}`, load: `concurrency ${load}` })
    );
  expect(sets([], [4, 2, 1].flatMap(step))).toEqual([
    ['sglang against vllm under the same load (concurrency 4)', 'vllm-4', 'sglang-4'],
  ]);
  const repeats = [4, 2].flatMap((load) => ['b', 'a'].map((id) => run(`${id}-${load}`, { fingerprint: `f${load}` })));
  expect(sets([], repeats)).toEqual([['chat: newest run against the one before', 'a-4', 'b-4']]);
});
