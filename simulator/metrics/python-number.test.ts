import { expect, test } from '@jest/globals';

import { pythonNumber } from './python-number.ts';

// Left: floatToGoString of prometheus_client 0.26 for the same double.
test.each([
  ['0.0', 0],
  ['-0.0', -0],
  ['1.0', 1],
  ['-3.5', -3.5],
  ['0.005', 0.005],
  ['0.0001', 0.0001],
  ['5e-05', 0.00005],
  ['1.5e-07', 1.5e-7],
  ['0.1', 0.1],
  ['100000.0', 100000],
  ['999999.5', 999999.5],
  ['1e+06', 1000000],
  ['1.2345675e+06', 1234567.5],
  ['4.860116992e+09', 4860116992],
  ['1.7952799391464283e+09', 1795279939.1464283],
  ['2e+10', 2e10],
  ['1.234567890125e+11', 123456789012.5],
  ['1e+16', 1e16],
  ['-1000000.0', -1000000],
  ['+Inf', Infinity],
  ['-Inf', -Infinity],
  ['NaN', NaN],
])('%s', (text, value) => {
  expect(pythonNumber(value)).toBe(text);
});
