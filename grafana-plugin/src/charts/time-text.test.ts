import { durationText } from './time-text.ts';

test.each([
  [null, '–'],
  [47.2, '47.2 s'],
  [200, '3 min 20 s'],
  [3000, '50 min'],
  [3599.6, '1 h'],
  [7200, '2 h'],
  [7500, '2 h 5 min'],
])('%s seconds', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
