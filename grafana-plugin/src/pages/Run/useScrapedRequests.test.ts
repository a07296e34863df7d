import { isMostlyUnscraped } from './useScrapedRequests.ts';

test.each([
  ['an 8 s run scraped every 5 s', 15, 300, true],
  ['a run without samples', 0, 300, true],
  ['a run that lost its first scrape', 290, 300, false],
  ['exactly half', 150, 300, false],
  ['samples of a run whose results are unknown', 15, null, false],
  ['neither samples nor results', 0, null, true],
])('%s: %d of %s requests', (_name, counted, total, expected) => {
  expect(isMostlyUnscraped({ counted, total })).toBe(expected);
});
