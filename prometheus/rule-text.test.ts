import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { MAX_SCRAPE_INTERVAL_SECONDS } from '../core/objectives/rule-settings.ts';
import { RUNBOOKS_URL, withRateWindow, withRunbooks } from './rule-text.ts';

const FILES = (['rules', 'alerts'] as const).flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, import.meta.url)).map((name) => `${folder}/${name}`),
);

describe('the window of the rates', () => {
  test.each(FILES)('is that of the longest scrape interval in %s (else: node prometheus/generate.ts)', (file) => {
    const yaml = readFileSync(new URL(file, import.meta.url), 'utf8');
    expect(withRateWindow(yaml, MAX_SCRAPE_INTERVAL_SECONDS)).toBe(yaml);
  });

  test('is four scrapes, in every rate and in the waits that depend on it, and nowhere else', () => {
    const yaml = `
      - expr: sum(rate(a_bucket{le=~"[0-9]+(\\\\.0)?"}[4m])) + sum_over_time(b:rate[5m])
        for: 4m # The window of the rates: as above.
      - expr: rate(c[4m])
        for: 1m
`;
    const rewritten = withRateWindow(yaml, 15);
    expect(rewritten).toContain('}[1m])) + sum_over_time(b:rate[5m])');
    expect(rewritten).toContain('for: 1m # The window');
    expect(rewritten).toContain('rate(c[1m])');
    expect(withRateWindow(yaml, 25)).toContain('rate(c[100s])');
    expect(withRateWindow(rewritten, 60)).toBe(yaml);
  });
});

const servers = readFileSync(new URL('alerts/servers.yml', import.meta.url), 'utf8');
const urls = (yaml: string): string[] => [...yaml.matchAll(/runbook_url: (.*)/g)].map(([, url = '']) => url);

test('the links to runbooks move below another URL, and back', () => {
  const moved = withRunbooks(servers, 'https://wiki.example/llm/runbooks/');
  expect(urls(moved)[0]).toBe('https://wiki.example/llm/runbooks/LlmQueueSaturated.md');
  expect(urls(moved).every((url) => url.startsWith('https://wiki.example/llm/runbooks/Llm'))).toBe(true);
  expect(withRunbooks(moved, RUNBOOKS_URL)).toBe(servers);
});

test.each(['docs/runbooks', 'javascript:alert(1)'])('%s is refused: a link has to be absolute', (base) => {
  expect(() => withRunbooks(servers, base)).toThrow(TypeError);
});
