import { expect, test } from '@jest/globals';
import { saidOnce } from './said-once.ts';

test('a line is shown once, and an explanation once for the figures before it', () => {
  const lines: string[] = [];
  const say = saidOnce((line) => lines.push(line));
  say('no metrics: HTTP 404; trying 5 places');
  say('no metrics: HTTP 404; trying 5 places');
  say('output length: 90 % of the tokens. A response ends early. Use --ignore-eos');
  say('output length: 91 % of the tokens. A response ends early. Use --ignore-eos');
  say('output length: 91 % of the tokens. A response ends early. Use --ignore-eos');
  // What it begins with is known, its explanation is not: a part of it would have no subject.
  say('output length: 91 % of the tokens. The server ignores max_tokens');
  expect(lines).toEqual([
    'no metrics: HTTP 404; trying 5 places',
    'output length: 90 % of the tokens. A response ends early. Use --ignore-eos',
    'output length: 91 % of the tokens.',
    'output length: 91 % of the tokens. The server ignores max_tokens',
  ]);
});
