import { benchmarkDashboardUrl, nativeVariants, serverDashboardUrl } from './dashboard-link.ts';

const place = (...natives: string[]) => ({ time: { from: 1, to: 2 }, prometheus: 'p', natives: new Set(natives) });

test('the dashboard of a system, in its variant for native histograms where that is wanted', () => {
  expect(serverDashboardUrl('smg', place())).toBe('/d/llmbench-sglang?from=1&to=2&var-datasource=p');
  expect(serverDashboardUrl('vllm', place('llmbench-vllm'))).toMatch(/^\/d\/llmbench-vllm-native\?/);
  expect(serverDashboardUrl('other', place('llmbench-vllm'))).toMatch(/^\/d\/llmbench-generic\?/);
  expect(benchmarkDashboardUrl(place('llmbench-benchmark'))).toMatch(/^\/d\/llmbench-benchmark-native\?/);
});

test.each([
  ['only the classic ones', ['llmbench-vllm'], true, []],
  ['only those for native histograms', ['llmbench-vllm-native'], false, ['llmbench-vllm']],
  ['both, classic histograms', ['llmbench-vllm', 'llmbench-vllm-native'], false, []],
  ['both, only native histograms', ['llmbench-vllm', 'llmbench-vllm-native'], true, ['llmbench-vllm']],
  ['none of them', ['mine-native'], true, []],
])('Grafana has %s', (_, uids, isNativeOnly, expected) => {
  expect([...nativeVariants(new Set(uids), isNativeOnly)]).toEqual(expected);
});
