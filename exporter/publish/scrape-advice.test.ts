import { expect, test } from '@jest/globals';
import { scrapeAdvice } from './scrape-advice.ts';
import { Scrapers } from './scrapers.ts';

test('a run of fewer than four scrapes has no lines over time', () => {
  expect(scrapeAdvice('10.0.0.1', 15.02, 40.3)).toBe(
    '10.0.0.1 scrapes every 15 s, and this run took 41 s: lines over time need 4 scrapes of a run (the shipped prometheus.yml scrapes every 2 s); its results are exact all the same',
  );
  expect(scrapeAdvice('10.0.0.1', 15, 60)).toBeNull();
  expect(scrapeAdvice('10.0.0.1', 2.01, 20)).toBeNull();
  expect(scrapeAdvice('10.0.0.1', 2.2, 5)).toBeNull();
});

test('at more than a minute the rules have gaps, however long the run', () => {
  expect(scrapeAdvice('10.0.0.1', 90, 3600)).toBe(
    '10.0.0.1 scrapes every 90 s: the recording rules and alerts need a scrape every 60 s or more often',
  );
  expect(scrapeAdvice('10.0.0.1', 60.4, 3600)).toBeNull();
});

test('the interval that was seen is that of the slowest scraper, and one late scrape does not change it', () => {
  const scrapers = new Scrapers();
  for (const second of [0, 2, 4, 6]) scrapers.scraped('fast', second);
  expect(scrapers.slowest()).toEqual({ address: 'fast', interval_seconds: 2 });
  for (const second of [1, 16, 31, 61, 76, 91]) scrapers.scraped('slow', second);
  scrapers.scraped('once', 5);
  expect(scrapers.slowest()).toEqual({ address: 'slow', interval_seconds: 15 });
});
