import { migrateOptions, defaultOptions } from './options.tsx';

test('options of the first version keep what they said and get the new defaults', () => {
  const options = { percentiles: [0.5, 0.95], showIntervals: false, windowSeconds: 30, slo: 0.5, showLegend: false };
  expect(migrateOptions({ options })).toEqual({ ...defaultOptions, ...options });
});

test('options of the present form stay as they are', () => {
  const options = { ...defaultOptions, mode: 'range' as const, scale: 'log' as const, slo: 2, showSampling: true };
  expect(migrateOptions({ options })).toEqual(options);
});

test('percentiles written as 99 become 0.99; what cannot be read falls back to the default', () => {
  const options = { percentiles: [50, 99.9, -1, 'p90'], windowSeconds: 'long', mode: 'cdf', slo: null };
  expect(migrateOptions({ options })).toEqual({ ...defaultOptions, percentiles: [0.5, 0.999] });
});

test('no options at all', () => {
  expect(migrateOptions({ options: undefined })).toEqual(defaultOptions);
});
