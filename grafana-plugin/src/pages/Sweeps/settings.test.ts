import { gpusOf, settingsOf } from './settings.ts';

const address = (text: string) => {
  const parameters = new URLSearchParams(text);
  return { one: (name: string) => parameters.get(name) };
};

test('an address without settings: output tokens/s against the p99 of the time to first token, GPUs unknown', () => {
  expect(settingsOf(address(''))).toEqual({
    throughput: 'output_token_throughput',
    latency: 'time_to_first_token',
    percentile: 'p99',
    gpus: null,
  });
});

test('the settings of an address', () => {
  const text = 'throughput=request_throughput&latency=request_latency&percentile=p50&gpus=8';
  expect(settingsOf(address(text))).toEqual({
    throughput: 'request_throughput',
    latency: 'request_latency',
    percentile: 'p50',
    gpus: 8,
  });
});

test('what does not exist is as at first', () => {
  const text = 'throughput=goodput&latency=constructor&percentile=p75&gpus=-1';
  expect(settingsOf(address(text))).toEqual(settingsOf(address('')));
});

test.each([
  ['1', 1],
  ['72', 72],
  ['1000000', 1_000_000],
  ['1000001', null],
  ['0', null],
  ['', null],
  ['2.5', null],
  ['8 GPUs', null],
  ['1e3', null],
])('%j GPUs', (text, gpus) => {
  expect(gpusOf(text)).toBe(gpus);
});
