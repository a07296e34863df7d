import { expect, test } from '@jest/globals';
import { exampleRecord } from '../../store/fixtures/example-run.ts';
import { VerboseLines } from './verbose-lines.ts';

const MS = 1e6;
const record = exampleRecord(7, {
  ...{ phase: 'measure', sent_ns: 100 * MS, first_content_ns: 121 * MS, end_ns: 145 * MS, outcome: 'ok', reason: null },
  ...{ http_status: 200, connection_reused: false, connect_ns: 1.5 * MS, connection_retried: false, output_tokens: 8 },
});

function lines(act: (verbose: VerboseLines) => void): readonly string[] {
  const said: string[] = [];
  act(new VerboseLines((line) => said.push(line)));
  return said;
}

test('a request with its connection and times since it was sent', () => {
  const failed = { ...record, outcome: 'error', reason: 'http_5xx', http_status: 503, first_content_ns: null } as const;
  const shown = lines((verbose) => {
    verbose.phaseStarted('measure', 100 * MS);
    verbose.requestEnded(record);
    verbose.requestEnded({ ...failed, connection_reused: true, connect_ns: null, output_tokens: null });
    verbose.phaseEnded('measure', 1500 * MS);
  });
  expect(shown).toEqual([
    'verbose: +0.100 s measure begins',
    'verbose: +0.145 s request 7 (measure): ok, HTTP 200, new connection, opened in 1.50 ms, first content after 21 ms, 8 output tokens, ended after 45 ms',
    'verbose: +0.145 s request 7 (measure): error (http_5xx), HTTP 503, open connection, ended after 45 ms',
    'verbose: +1.500 s measure ends',
  ]);
});

test('after 100 successful requests only failed ones are shown, and the others counted', () => {
  const shown = lines((verbose) => {
    for (let i = 0; i < 103; i++) verbose.requestEnded(record);
    verbose.requestEnded({ ...record, outcome: 'timeout', reason: 'request_timeout' });
    verbose.phaseEnded('measure', 1500 * MS);
  });
  expect(shown).toHaveLength(102);
  expect(shown.at(-2)).toContain('timeout (request_timeout)');
  expect(shown.at(-1)).toBe('verbose: +1.500 s measure ends; 3 further requests not shown');
});
