import { expect, test } from '@jest/globals';
import { negotiateFormat } from './metrics-page.ts';

test.each([
  // What Prometheus 3.5 and 2.42 send.
  [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'openmetrics',
  ],
  [
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    'openmetrics',
  ],
  ['application/openmetrics-text', 'openmetrics'],
  ['Application/OpenMetrics-Text; Version="1.0.0"', 'openmetrics'],
  ['text/plain;version=0.0.4;q=0.9, application/openmetrics-text;version=1.0.0;q=0.8', 'text'],
  ['application/openmetrics-text;version=0.0.1', 'text'],
  ['application/openmetrics-text;q=0', 'text'],
  ['application/openmetrics-text;q=high', 'text'],
  ['*/*', 'text'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
  ['application/json', 'text'],
  ['', 'text'],
  [undefined, 'text'],
])('%s → %s', (accept, format) => {
  expect(negotiateFormat(accept)).toBe(format);
});
