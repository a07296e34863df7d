import { expect, test } from '@jest/globals';
import { FindingsTally } from './response-findings.ts';

test.each(['constructor', 'toString', '__proto__'])(
  'a field that a server calls %s is counted like any other',
  (name) => {
    const tally = new FindingsTally();
    tally.add('unknownFields', name);
    tally.add('unknownFields', name, 2);
    expect(Object.entries(tally.findings?.unknownFields ?? {})).toEqual([[name, 3]]);
  },
);
