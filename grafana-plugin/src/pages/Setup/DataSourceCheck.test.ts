import { jobIntervals, tooSlow } from './DataSourceCheck.tsx';

const series = (refId: string, job: string, value: number) => ({ refId, labels: { job }, times: [0], values: [value] });

test('the slowest job is first, each with the longest interval of its systems', () => {
  const found = jobIntervals([
    series('vllm scrape interval', 'llmbench-server', 2.004),
    series('vllm scrape interval', 'inference', 15),
    series('triton scrape interval', 'inference', 90),
    series('up', 'other', 1),
  ]);
  expect(found).toEqual([
    { job: 'inference', seconds: 90 },
    { job: 'llmbench-server', seconds: 2 },
  ]);
  expect(tooSlow(found)).toEqual([{ job: 'inference', seconds: 90 }]);
});

test("Prometheus' default of a minute is short enough, also when a scrape was late", () => {
  expect(tooSlow(jobIntervals([series('vllm scrape interval', 'inference', 60.7)]))).toEqual([]);
});
